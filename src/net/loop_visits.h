// Whether event loops still turn: a visitor is sent to each, and comes back from those that do.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <vector>

#include "base/task.h"
#include "net/loop.h"

namespace kyanite::net {

// To a loop that hangs one visitor is on its way at most, however often it is asked. Used by any
// thread while the loops run; all visitors are back once the loops have run what was posted.
class LoopVisits {
 public:
  void add(Loop& loop) { doors_.emplace_back(loop); }

  // How often each loop had been visited when it was asked.
  using Round = std::vector<uint64_t>;
  Round send();
  // Whether every loop was visited since.
  bool is_back(const Round& round) const;

  // Whether every loop turns within `longest`. `here` is the one that the caller runs on.
  Task<bool> all_turn(Loop& here, std::chrono::milliseconds longest);

 private:
  struct Door {
    explicit Door(Loop& behind) : loop(behind) {}

    Loop& loop;
    std::atomic<bool> under_way{false};
    std::atomic<uint64_t> visits{0};
  };
  static Detached visit(Door& door);

  std::deque<Door> doors_;
};

}  // namespace kyanite::net
