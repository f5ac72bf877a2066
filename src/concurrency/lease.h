// Leases on blobs, containers, shares and files: the state machine and what a lease allows. Nothing
// here runs on a timer: the state is computed from the stored fields and the time given, so expiry
// and the end of a break need no write. Lease ids are canonical GUID texts (parse_guid). Every
// function leaves the lease as it was when it fails.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"

namespace kyanite::concurrency {

inline constexpr int32_t kInfiniteLease = -1;
inline constexpr int32_t kMinLeaseSeconds = 15;
inline constexpr int32_t kMaxLeaseSeconds = 60;
inline constexpr int32_t kMaxBreakSeconds = 60;

// Plain fields for the record of the leased object. All defaults: never leased, released, or
// forgotten.
struct Lease {
  std::string id;          // The current or last holder's; empty: none.
  int32_t duration_s = 0;  // As acquired: kInfiniteLease or 15..60; 0: none.
  Time expires;            // Set for fixed durations. From this instant on the lease is expired.
  Time break_ends;         // Set by break. From this instant on the lease is broken.

  bool operator==(const Lease&) const = default;
};

enum class LeaseState { kAvailable, kLeased, kBreaking, kBroken, kExpired };

LeaseState lease_state(const Lease& lease, Time now);
bool is_locked(LeaseState state);               // leased or breaking: x-ms-lease-status: locked
std::string_view lease_state_name(LeaseState);  // as x-ms-lease-state spells it

// How the kinds of leased object differ.
struct LeaseRules {
  bool fixed_durations;   // 15 to 60 seconds as well as infinite.
  bool renewable;         // The renew action exists.
  bool immediate_breaks;  // A break takes effect at once whatever period it names.
};
inline constexpr LeaseRules kBlobLeaseRules{true, true, false};
inline constexpr LeaseRules kContainerLeaseRules{true, true, false};
inline constexpr LeaseRules kShareLeaseRules{true, true, false};
inline constexpr LeaseRules kFileLeaseRules{false, false, true};

// For the headers' values, before any state is looked at: 400 InvalidHeaderValue if false.
bool is_valid_lease_duration(const LeaseRules& rules, int64_t seconds);
bool is_valid_break_period(int64_t seconds);

enum class LeaseError {            // all 409
  kAlreadyPresent,                 // LeaseAlreadyPresent
  kIdMismatch,                     // LeaseIdMismatchWithLeaseOperation
  kNotPresent,                     // LeaseNotPresentWithLeaseOperation
  kIsBreakingAndCannotBeAcquired,  // LeaseIsBreakingAndCannotBeAcquired
  kIsBreakingAndCannotBeChanged,   // LeaseIsBreakingAndCannotBeChanged
  kIsBrokenAndCannotBeRenewed,     // LeaseIsBrokenAndCannotBeRenewed
};

// `id` is the proposed one or, if the request proposes none, a fresh random one. Acquiring again
// with the held id takes the new duration and restarts the clock.
Result<void, LeaseError> acquire_lease(Lease& lease, std::string_view id, int32_t duration_s,
                                       Time now);
// Restarts the clock with the duration given at acquire. An expired lease can be renewed as long as
// nothing forgot its id.
Result<void, LeaseError> renew_lease(Lease& lease, std::string_view id, Time now);
// Repeating a change that already took place succeeds. The clock runs on.
Result<void, LeaseError> change_lease(Lease& lease, std::string_view id, std::string_view proposed,
                                      Time now);
Result<void, LeaseError> release_lease(Lease& lease, std::string_view id);
// Returns the whole seconds until the object can be leased again, rounded up (x-ms-lease-time).
// Without a period a fixed lease runs out its time and an infinite one ends at once. Breaking again
// can only shorten.
Result<int32_t, LeaseError> break_lease(Lease& lease, const LeaseRules& rules,
                                        std::optional<int32_t> period_s, Time now);

// To be called with every write to a blob's or file's content, properties or metadata, in the same
// commit: forgets the id of an expired or broken lease, so that its former holder learns by a
// failed renew that others wrote. Containers and shares do not call it: their expired leases stay
// renewable.
void on_write(Lease& lease, Time now);

enum class LeaseUse {
  // Reads, Snapshot Blob, Set Blob Tier, and all container and share operations but deletion: go on
  // beside any lease, but an id that is sent must be right.
  kShared,
  // Writes to blobs and files, deletion of anything: need the id while the lease is locked.
  kExclusive,
  // The destination of an asynchronous copy: as kExclusive, and the lease must be infinite.
  kCopyDestination,
  // Abort Copy Blob: needs the id only of an infinite lease.
  kCopyAbort,
};

enum class LeaseUseError {  // all 412; {Blob,Container,File} by the kind of object
  kIdMissing,               // LeaseIdMissing
  kIdMismatch,              // LeaseIdMismatchWith...Operation
  kNotPresent,              // LeaseNotPresentWith...Operation; also if there is no such object
  kLost,                    // LeaseLost
  kInfiniteRequired,        // InfiniteLeaseDurationRequired
};

// `presented` is the request's x-ms-lease-id. If one is presented and this succeeds, the caller
// holds the lease.
Result<void, LeaseUseError> check_lease_use(const Lease& lease,
                                            const std::optional<std::string>& presented,
                                            LeaseUse use, Time now);

}  // namespace kyanite::concurrency
