// The order of a queue's messages in memory, so that taking one costs the same however many wait
// and however many were deleted. A hint, kept in step with the commits of this process: commits are
// guarded by the message's record, so a message the index is wrong about is neither handed out
// twice nor lost. Thread-safe; no I/O. docs/decisions/queue-index.md
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "base/mutex.h"
#include "queue/window.h"

namespace kyanite::queue {

class Index {
 public:
  // A lane about which nothing is known from a position on.
  struct Unknown {
    Lane lane = Lane::kReady;
    Position from;
  };
  struct Visible {
    std::vector<MessagePlace> places;  // earliest first
    std::optional<Unknown> unknown;    // What must be loaded to tell which message comes next.
  };
  // The first messages visible at `now`, at most `most`. Claimed ones are nobody else's until they
  // are unclaimed, moved or removed.
  Visible claim(Time now, size_t most);
  Visible peek(Time now, size_t most);
  void unclaim(const MessagePlace& place);

  // To be told of every commit, once it has succeeded.
  void added(const MessagePlace& place, Time expires);
  void moved(const MessagePlace& from, const MessagePlace& to, Time expires);
  void removed(const MessagePlace& place);
  // The outcome of a commit is not known: everything must be loaded again.
  void forget();

  // A lane that some consumer should load more of although it need not yet.
  std::optional<Unknown> running_low(Time now);
  // One load at a time; see Window. False: it is known already, try again.
  bool begin_load(const Unknown& unknown);
  void finish_load(Lane lane, const std::vector<Window::Known>& found, const Position& until,
                   uint64_t passed);
  void abandon_load(Lane lane);
  // The same to count: from where, and how many there are.
  Position begin_count(Lane lane);
  void finish_count(Lane lane, uint64_t beyond);

  std::optional<uint64_t> count(Time now);
  size_t size();
  bool idle();

 private:
  Window& window(Lane lane) REQUIRES(mutex_) { return windows_[lane == Lane::kReady ? 0 : 1]; }
  Visible visible(Time now, size_t most) REQUIRES(mutex_);

  Mutex mutex_;
  std::array<Window, 2> windows_ GUARDED_BY(mutex_);
};

}  // namespace kyanite::queue
