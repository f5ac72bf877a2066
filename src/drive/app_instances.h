// Opens by what the program that has them is known by (name_within()). A program that was moved to
// another machine opens its files there while the first machine still seems to have them: those
// opens end.
#pragma once

#include <map>
#include <vector>

#include "base/mutex.h"
#include "smb/fields.h"
#include "tree/grants.h"

namespace kyanite::drive {

// Thread-safe.
class AppInstances {
 public:
  struct Held {
    smb::Guid client{};
    tree::HandleId handle = 0;
  };

  // The program has something open.
  void add(const smb::Guid& program, const Held& held) {
    MutexLock lock(mutex_);
    opens_.emplace(program, held);
  }
  void remove(const smb::Guid& program, tree::HandleId handle) {
    MutexLock lock(mutex_);
    const auto [first, last] = opens_.equal_range(program);
    for (auto at = first; at != last; ++at) {
      if (at->second.handle != handle) continue;
      opens_.erase(at);
      return;
    }
  }
  // How much it has open.
  size_t count(const smb::Guid& program) const {
    MutexLock lock(mutex_);
    return opens_.count(program);
  }
  // What it has open on other machines than this client.
  std::vector<tree::HandleId> elsewhere(const smb::Guid& program, const smb::Guid& client) const {
    std::vector<tree::HandleId> handles;
    MutexLock lock(mutex_);
    const auto [first, last] = opens_.equal_range(program);
    for (auto at = first; at != last; ++at) {
      if (at->second.client != client) handles.push_back(at->second.handle);
    }
    return handles;
  }

 private:
  mutable Mutex mutex_;
  std::multimap<smb::Guid, Held> opens_ GUARDED_BY(mutex_);
};

}  // namespace kyanite::drive
