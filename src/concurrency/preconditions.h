// Conditional headers: If-Match, If-None-Match, If-Modified-Since, If-Unmodified-Since and
// x-ms-if-tags, decided for one target. Used in two steps. check_headers() looks at the headers
// alone and finds requests that are wrong whatever is stored. evaluate() decides against the
// target, inside read-decide-commit, after existence and lease have been checked.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "concurrency/etag.h"

namespace kyanite::concurrency {

enum class Condition : uint8_t {
  kNone = 0,
  kIfMatch = 1,
  kIfNoneMatch = 2,
  kIfModifiedSince = 4,
  kIfUnmodifiedSince = 8,
  kIfTags = 16,
};

// A set of conditional headers: those an operation takes, or those a request carries.
class ConditionSet {
 public:
  constexpr ConditionSet() = default;
  constexpr ConditionSet(Condition condition) : bits_(static_cast<uint8_t>(condition)) {}  // NOLINT
  constexpr ConditionSet operator|(ConditionSet other) const {
    return ConditionSet(static_cast<uint8_t>(bits_ | other.bits_));
  }
  constexpr bool has(Condition condition) const {
    return (bits_ & static_cast<uint8_t>(condition)) != 0;
  }
  // Those of this set that are not in `other`.
  constexpr ConditionSet without(ConditionSet other) const {
    return ConditionSet(static_cast<uint8_t>(bits_ & ~other.bits_));
  }
  constexpr bool empty() const { return bits_ == 0; }
  constexpr bool operator==(const ConditionSet&) const = default;

 private:
  constexpr explicit ConditionSet(uint8_t bits) : bits_(bits) {}
  uint8_t bits_ = 0;
};

constexpr ConditionSet operator|(Condition a, Condition b) {
  return ConditionSet(a) | ConditionSet(b);
}

inline constexpr ConditionSet kAcceptsNone;
inline constexpr ConditionSet kAcceptsTags = Condition::kIfTags;
// Set Container Metadata.
inline constexpr ConditionSet kAcceptsModifiedSince = Condition::kIfModifiedSince;
// Set Container ACL, Delete Container, Lease Container.
inline constexpr ConditionSet kAcceptsDates =
    Condition::kIfModifiedSince | Condition::kIfUnmodifiedSince;
// Most blob operations, and the source side of a copy.
inline constexpr ConditionSet kAcceptsAll =
    kAcceptsDates | Condition::kIfMatch | Condition::kIfNoneMatch | Condition::kIfTags;

// The headers of one request.
struct Conditions {
  std::optional<TagList> if_match;
  std::optional<TagList> if_none_match;
  std::optional<Time> if_modified_since;
  std::optional<Time> if_unmodified_since;
  bool if_tags = false;  // x-ms-if-tags was sent; its verdict comes with the target.

  ConditionSet present() const;
};

// Gathers Conditions from header values; absent headers are nullopt. Dates come parsed. The error
// names the malformed header (400 InvalidHeaderValue).
Result<Conditions, Condition> parse_conditions(std::optional<std::string_view> if_match,
                                               std::optional<std::string_view> if_none_match,
                                               std::optional<Time> if_modified_since,
                                               std::optional<Time> if_unmodified_since,
                                               bool if_tags);

enum class Operation {
  kRead,            // Since version 2013-08-15: any mix of headers; a fresh copy is answered 304.
  kReadBefore2013,  // Mixes are restricted as for writes.
  kUpdate,          // Changes or deletes something that must exist.
  kCreate,          // Creates or replaces: Put Blob, Put Block List, Copy Blob and their like.
};

// What the headers are about.
struct Target {
  bool exists = false;
  // When it exists: the instant its ETag and Last-Modified come from. Set without that it does: the
  // date that conditions on dates see; those on tags see nothing.
  Time changed;
  // Whether the x-ms-if-tags expression holds for its tags (for no tags, if it is missing).
  bool tags_match = false;
  // The request carries the id of the lease now held on the target. `If-None-Match: *` then lets a
  // create-or-replace pass: the service takes the holder's replacement for intended.
  bool lease_held = false;
};

enum class Verdict {
  kProceed,
  kNotModified,           // 304 ConditionNotMet
  kConditionNotMet,       // 412 ConditionNotMet
  kAlreadyExists,         // 409 BlobAlreadyExists
  kTargetMissing,         // 404 BlobNotFound or its like
  kMultipleNotSupported,  // 400 MultipleConditionHeadersNotSupported
  kUnsatisfiable,         // 400 UnsatisfiableCondition
  kNotSupported,          // 400 ConditionHeadersNotSupported: a header the operation does not take
};

struct [[nodiscard]] Decision {
  Verdict verdict = Verdict::kProceed;
  // Which header failed. Copies answer different codes for it; otherwise of no interest.
  Condition unmet = Condition::kNone;

  bool proceeds() const { return verdict == Verdict::kProceed; }
  bool operator==(const Decision&) const = default;
};

// Never looks at a target: kProceed or one of the three 400s. A header that the operation does not
// take is refused, except that reads pass over If-None-Match and If-Modified-Since, which caches
// add by themselves and to which a full answer is always right.
Decision check_headers(Operation operation, ConditionSet accepts, const Conditions& conditions);

// Requires that check_headers() let the conditions pass; headers outside `accepts` are not looked
// at.
Decision evaluate(Operation operation, ConditionSet accepts, const Conditions& conditions,
                  const Target& target);

}  // namespace kyanite::concurrency
