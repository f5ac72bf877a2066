// What memory knows of one lane of a queue: every message before a certain position, none beyond.
// Messages leave at the front, so the window moves along the lane and no message is looked for
// where earlier ones were deleted. Not thread-safe; no I/O.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "queue/place.h"

namespace kyanite::queue {

class Window {
 public:
  // More messages than this are not kept; those furthest back are left to the store.
  static constexpr size_t kCapacity = 4096;
  // With fewer than this and more to load, someone should load before others have to wait for it.
  static constexpr size_t kLow = 512;

  struct Known {
    Position position;
    Time expires;
  };

  // The position of the first message that nobody has claimed or, when none is known, from where
  // on the store must be asked.
  struct Front {
    Position position;
    bool known = false;
  };
  // Messages expired by `now` are passed over. `after` is the last one already looked at.
  Front front(Time now, const std::optional<Position>& after);

  // Takes a known message out of the others' sight until it is removed or unclaimed.
  void claim(const Position& position);
  void unclaim(const Position& position);

  // To be told of every commit that adds or removes a message of the lane.
  void add(const Position& position, Time expires);
  void remove(const Position& position);

  // Nothing is known any more, except who claimed what.
  void forget();

  // Reading on from end(): what changes between begin and finish is remembered and merged with what
  // was found, which is every message from end() at the beginning up to `until`. `passed` expired
  // ones were left out.
  const Position& end() const { return end_; }
  bool running_low(Time now) const {
    return !loading_ && known_.size() < kLow && end_.visible <= now;
  }
  void begin_load();
  void finish_load(const std::vector<Known>& found, const Position& until, uint64_t passed);
  void abandon_load();
  // Ends a load that only counted the messages from end() on.
  void finish_count(uint64_t beyond);

  // All messages of the lane that have not expired by `now`, as far as known; nothing when the part
  // beyond end() was never counted. Never too few.
  std::optional<uint64_t> count(Time now) const;
  size_t size() const { return known_.size() + claimed_.size(); }
  bool idle() const { return claimed_.empty() && !loading_; }

 private:
  struct Change {
    Known message;
    bool added;
    bool counts;  // whether the number of messages beyond end() changes with it
  };
  void note(const Change& change);
  void count_beyond(bool added);
  void shrink();

  std::map<Position, Time> known_;    // before end_; with the time of expiry
  std::map<Position, Time> claimed_;  // anywhere
  Position end_ = Position::first();
  std::optional<uint64_t> beyond_;  // How many unclaimed messages are at or after end_.
  bool loading_ = false;
  std::vector<Change> changes_;  // since the load began, at or after end_
};

}  // namespace kyanite::queue
