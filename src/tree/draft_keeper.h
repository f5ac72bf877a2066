// The threads that watch the time for the open-file table. One ends what clients take too long for
// and sees what was written through handles and is old by now; some others store that, so that time
// passes however long storing takes. All of it is stored in the end.
#pragma once

#include <list>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "tree/draft_turns.h"
#include "tree/drafts.h"
#include "tree/open_files.h"

namespace kyanite::tree {

class DraftKeeper {
 public:
  // As many drafts are stored at once: the store makes one sync of such commits.
  static constexpr size_t kStorers = 8;
  // A client whose drafts take long leaves some of them to others.
  static constexpr size_t kStorersPerSession = 6;
  // Others take the place of those that have one draft for longer than this (a file that a snapshot
  // shows is made anew first), up to so many.
  static constexpr int64_t kLongTicks = kTicksPerSecond;
  static constexpr size_t kMaxLong = 24;

  // Nothing waits for much longer than `ticks`. Both must outlive this.
  DraftKeeper(OpenFiles& table, const Clock& clock, int64_t ticks);
  // Stores everything that is left, as far as that is possible.
  ~DraftKeeper();
  DraftKeeper(const DraftKeeper&) = delete;
  DraftKeeper& operator=(const DraftKeeper&) = delete;

 private:
  struct Storing {
    Drafts::Old draft;
    Moment since;
    bool is_long = false;
  };

  void watch();
  void store();
  void add_storer();
  void replace_long() REQUIRES(mutex_);

  OpenFiles& table_;
  Drafts& drafts_;
  const Clock& clock_;
  const int64_t ticks_;
  Mutex mutex_;
  ConditionVariable wake_;
  DraftTurns turns_ GUARDED_BY(mutex_){kStorersPerSession};
  uint64_t round_ GUARDED_BY(mutex_) = 0;  // How often it was seen what is old.
  bool stopping_ GUARDED_BY(mutex_) = false;
  std::list<Storing> storing_ GUARDED_BY(mutex_);
  size_t long_ GUARDED_BY(mutex_) = 0;  // Of them.
  std::vector<std::thread> storers_;    // Grows by the watcher, once that is there.
  std::thread watcher_;
};

}  // namespace kyanite::tree
