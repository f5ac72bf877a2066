// Where the server finds accounts and their shares. The program implements it over the File
// service; tests over a tree of their own.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "auth/ntlm.h"
#include "base/clock.h"
#include "base/result.h"
#include "base/task.h"
#include "smb/numbers.h"
#include "store/occasion.h"
#include "store/store.h"
#include "tree/tree.h"

namespace kyanite::drive {

// Whether what an account sends and receives is encrypted.
enum class Encryption : uint8_t {
  kOffLoopback,  // Required of clients on other machines, allowed to those on this one.
  kRequired,
  kAllowed,  // As the client likes.
  kOff,      // Never.
};

// Whom an account lets in.
struct AccountRules {
  Encryption encryption = Encryption::kOffLoopback;
  smb::Dialect least_dialect = smb::Dialect::kSmb210;
};

struct Share {
  std::string name;  // As it is stored: in lower case.
  tree::Tree tree;
  uint64_t quota_bytes = 0;
};

// Used from all loops at once.
class Shares {
 public:
  virtual ~Shares() = default;

  // The account's keys as text, which are its passwords; none if there is no such account.
  virtual std::vector<auth::ntlm::Password> passwords(std::string_view account) const = 0;
  // Another number, never 0, when accounts or their keys have changed. Asked for every request.
  virtual uint64_t generation() const = 0;
  // Whether the account is still there and has that key still.
  virtual bool has_key(std::string_view account, uint64_t serial) const = 0;
  virtual AccountRules rules(std::string_view account) const = 0;
  // Whether there may be an account that does not refuse to encrypt.
  virtual bool may_encrypt() const = 0;

  // A share by name, whatever the case of its letters; nothing when the account has none of that
  // name that clients of SMB may see.
  virtual Task<Result<std::optional<Share>, store::Error>> find(store::Occasion& occasion,
                                                                std::string_view account,
                                                                std::string_view name) = 0;
  // The instants of the share's snapshots, newest first, at most `most`.
  virtual Task<Result<std::vector<Time>, store::Error>> snapshots(store::Occasion& occasion,
                                                                  const Share& share,
                                                                  size_t most) = 0;
  // What the snapshot taken in that second shows; nothing when there is none.
  virtual Task<Result<std::optional<tree::Tree>, store::Error>> find_snapshot(
      store::Occasion& occasion, const Share& share, Time second) = 0;
};

}  // namespace kyanite::drive
