// In the place of concurrency/lease.cc: leases that keep nobody out, or not when they should.
#include "concurrency/lease.h"

#include <algorithm>

#include "base/check.h"
#include "fault.h"

namespace kyanite::concurrency {

namespace {

constexpr int64_t kOffSeconds = 3;

Time after_wrong_seconds(Time start, int64_t seconds) {
  if (planted::has("early")) seconds -= kOffSeconds;
  if (planted::has("late")) seconds += kOffSeconds;
  return after_seconds(start, seconds);
}

}  // namespace

}  // namespace kyanite::concurrency

#define check_lease_use sound_check_lease_use
#define after_seconds after_wrong_seconds
#include "concurrency/lease.cc"
#undef check_lease_use
#undef after_seconds

namespace kyanite::concurrency {

Result<void, LeaseUseError> check_lease_use(const Lease& lease,
                                            const std::optional<std::string>& presented,
                                            LeaseUse use, Time now) {
  if (planted::has("lease")) return {};
  if (planted::has("overtime") && presented == lease.id) return {};
  return sound_check_lease_use(lease, presented, use, now);
}

}  // namespace kyanite::concurrency
