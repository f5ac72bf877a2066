// What the engine counts, for the metrics page. Counters only grow while the process lives; gauges
// are of the moment.
#pragma once

#include <cstdint>

namespace kyanite::engine {

struct Metrics {
  // Counters.
  uint64_t commits = 0;
  uint64_t conflicts = 0;
  uint64_t failed_commits = 0;
  uint64_t batches = 0;  // Synced writes; commits / batches is how many share one.
  double write_seconds = 0;
  uint64_t repairs = 0;
  uint64_t cache_hits = 0;
  uint64_t cache_misses = 0;
  uint64_t appended_runs = 0;
  uint64_t appended_bytes = 0;
  uint64_t reads = 0;
  uint64_t trusted_reads = 0;
  uint64_t corrupt_reads = 0;
  uint64_t sweeps = 0;
  uint64_t reclaimed_bytes = 0;

  // Gauges.
  uint64_t waiting_commits = 0;
  uint64_t waiting_appends = 0;
  uint64_t waiting_reads = 0;
  uint64_t waiting_scans = 0;
  uint64_t cache_bytes = 0;
  uint64_t extents = 0;     // Those the last sweep looked at.
  uint64_t live_bytes = 0;  // In them, as of then.
  uint64_t dead_bytes = 0;  // Allocated in them and not alive, before it reclaimed what it could.
  uint64_t sweep_extents_left = 0;  // Of the sweep that is running.
  double last_sweep_seconds = 0;
};

}  // namespace kyanite::engine
