// Which file each lease of an SMB client is of. A key belongs to one file as long as the lease
// lasts.
#pragma once

#include <map>
#include <optional>

#include "base/mutex.h"
#include "tree/file_key.h"
#include "tree/grants.h"

namespace kyanite::tree {

// Thread-safe. May be asked with a shard of the open-file table locked, and locks nothing itself.
class LeaseIndex {
 public:
  std::optional<FileKey> find(const LeaseName& lease) const {
    MutexLock lock(mutex_);
    const auto found = files_.find(lease);
    if (found == files_.end()) return std::nullopt;
    return found->second;
  }
  // False when the lease is one of another file.
  bool add(const LeaseName& lease, FileKey file) {
    MutexLock lock(mutex_);
    return files_.emplace(lease, file).first->second == file;
  }
  void remove(const LeaseName& lease) {
    MutexLock lock(mutex_);
    files_.erase(lease);
  }

 private:
  mutable Mutex mutex_;
  // In order, because clients choose the names: they cannot choose a slow lookup for others.
  std::map<LeaseName, FileKey> files_ GUARDED_BY(mutex_);
};

}  // namespace kyanite::tree
