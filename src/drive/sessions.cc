#include "drive/sessions.h"

#include <utility>

#include "base/random.h"

namespace kyanite::drive {

uint64_t Sessions::add(std::shared_ptr<Mailbox> home) {
  MutexLock lock(mutex_);
  while (true) {
    const uint64_t id = random_u64();
    if (id == 0 || id == UINT64_MAX) continue;
    if (sessions_.try_emplace(id, Entry{home, {}}).second) return id;
  }
}

void Sessions::remove(uint64_t id) {
  MutexLock lock(mutex_);
  const auto found = sessions_.find(id);
  if (found == sessions_.end()) return;
  if (!found->second.account.empty()) --established_;
  sessions_.erase(found);
}

void Sessions::establish(uint64_t id, std::string account) {
  MutexLock lock(mutex_);
  sessions_.at(id).account = std::move(account);
  ++established_;
}

std::shared_ptr<Mailbox> Sessions::find(uint64_t id, std::string_view account) const {
  MutexLock lock(mutex_);
  const auto found = sessions_.find(id);
  if (found == sessions_.end() || found->second.account != account) return nullptr;
  return found->second.home;
}

size_t Sessions::established() const {
  MutexLock lock(mutex_);
  return established_;
}

}  // namespace kyanite::drive
