// Room on the disk, and a reserve of it for what gives room back.
//
// Deletions are commits, and commits take room. On a disk that is full to the last byte nothing
// could be deleted any more. So a file of some size is kept (`reserve`). When little room is left
// only commits that free something are taken, and when that little is used up the reserve is given
// to them. Once there is enough again the reserve is made anew, and then everything else goes on.
// Where the disk has no room for all of the reserve, a part of it does.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "base/mutex.h"
#include "os/file.h"
#include "store/store.h"

namespace kyanite::engine {

// Whether the commit frees room, or changes something that is there without adding much: a
// deletion, also one that keeps what was deleted for a while.
bool frees(const store::Commit& commit);

class Room {
 public:
  // Less than this is little.
  static constexpr uint64_t kLow = uint64_t{16} << 20;

  // How many bytes are free; as os::free_bytes.
  using Measure = std::function<os::Result<uint64_t>()>;
  // No reserve is kept when `reserve_bytes` is zero.
  Room(std::string directory, uint64_t reserve_bytes, Measure measure = {});

  // Whether anything may be written that takes room for good. Any thread, no system call.
  bool plenty() const { return plenty_.load(std::memory_order_relaxed); }
  // Somebody has found too little room for what is to be written.
  void refused();
  // Looks again how much there is, at most every so often.
  void look();

  // Whether so many bytes are free.
  bool has(uint64_t bytes) const;
  // As has, and gives up the reserve where it takes that.
  bool make(uint64_t bytes);

 private:
  bool open_reserve() REQUIRES(mutex_);
  uint64_t add_to_reserve(uint64_t most) REQUIRES(mutex_);  // Tells how much it took.
  void give_up_reserve() REQUIRES(mutex_);
  void set_plenty(bool plenty);

  const std::string path_;
  const uint64_t reserve_bytes_;
  const Measure measure_;
  std::atomic<bool> plenty_{true};

  Mutex mutex_;
  std::shared_ptr<const os::File> file_ GUARDED_BY(mutex_);
  uint64_t reserved_ GUARDED_BY(mutex_) = 0;  // Bytes in it.
  std::chrono::steady_clock::time_point looked_ GUARDED_BY(mutex_){};
};

}  // namespace kyanite::engine
