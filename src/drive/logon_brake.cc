#include "drive/logon_brake.h"

#include <algorithm>

namespace kyanite::drive {

std::chrono::milliseconds LogonBrake::failed(std::string_view peer, Moment now) {
  MutexLock lock(mutex_);
  ++failures_;
  auto found = by_name_.find(std::string(peer));
  if (found == by_name_.end()) {
    if (peers_.size() >= kMaxPeers) {
      by_name_.erase(peers_.front().name);
      peers_.pop_front();
    }
    peers_.push_back({std::string(peer), 0, now});
    found = by_name_.emplace(peer, std::prev(peers_.end())).first;
  }
  Peer& known = *found->second;
  if (after_seconds(known.last, kForgottenAfterSeconds) <= now) known.failures = 0;
  known.failures = std::min(known.failures + 1, 1'000'000U);
  known.last = now;
  peers_.splice(peers_.end(), peers_, found->second);
  if (known.failures <= kFree) return {};
  return std::min(kMost, kStep * (known.failures - kFree));
}

uint64_t LogonBrake::failures() const {
  MutexLock lock(mutex_);
  return failures_;
}

}  // namespace kyanite::drive
