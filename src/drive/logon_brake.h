// Slows down whoever guesses passwords. The more logons of a peer fail, on whatever connections,
// the later it is told so, until none has failed for a while. Logons that succeed are never slowed,
// so that nobody can keep others out who share an address. No I/O; time is passed in.
#pragma once

#include <chrono>
#include <cstdint>
#include <list>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/clock.h"
#include "base/mutex.h"

namespace kyanite::drive {

// Thread-safe.
class LogonBrake {
 public:
  static constexpr uint32_t kFree = 2;  // So many failures are forgiven: people mistype.
  static constexpr std::chrono::milliseconds kStep{500};
  static constexpr std::chrono::milliseconds kMost{5'000};
  static constexpr int64_t kForgottenAfterSeconds = 60;
  static constexpr size_t kMaxPeers = 4096;  // Those who failed longest ago are forgotten first.

  // A logon failed: how long to wait before saying so. `peer` is a peer_network().
  std::chrono::milliseconds failed(std::string_view peer, Moment now);
  uint64_t failures() const;

 private:
  struct Peer {
    std::string name;
    uint32_t failures = 0;
    Moment last;
  };
  using Peers = std::list<Peer>;

  mutable Mutex mutex_;
  Peers peers_ GUARDED_BY(mutex_);  // In the order in which they failed last.
  std::unordered_map<std::string, Peers::iterator> by_name_ GUARDED_BY(mutex_);
  uint64_t failures_ GUARDED_BY(mutex_) = 0;
};

}  // namespace kyanite::drive
