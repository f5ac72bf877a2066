// The accounts this server holds and their secret keys. Read once at start, shared by all threads
// afterwards.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace kyanite::auth {

// One secret key. The serial number tells keys apart in the per-thread caches of prepared MACs
// without comparing secrets.
class Key {
 public:
  explicit Key(std::string bytes);

  std::string_view bytes() const { return bytes_; }
  uint64_t serial() const { return serial_; }

 private:
  std::string bytes_;  // decoded, not base64
  uint64_t serial_;
};

struct Account {
  std::string name;
  std::vector<Key> keys;  // One or two; a signature by any of them counts.
};

class Accounts {
 public:
  Accounts() = default;
  // Later accounts replace earlier ones of the same name.
  explicit Accounts(std::vector<Account> accounts);

  // Null when there is no such account. The pointer lives as long as this object.
  const Account* find(std::string_view name) const;
  bool empty() const { return accounts_.empty(); }
  const std::map<std::string, Account, std::less<>>& all() const { return accounts_; }

 private:
  std::map<std::string, Account, std::less<>> accounts_;
};

}  // namespace kyanite::auth
