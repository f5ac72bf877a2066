#include "content/cleared.h"

#include <algorithm>

namespace kyanite::content {

namespace {

// The run before the smallest gap takes in the one behind it.
void join_nearest(ClearedRuns& runs) {
  size_t nearest = 1;
  for (size_t i = 2; i < runs.size(); ++i) {
    if (runs[i].start - runs[i - 1].end < runs[nearest].start - runs[nearest - 1].end) nearest = i;
  }
  ClearedRun& joined = runs[nearest - 1];
  joined.end = runs[nearest].end;
  joined.since = std::max(joined.since, runs[nearest].since);
  runs.erase(runs.begin() + static_cast<ptrdiff_t>(nearest));
}

}  // namespace

void note_cleared(ClearedRuns& runs, uint64_t start, uint64_t end, uint64_t since) {
  if (start >= end) return;
  ClearedRun added{start, end, since};
  ClearedRuns noted;
  noted.reserve(runs.size() + 2);
  for (const ClearedRun& run : runs) {
    const bool touches = run.start <= added.end && run.end >= added.start;
    if (touches && run.since == since) {
      added.start = std::min(added.start, run.start);
      added.end = std::max(added.end, run.end);
      continue;
    }
    if (run.start < added.start) noted.push_back({run.start, std::min(run.end, start), run.since});
    if (run.end > added.end) noted.push_back({std::max(run.start, end), run.end, run.since});
  }
  const auto behind = std::find_if(noted.begin(), noted.end(),
                                   [&](const ClearedRun& run) { return run.start >= added.end; });
  noted.insert(behind, added);
  while (noted.size() > kMaxClearedRuns) join_nearest(noted);
  runs = std::move(noted);
}

void forget_cleared(ClearedRuns& runs, uint64_t until) {
  std::erase_if(runs, [&](const ClearedRun& run) { return run.since <= until; });
}

ClearedRuns cleared_after(const ClearedRuns& runs, uint64_t after) {
  ClearedRuns later = runs;
  forget_cleared(later, after);
  return later;
}

}  // namespace kyanite::content
