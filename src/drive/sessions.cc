#include "drive/sessions.h"

#include <algorithm>
#include <utility>

#include "base/random.h"
#include "drive/limits.h"

namespace kyanite::drive {

uint64_t Sessions::add(std::shared_ptr<Mailbox> home) {
  MutexLock lock(mutex_);
  while (true) {
    const uint64_t id = random_u64() & UINT32_MAX;
    if (id == 0) continue;
    const auto [added, is_new] = sessions_.try_emplace(id);
    if (!is_new) continue;
    added->second.bond.home = std::move(home);
    return id;
  }
}

void Sessions::begin_end(uint64_t id) {
  MutexLock lock(mutex_);
  const auto found = sessions_.find(id);
  if (found == sessions_.end() || std::exchange(found->second.ending, true)) return;
  if (!found->second.bond.account.empty()) --established_;
}

void Sessions::remove(uint64_t id) {
  begin_end(id);
  MutexLock lock(mutex_);
  sessions_.erase(id);
}

void Sessions::establish(uint64_t id, Bond bond) {
  MutexLock lock(mutex_);
  Bond& kept = sessions_.at(id).bond;
  bond.home = std::move(kept.home);
  kept = std::move(bond);
  ++established_;
}

std::optional<Bond> Sessions::find(uint64_t id) const {
  MutexLock lock(mutex_);
  const auto found = sessions_.find(id);
  if (found == sessions_.end() || found->second.ending || found->second.bond.account.empty())
    return {};
  return found->second.bond;
}

std::optional<Bond> Sessions::find_previous(uint64_t id) const {
  MutexLock lock(mutex_);
  const auto found = sessions_.find(id);
  if (found == sessions_.end() || found->second.bond.account.empty()) return {};
  return found->second.bond;
}

Result<uint16_t, smb::Status> Sessions::add_channel(uint64_t id) {
  MutexLock lock(mutex_);
  const auto found = sessions_.find(id);
  if (found == sessions_.end() || found->second.ending) return smb::Status::kUserSessionDeleted;
  Entry& entry = found->second;
  if (entry.channels >= kMaxChannels || entry.last_channel == UINT16_MAX)
    return smb::Status::kInsufficientResources;
  ++entry.channels;
  return ++entry.last_channel;
}

void Sessions::remove_channel(uint64_t id) {
  MutexLock lock(mutex_);
  const auto found = sessions_.find(id);
  if (found != sessions_.end()) --found->second.channels;
}

std::vector<std::shared_ptr<Mailbox>> Sessions::homes() const {
  std::vector<std::shared_ptr<Mailbox>> homes;
  {
    MutexLock lock(mutex_);
    for (const auto& [id, entry] : sessions_) {
      if (!entry.bond.account.empty()) homes.push_back(entry.bond.home);
    }
  }
  std::sort(homes.begin(), homes.end());
  homes.erase(std::unique(homes.begin(), homes.end()), homes.end());
  return homes;
}

size_t Sessions::established() const {
  MutexLock lock(mutex_);
  return established_;
}

}  // namespace kyanite::drive
