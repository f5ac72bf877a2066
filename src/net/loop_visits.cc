#include "net/loop_visits.h"

#include <algorithm>

namespace kyanite::net {

namespace {
// How long the first look is after the question; each further one waits twice as long, up to the
// second number.
constexpr int64_t kFirstLookMs = 1;
constexpr int64_t kLongestPauseMs = 64;
}  // namespace

// In this order: who finds a visitor under way has read the count before it grows.
Detached LoopVisits::visit(Door& door) {
  co_await door.loop.turn();
  door.under_way = false;
  ++door.visits;
}

LoopVisits::Round LoopVisits::send() {
  Round round;
  for (Door& door : doors_) {
    round.push_back(door.visits);
    if (!door.under_way.exchange(true)) visit(door);
  }
  return round;
}

bool LoopVisits::is_back(const Round& round) const {
  return std::equal(doors_.begin(), doors_.end(), round.begin(), round.end(),
                    [](const Door& door, uint64_t before) { return door.visits > before; });
}

Task<bool> LoopVisits::all_turn(Loop& here, std::chrono::milliseconds longest) {
  const Round round = send();
  const int64_t end_ms = here.now_ms() + longest.count();
  for (int64_t pause_ms = kFirstLookMs; !is_back(round);
       pause_ms = std::min(2 * pause_ms, kLongestPauseMs)) {
    if (here.now_ms() >= end_ms) co_return false;
    co_await here.sleep_until(std::min(here.now_ms() + pause_ms, end_ms));
  }
  co_return true;
}

}  // namespace kyanite::net
