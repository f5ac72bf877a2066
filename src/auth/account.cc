#include "auth/account.h"

#include <atomic>

namespace kyanite::auth {

namespace {
uint64_t next_serial() {
  static std::atomic<uint64_t> last{0};
  return ++last;
}
}  // namespace

Key::Key(std::string bytes) : bytes_(std::move(bytes)), serial_(next_serial()) {}

Accounts::Accounts(std::vector<Account> accounts) {
  for (auto& account : accounts) {
    std::string name = account.name;
    accounts_.insert_or_assign(std::move(name), std::move(account));
  }
}

const Account* Accounts::find(std::string_view name) const {
  const auto found = accounts_.find(name);
  return found == accounts_.end() ? nullptr : &found->second;
}

}  // namespace kyanite::auth
