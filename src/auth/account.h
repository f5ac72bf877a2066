// The accounts this server holds and their secret keys, shared by all threads.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/mutex.h"

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

  bool has_key(uint64_t serial) const;
};

class Accounts {
 public:
  Accounts() = default;
  // Later accounts replace earlier ones of the same name.
  explicit Accounts(std::vector<Account> accounts) { replace(std::move(accounts)); }

  // Null when there is no such account. Whoever found one may use it to the end, whatever replaces
  // it meanwhile.
  std::shared_ptr<const Account> find(std::string_view name) const;
  std::vector<std::string> names() const;

  // From now on these are all. Accounts that are the same as before stay what they are, and so do
  // keys that an account keeps.
  void replace(std::vector<Account> accounts);
  // Another number after each replace(), never 0: tells cheaply whether to look again.
  uint64_t generation() const { return generation_.load(std::memory_order_acquire); }

 private:
  mutable Mutex mutex_;
  std::map<std::string, std::shared_ptr<const Account>, std::less<>> accounts_ GUARDED_BY(mutex_);
  std::atomic<uint64_t> generation_{1};
};

}  // namespace kyanite::auth
