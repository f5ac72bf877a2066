// What was cleared in a sparse content, and since when.
//
// Zeros leave no trace in the content itself, but the difference to a snapshot tells what was
// cleared after it even where it held nothing. An object that has snapshots notes it here, beside
// its content.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace kyanite::content {

struct ClearedRun {
  uint64_t start = 0;
  uint64_t end = 0;    // exclusive
  uint64_t since = 0;  // When: any number that is larger after each snapshot.
  template <class Io>
  void fields(Io& io) {
    io(1, start);
    io(2, end);
    io(3, since);
  }
  bool operator==(const ClearedRun&) const = default;
};
// Ascending, and no two overlap.
using ClearedRuns = std::vector<ClearedRun>;

// Every change of the object writes its notes again, so they are few: beyond this the nearest two
// runs become one. A difference may then list holes as cleared that always were, which does no
// harm: what is written is never listed so.
inline constexpr size_t kMaxClearedRuns = 64;

// [start, end) was cleared. `since` is not less than that of any run before.
void note_cleared(ClearedRuns& runs, uint64_t start, uint64_t end, uint64_t since);

// Drops what no difference tells any more: runs cleared up to `until`.
void forget_cleared(ClearedRuns& runs, uint64_t until);

// What was cleared after `after`.
ClearedRuns cleared_after(const ClearedRuns& runs, uint64_t after);

}  // namespace kyanite::content
