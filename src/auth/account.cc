#include "auth/account.h"

#include <algorithm>
#include <atomic>
#include <utility>

namespace kyanite::auth {

namespace {
uint64_t next_serial() {
  static std::atomic<uint64_t> last{0};
  return ++last;
}

bool have_same_keys(const Account& a, const Account& b) {
  return std::equal(
      a.keys.begin(), a.keys.end(), b.keys.begin(), b.keys.end(),
      [](const Key& left, const Key& right) { return left.bytes() == right.bytes(); });
}

// Keys that the account had before are the same ones still.
void keep_keys(Account& account, const Account& before) {
  for (Key& key : account.keys) {
    for (const Key& known : before.keys) {
      if (known.bytes() == key.bytes()) key = known;
    }
  }
}
}  // namespace

Key::Key(std::string bytes) : bytes_(std::move(bytes)), serial_(next_serial()) {}

bool Account::has_key(uint64_t serial) const {
  return std::any_of(keys.begin(), keys.end(),
                     [&](const Key& key) { return key.serial() == serial; });
}

std::shared_ptr<const Account> Accounts::find(std::string_view name) const {
  MutexLock lock(mutex_);
  const auto found = accounts_.find(name);
  return found == accounts_.end() ? nullptr : found->second;
}

std::vector<std::string> Accounts::names() const {
  MutexLock lock(mutex_);
  std::vector<std::string> all;
  all.reserve(accounts_.size());
  for (const auto& [name, account] : accounts_) all.push_back(name);
  return all;
}

void Accounts::replace(std::vector<Account> accounts) {
  MutexLock lock(mutex_);
  const auto before = std::exchange(accounts_, {});
  for (auto& account : accounts) {
    std::string name = account.name;
    const auto known = before.find(name);
    if (known != before.end()) keep_keys(account, *known->second);
    const bool same = known != before.end() && have_same_keys(*known->second, account);
    auto kept = same ? known->second : std::make_shared<const Account>(std::move(account));
    accounts_.insert_or_assign(std::move(name), std::move(kept));
  }
  generation_.fetch_add(1, std::memory_order_release);
}

}  // namespace kyanite::auth
