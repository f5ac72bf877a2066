// What was written to one file through handles, or noted of one directory, and is not stored yet.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "content/overlay.h"
#include "store/store.h"
#include "tree/records.h"

namespace kyanite::tree {

// The time of a write is told a while later, or when the client flushes, closes or sets something:
// who writes often does not want to be told of a change each time.
inline constexpr int64_t kWriteTimeSeconds = 2;

// The file reaches so far from now on, of which somebody has seen that it has this length: others
// may have made it longer since.
struct Growth {
  uint64_t length = 0;
  uint64_t end = 0;
};

// One state of what is not stored yet.
struct DraftLayer {
  content::Overlay bytes;
  std::optional<Time> written;
  std::optional<Time> changed;
  std::optional<Moment> untold;   // Since when the times are not told to anybody,
  std::optional<Time> told;       // but this one of them, which was the last before.
  std::optional<Moment> since;    // When the first of it was written.
  uint64_t promised = 0;          // How much longer it makes the file, of the share's quota.
  uint64_t promised_to = 0;       // How long that is, with what is being stored.
  std::vector<store::Hold> kept;  // What it has in extents.

  bool empty() const { return bytes.empty() && !written && !changed; }
  bool is_untold(Moment now) const {
    return untold && now < after_seconds(*untold, kWriteTimeSeconds);
  }
  // How much of that is still to be promised.
  uint64_t missing(const Growth& growth) const {
    const uint64_t from = std::max(growth.length, promised_to);
    return growth.end > from ? growth.end - from : 0;
  }
  void promise(const Growth& growth) {
    promised += missing(growth);
    if (growth.end > growth.length) promised_to = std::max(promised_to, growth.end);
  }
  // Its times are told when its writer is done.
  bool waits_for_writer() const;
  // Something is written now. With `soon` its time is told in a while, else in the end.
  void note_written(Time date, Moment now, bool soon);
  // The writer is done: a time that was to be told in the end is that of the end.
  void end_writing(Time date);
  // What was to be told in the end is told.
  void end_waiting();
  // The file ends there. What was promised for what lay behind is promised no more.
  void cut(uint64_t length);
  // What is to be stored now; the rest stays.
  DraftLayer take(std::optional<Moment> now);
  void lay(DraftLayer newer);
  void lay_over(Entry& entry, Moment now) const;
};

}  // namespace kyanite::tree
