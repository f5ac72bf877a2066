// In the place of concurrency/lease.cc: a lease that keeps nobody out.
#include "concurrency/lease.h"

#include <algorithm>

#include "base/check.h"
#include "fault.h"

#define check_lease_use sound_check_lease_use
#include "concurrency/lease.cc"
#undef check_lease_use

namespace kyanite::concurrency {

Result<void, LeaseUseError> check_lease_use(const Lease& lease,
                                            const std::optional<std::string>& presented,
                                            LeaseUse use, Time now) {
  if (planted::has("lease")) return {};
  return sound_check_lease_use(lease, presented, use, now);
}

}  // namespace kyanite::concurrency
