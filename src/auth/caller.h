// Who is calling and what was granted to them: the outcome of authenticate() and the input of
// authorize().
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "auth/role.h"
#include "base/clock.h"

namespace kyanite::auth {

// A set of lower-case letters, as SAS tokens write permissions ("rwdl"), services ("bqtf") and
// resource types ("sco").
class Letters {
 public:
  constexpr Letters() = default;
  // Anything but a lower-case letter is ignored; parse() is for input from outside.
  constexpr Letters(std::string_view letters) {  // NOLINT: written as text in the operation tables.
    for (char letter : letters) add(letter);
  }
  constexpr Letters(char letter) { add(letter); }                                 // NOLINT
  constexpr Letters(const char* letters) : Letters(std::string_view(letters)) {}  // NOLINT
  // Nothing when a character is not in `allowed`.
  static std::optional<Letters> parse(std::string_view text, Letters allowed);

  constexpr bool has(char letter) const { return (bits_ & bit(letter)) != 0; }
  constexpr bool has_any_of(Letters others) const { return (bits_ & others.bits_) != 0; }
  constexpr bool empty() const { return bits_ == 0; }
  constexpr bool operator==(const Letters&) const = default;

 private:
  static constexpr uint32_t bit(char letter) {
    return letter >= 'a' && letter <= 'z' ? uint32_t{1} << (letter - 'a') : 0;
  }
  constexpr void add(char letter) { bits_ |= bit(letter); }

  uint32_t bits_ = 0;
};

// A stored access policy of a container, queue, table or share.
struct AccessPolicy {
  std::string id;
  Time start;              // Unset when the policy leaves it to the token.
  Time expiry;             // likewise
  std::string permission;  // Empty when the policy leaves it to the token.
};

enum class PublicAccess {
  kNone,
  kBlob,       // Blobs can be read by anyone who knows their names.
  kContainer,  // Blobs can be read and listed by anyone.
};

// What a container's record says about access.
struct Acl {
  std::vector<AccessPolicy> policies;
  PublicAccess public_access = PublicAccess::kNone;
};

// Headers a SAS puts in place of the stored ones in replies to reads. Empty: as stored.
struct ResponseOverrides {
  std::string cache_control;
  std::string content_disposition;
  std::string content_encoding;
  std::string content_language;
  std::string content_type;
};

// Entities a table SAS is confined to; both ends included, unset ends open.
struct KeyRange {
  std::optional<std::string> start_partition, start_row, end_partition, end_row;

  bool contains(std::string_view partition, std::string_view row) const;
};

// What a SAS reaches.
enum class Scope {
  kAccount,    // whatever its services and resource types say
  kContainer,  // a container, queue, table or share and everything in it
  kDirectory,  // everything below a directory; see Caller::directory
  kObject,     // one blob or file
  kSnapshot,   // one snapshot or one version of a blob
};

struct Caller {
  enum class Kind {
    kAnonymous,
    kOwner,  // signed with an account key: may do everything
    kAccountSas,
    kServiceSas,
    kUserDelegationSas,
    kBearer,  // an OAuth token
  };

  Kind kind = Kind::kAnonymous;
  // Anonymous callers that speak a version with bearer challenges are asked for a token instead of
  // being told 404.
  bool expects_challenge = false;

  // SAS only.
  Letters permissions;
  Letters services;        // account SAS: b q t f
  Letters resource_types;  // account SAS: s c o
  Scope scope = Scope::kAccount;
  std::string container;  // service and user delegation SAS: the container, queue, table or share
  std::string directory;  // the granted directory of Scope::kDirectory, without slashes at the ends
  Time start;
  Time expiry;
  std::string policy_id;        // The stored policy named by the token.
  bool policy_pending = false;  // It has not been applied yet; authorize() refuses such callers.
  std::string version;          // The token's sv: the protocol version when the request names none.
  std::string encryption_scope;
  ResponseOverrides overrides;
  KeyRange key_range;

  // Bearer and user delegation SAS: the identity behind, to which belongs what it makes, and its
  // role. Of a SAS that names a user it is that user: one who is trusted (saoid) with the role of
  // who signed it, one who is not (suoid) with none.
  std::string object_id;
  std::string tenant_id;
  std::vector<std::string> groups;  // of tokens that tell them
  Role role = Role::kOwner;
  bool names_user = false;  // By saoid or suoid, which need a container with directories.

  bool has_identity() const { return kind == Kind::kBearer || kind == Kind::kUserDelegationSas; }

  bool is_sas() const {
    return kind == Kind::kAccountSas || kind == Kind::kServiceSas ||
           kind == Kind::kUserDelegationSas;
  }
};

}  // namespace kyanite::auth
