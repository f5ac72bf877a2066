#include "fault.h"

#include <algorithm>
#include <cstdlib>

#include "base/check.h"

namespace kyanite::planted {

namespace {

constexpr std::string_view kFaults[] = {
    "none",        // nothing: the server as it is
    "unordered",   // locks.cc: writers do not wait in line. No fault: guards must be enough.
    "slow",        // committer.cc: what was committed reaches the cache late. No fault either.
    "guard",       // store.cc: commits lose their guards, and writers do not wait in line
    "torn",        // store.cc: the writes of a commit become visible one after the other
    "stale",       // store.cc: a record is read as it was before the last commit
    "snapshot",    // store.cc: a scan sees some records as they were before the last commit
    "lease",       // lease.cc: writes go on beside any lease
    "overtime",    // lease.cc: who held a lease that has ended writes on
    "early",       // lease.cc: leases and breaks end before their time
    "late",        // lease.cc: leases and breaks end after their time
    "receipt",     // messages.cc: a message is deleted by any receipt it ever had
    "visibility",  // messages.cc: a message that was taken stays visible
    "sharing",     // share_mode.cc: opens stand beside each other, whatever they share
    "beside",      // share_mode.cc: REST goes on beside any open
    "astray",      // hierarchy.cc: what was read at the end of a path may have been elsewhere
    "ranges",      // range_locks.cc: ranges are locked that others have locked
};

std::string_view chosen() {
  const char* name = std::getenv("KYANITE_PLANT");
  CHECK(name != nullptr);
  CHECK(std::find(std::begin(kFaults), std::end(kFaults), name) != std::end(kFaults));
  return name;
}

}  // namespace

bool has(std::string_view fault) {
  static const std::string_view fault_of_process = chosen();
  return fault == fault_of_process;
}

}  // namespace kyanite::planted
