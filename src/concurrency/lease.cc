#include "concurrency/lease.h"

#include <algorithm>

#include "base/check.h"

namespace kyanite::concurrency {
namespace {

// A break that has taken effect stays so even if the clock is set back.
constexpr Time kLongAgo{1};

int32_t seconds_rounded_up(int64_t ticks) {
  return static_cast<int32_t>((ticks + kTicksPerSecond - 1) / kTicksPerSecond);
}

void restart_clock(Lease& lease, Time now) {
  lease.expires =
      lease.duration_s == kInfiniteLease ? Time{} : after_seconds(now, lease.duration_s);
}

// When a break of a locked lease takes effect; now or earlier: at once.
Time break_end(const Lease& lease, LeaseState state, std::optional<int32_t> period_s, Time now) {
  std::optional<Time> latest;  // Unset: the lease would never end by itself.
  if (state == LeaseState::kBreaking) {
    latest = lease.break_ends;
  } else if (lease.duration_s != kInfiniteLease) {
    latest = lease.expires;
  }
  if (!period_s) return latest.value_or(now);
  Time asked = after_seconds(now, *period_s);
  return latest ? std::min(asked, *latest) : asked;
}

}  // namespace

LeaseState lease_state(const Lease& lease, Time now) {
  if (lease.id.empty()) return LeaseState::kAvailable;
  if (lease.break_ends.set()) {
    return now < lease.break_ends ? LeaseState::kBreaking : LeaseState::kBroken;
  }
  if (lease.expires.set() && now >= lease.expires) return LeaseState::kExpired;
  return LeaseState::kLeased;
}

bool is_locked(LeaseState state) {
  return state == LeaseState::kLeased || state == LeaseState::kBreaking;
}

std::string_view lease_state_name(LeaseState state) {
  switch (state) {
    case LeaseState::kAvailable:
      return "available";
    case LeaseState::kLeased:
      return "leased";
    case LeaseState::kBreaking:
      return "breaking";
    case LeaseState::kBroken:
      return "broken";
    case LeaseState::kExpired:
      return "expired";
  }
  CHECK(false);
}

bool is_valid_lease_duration(const LeaseRules& rules, int64_t seconds) {
  if (seconds == kInfiniteLease) return true;
  return rules.fixed_durations && seconds >= kMinLeaseSeconds && seconds <= kMaxLeaseSeconds;
}

bool is_valid_break_period(int64_t seconds) { return seconds >= 0 && seconds <= kMaxBreakSeconds; }

Result<void, LeaseError> acquire_lease(Lease& lease, std::string_view id, int32_t duration_s,
                                       Time now) {
  CHECK(!id.empty());
  const LeaseState state = lease_state(lease, now);
  if (is_locked(state) && id != lease.id) return LeaseError::kAlreadyPresent;
  if (state == LeaseState::kBreaking) return LeaseError::kIsBreakingAndCannotBeAcquired;
  lease = Lease{std::string(id), duration_s, {}, {}};
  restart_clock(lease, now);
  return {};
}

Result<void, LeaseError> renew_lease(Lease& lease, std::string_view id, Time now) {
  CHECK(!id.empty());
  if (id != lease.id) return LeaseError::kIdMismatch;
  if (lease.break_ends.set()) return LeaseError::kIsBrokenAndCannotBeRenewed;
  restart_clock(lease, now);
  return {};
}

Result<void, LeaseError> change_lease(Lease& lease, std::string_view id, std::string_view proposed,
                                      Time now) {
  CHECK(!id.empty() && !proposed.empty());
  switch (lease_state(lease, now)) {
    case LeaseState::kAvailable:
    case LeaseState::kBroken:
    case LeaseState::kExpired:
      return LeaseError::kNotPresent;
    case LeaseState::kBreaking:
      if (id == lease.id) return LeaseError::kIsBreakingAndCannotBeChanged;
      return LeaseError::kIdMismatch;
    case LeaseState::kLeased:
      if (id != lease.id && proposed != lease.id) return LeaseError::kIdMismatch;
      lease.id = proposed;
      return {};
  }
  CHECK(false);
}

Result<void, LeaseError> release_lease(Lease& lease, std::string_view id) {
  CHECK(!id.empty());
  if (id != lease.id) return LeaseError::kIdMismatch;
  lease = Lease{};
  return {};
}

Result<int32_t, LeaseError> break_lease(Lease& lease, const LeaseRules& rules,
                                        std::optional<int32_t> period_s, Time now) {
  const LeaseState state = lease_state(lease, now);
  if (state == LeaseState::kAvailable) return LeaseError::kNotPresent;
  const bool at_once = rules.immediate_breaks || !is_locked(state);
  const Time end = at_once ? now : break_end(lease, state, period_s, now);
  if (end <= now) {
    lease.break_ends = kLongAgo;
    return 0;
  }
  lease.break_ends = end;
  return seconds_rounded_up(end.ticks - now.ticks);
}

void on_write(Lease& lease, Time now) {
  if (!is_locked(lease_state(lease, now))) lease = Lease{};
}

Result<void, LeaseUseError> check_lease_use(const Lease& lease,
                                            const std::optional<std::string>& presented,
                                            LeaseUse use, Time now) {
  const LeaseState state = lease_state(lease, now);
  const bool infinite = lease.duration_s == kInfiniteLease;
  if (presented) {
    if (state == LeaseState::kAvailable) return LeaseUseError::kNotPresent;
    if (!is_locked(state)) return LeaseUseError::kLost;
    if (*presented != lease.id) return LeaseUseError::kIdMismatch;
  } else if (is_locked(state)) {
    const bool required = use == LeaseUse::kExclusive || use == LeaseUse::kCopyDestination ||
                          (use == LeaseUse::kCopyAbort && infinite);
    if (required) return LeaseUseError::kIdMissing;
  }
  if (use == LeaseUse::kCopyDestination && is_locked(state) && !infinite) {
    return LeaseUseError::kInfiniteRequired;
  }
  return {};
}

}  // namespace kyanite::concurrency
