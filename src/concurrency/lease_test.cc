#include "concurrency/lease.h"

#include <gtest/gtest.h>

#include <functional>
#include <ostream>

namespace kyanite::concurrency {

void PrintTo(LeaseState state, std::ostream* out) { *out << lease_state_name(state); }
void PrintTo(const Lease& lease, std::ostream* out) {
  *out << "{id " << lease.id << ", duration " << lease.duration_s << ", expires "
       << lease.expires.ticks << ", break ends " << lease.break_ends.ticks << "}";
}

namespace {

constexpr Time kNow{637'000'000'000'000'000};
const std::string kA = "aaaaaaaa-0000-0000-0000-000000000000";
const std::string kB = "bbbbbbbb-0000-0000-0000-000000000000";
const std::string kC = "cccccccc-0000-0000-0000-000000000000";
constexpr LeaseState kAllStates[] = {LeaseState::kAvailable, LeaseState::kLeased,
                                     LeaseState::kBreaking, LeaseState::kBroken,
                                     LeaseState::kExpired};

Time in_seconds(int64_t seconds) { return after_seconds(kNow, seconds); }

// A lease of id A that is in the given state at kNow, reached by actions.
Lease lease_in(LeaseState state, int32_t duration_s = 30) {
  Lease lease;
  if (state == LeaseState::kAvailable) return lease;
  Time acquired = state == LeaseState::kExpired ? in_seconds(-duration_s) : in_seconds(-5);
  EXPECT_TRUE(acquire_lease(lease, kA, duration_s, acquired).ok());
  if (state == LeaseState::kBreaking) {
    EXPECT_TRUE(break_lease(lease, kBlobLeaseRules, 10, kNow).ok());
  }
  if (state == LeaseState::kBroken) {
    EXPECT_TRUE(break_lease(lease, kBlobLeaseRules, 0, kNow).ok());
  }
  EXPECT_EQ(lease_state(lease, kNow), state);
  return lease;
}

// What an action comes to: a new state and holder, or an error.
struct Outcome {
  std::optional<LeaseError> error;
  LeaseState state = LeaseState::kAvailable;
  std::string id;
};
Outcome leased(const std::string& id) { return {{}, LeaseState::kLeased, id}; }
Outcome breaking() { return {{}, LeaseState::kBreaking, kA}; }
Outcome broken() { return {{}, LeaseState::kBroken, kA}; }
Outcome available() { return {{}, LeaseState::kAvailable, ""}; }
Outcome fails(LeaseError error) { return {error, {}, {}}; }

using Action = std::function<Result<void, LeaseError>(Lease&)>;
Action acquire(const std::string& id) {
  return [=](Lease& lease) { return acquire_lease(lease, id, 15, kNow); };
}
Action renew(const std::string& id) {
  return [=](Lease& lease) { return renew_lease(lease, id, kNow); };
}
Action change(const std::string& id, const std::string& proposed) {
  return [=](Lease& lease) { return change_lease(lease, id, proposed, kNow); };
}
Action release(const std::string& id) {
  return [=](Lease& lease) { return release_lease(lease, id); };
}
Action break_after(std::optional<int32_t> period_s) {
  return [=](Lease& lease) -> Result<void, LeaseError> {
    auto seconds = break_lease(lease, kBlobLeaseRules, period_s, kNow);
    if (!seconds) return seconds.error();
    return {};
  };
}
Action write_without_id() {
  return [](Lease& lease) -> Result<void, LeaseError> {
    on_write(lease, kNow);
    return {};
  };
}

TEST(Lease, EveryActionInEveryState) {
  const Outcome present = fails(LeaseError::kAlreadyPresent);
  const Outcome mismatch = fails(LeaseError::kIdMismatch);
  const Outcome not_present = fails(LeaseError::kNotPresent);
  const Outcome cannot_acquire = fails(LeaseError::kIsBreakingAndCannotBeAcquired);
  const Outcome cannot_change = fails(LeaseError::kIsBreakingAndCannotBeChanged);
  const Outcome cannot_renew = fails(LeaseError::kIsBrokenAndCannotBeRenewed);
  struct Row {
    const char* what;
    Action action;
    Outcome outcomes[5];  // in Available, Leased(A), Breaking(A), Broken(A), Expired(A)
  };
  const Row rows[] = {
      {"acquire A", acquire(kA), {leased(kA), leased(kA), cannot_acquire, leased(kA), leased(kA)}},
      {"acquire B", acquire(kB), {leased(kB), present, present, leased(kB), leased(kB)}},
      {"renew A", renew(kA), {mismatch, leased(kA), cannot_renew, cannot_renew, leased(kA)}},
      {"renew B", renew(kB), {mismatch, mismatch, mismatch, mismatch, mismatch}},
      {"change A to B",
       change(kA, kB),
       {not_present, leased(kB), cannot_change, not_present, not_present}},
      {"change B to A",
       change(kB, kA),
       {not_present, leased(kA), mismatch, not_present, not_present}},
      {"change B to C",
       change(kB, kC),
       {not_present, mismatch, mismatch, not_present, not_present}},
      {"release A", release(kA), {mismatch, available(), available(), available(), available()}},
      {"release B", release(kB), {mismatch, mismatch, mismatch, mismatch, mismatch}},
      {"break in 0 s", break_after(0), {not_present, broken(), broken(), broken(), broken()}},
      {"break in 5 s", break_after(5), {not_present, breaking(), breaking(), broken(), broken()}},
      {"break", break_after({}), {not_present, breaking(), breaking(), broken(), broken()}},
      {"write without id",
       write_without_id(),
       {available(), leased(kA), breaking(), available(), available()}},
  };
  for (const Row& row : rows) {
    for (LeaseState state : kAllStates) {
      SCOPED_TRACE(std::string(row.what) + " when " + std::string(lease_state_name(state)));
      const Outcome& expected = row.outcomes[static_cast<int>(state)];
      const Lease before = lease_in(state);
      Lease lease = before;
      auto result = row.action(lease);
      ASSERT_EQ(result.ok(), !expected.error);
      if (expected.error) {
        EXPECT_EQ(result.error(), *expected.error);
        EXPECT_EQ(lease, before) << "a failed action must change nothing";
      } else {
        EXPECT_EQ(lease_state(lease, kNow), expected.state);
        EXPECT_EQ(lease.id, expected.id);
      }
    }
  }
}

TEST(Lease, ReleaseAndWriteForgetEverything) {
  for (LeaseState state : kAllStates) {
    Lease lease = lease_in(state);
    if (state != LeaseState::kAvailable) {
      ASSERT_TRUE(release_lease(lease, kA).ok());
    }
    EXPECT_EQ(lease, Lease{});
  }
  for (LeaseState state : {LeaseState::kExpired, LeaseState::kBroken}) {
    Lease lease = lease_in(state);
    on_write(lease, kNow);
    EXPECT_EQ(lease, Lease{});
    EXPECT_EQ(renew_lease(lease, kA, kNow).error(), LeaseError::kIdMismatch);
  }
}

TEST(Lease, WritesLeaveALockedLeaseAlone) {
  for (LeaseState state : {LeaseState::kLeased, LeaseState::kBreaking}) {
    const Lease before = lease_in(state);
    Lease lease = before;
    on_write(lease, kNow);
    EXPECT_EQ(lease, before);
  }
}

TEST(Lease, TimeAloneMovesTheState) {
  constexpr int64_t kTick = 1;
  struct Row {
    const char* what;
    LeaseState start;
    int32_t duration_s;
    Time at;
    LeaseState expected;
  };
  const Row rows[] = {
      // Leased 5 s ago.
      {"a tick before expiry", LeaseState::kLeased, 30, Time{in_seconds(25).ticks - kTick},
       LeaseState::kLeased},
      {"at expiry", LeaseState::kLeased, 30, in_seconds(25), LeaseState::kExpired},
      {"long after expiry", LeaseState::kLeased, 30, in_seconds(1'000'000), LeaseState::kExpired},
      {"infinite", LeaseState::kLeased, kInfiniteLease, in_seconds(1'000'000), LeaseState::kLeased},
      // Broken with a period of 10 s.
      {"a tick before the break ends", LeaseState::kBreaking, 30,
       Time{in_seconds(10).ticks - kTick}, LeaseState::kBreaking},
      {"when the break ends", LeaseState::kBreaking, 30, in_seconds(10), LeaseState::kBroken},
      {"infinite, when the break ends", LeaseState::kBreaking, kInfiniteLease, in_seconds(10),
       LeaseState::kBroken},
      {"broken stays so", LeaseState::kBroken, 30, in_seconds(1'000'000), LeaseState::kBroken},
      {"broken stays so when the clock is set back", LeaseState::kBroken, 30, in_seconds(-4),
       LeaseState::kBroken},
      {"available stays so", LeaseState::kAvailable, 30, in_seconds(1'000'000),
       LeaseState::kAvailable},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(lease_state(lease_in(row.start, row.duration_s), row.at), row.expected) << row.what;
  }
}

TEST(Lease, ClocksAndDurations) {
  Lease lease;
  ASSERT_TRUE(acquire_lease(lease, kA, 15, kNow).ok());
  EXPECT_EQ(lease.expires, in_seconds(15));
  // Renewing keeps the duration and restarts the clock, also after expiry.
  ASSERT_TRUE(renew_lease(lease, kA, in_seconds(10)).ok());
  EXPECT_EQ(lease.expires, in_seconds(25));
  ASSERT_TRUE(renew_lease(lease, kA, in_seconds(100)).ok());
  EXPECT_EQ(lease.expires, in_seconds(115));
  EXPECT_EQ(lease.duration_s, 15);
  // Changing the id does not touch the clock.
  ASSERT_TRUE(change_lease(lease, kA, kB, in_seconds(101)).ok());
  EXPECT_EQ(lease.expires, in_seconds(115));
  EXPECT_EQ(lease.duration_s, 15);
  // Acquiring again with the held id takes a new duration.
  ASSERT_TRUE(acquire_lease(lease, kB, 60, in_seconds(102)).ok());
  EXPECT_EQ(lease.expires, in_seconds(162));
  ASSERT_TRUE(acquire_lease(lease, kB, kInfiniteLease, in_seconds(103)).ok());
  EXPECT_FALSE(lease.expires.set());
  ASSERT_TRUE(renew_lease(lease, kB, in_seconds(104)).ok());
  EXPECT_FALSE(lease.expires.set());
  // A new lease does not inherit a break.
  ASSERT_TRUE(break_lease(lease, kBlobLeaseRules, 0, in_seconds(105)).ok());
  ASSERT_TRUE(acquire_lease(lease, kC, 15, in_seconds(106)).ok());
  EXPECT_EQ(lease_state(lease, in_seconds(106)), LeaseState::kLeased);
}

TEST(Lease, BreakArithmetic) {
  struct Row {
    const char* what;
    LeaseState state;
    int32_t duration_s;  // of a lease acquired 5 s ago; Breaking: 10 s of break remain
    std::optional<int32_t> period_s;
    int32_t seconds;
  };
  const Row rows[] = {
      {"fixed, no period: runs out", LeaseState::kLeased, 15, {}, 10},
      {"fixed, shorter period", LeaseState::kLeased, 15, 5, 5},
      {"fixed, period as long as what remains", LeaseState::kLeased, 15, 10, 10},
      {"fixed, longer period: the lease's own end wins", LeaseState::kLeased, 15, 60, 10},
      {"fixed, at once", LeaseState::kLeased, 15, 0, 0},
      {"infinite, no period: at once", LeaseState::kLeased, kInfiniteLease, {}, 0},
      {"infinite, period", LeaseState::kLeased, kInfiniteLease, 60, 60},
      {"infinite, at once", LeaseState::kLeased, kInfiniteLease, 0, 0},
      {"again, no period: goes on", LeaseState::kBreaking, 60, {}, 10},
      {"again, shorter", LeaseState::kBreaking, 60, 3, 3},
      {"again, longer: cannot lengthen", LeaseState::kBreaking, 60, 30, 10},
      {"again, at once", LeaseState::kBreaking, 60, 0, 0},
      {"again, infinite, no period: goes on", LeaseState::kBreaking, kInfiniteLease, {}, 10},
      {"again, infinite, longer", LeaseState::kBreaking, kInfiniteLease, 30, 10},
      {"broken", LeaseState::kBroken, 60, 30, 0},
      {"expired", LeaseState::kExpired, 60, 30, 0},
  };
  for (const Row& row : rows) {
    Lease lease = lease_in(row.state, row.duration_s);
    auto seconds = break_lease(lease, kBlobLeaseRules, row.period_s, kNow);
    ASSERT_TRUE(seconds.ok()) << row.what;
    EXPECT_EQ(*seconds, row.seconds) << row.what;
    EXPECT_EQ(lease_state(lease, Time{in_seconds(row.seconds).ticks - 1}),
              row.seconds == 0 ? LeaseState::kBroken : LeaseState::kBreaking)
        << row.what;
    EXPECT_EQ(lease_state(lease, in_seconds(row.seconds)), LeaseState::kBroken) << row.what;
  }
}

TEST(Lease, BreakTimeIsRoundedUp) {
  struct Row {
    int64_t ticks_before_expiry;
    int32_t seconds;
  };
  const Row rows[] = {{0, 0},
                      {1, 1},
                      {kTicksPerSecond - 1, 1},
                      {kTicksPerSecond, 1},
                      {kTicksPerSecond + 1, 2},
                      {15 * kTicksPerSecond, 15}};
  for (const Row& row : rows) {
    Lease lease;
    ASSERT_TRUE(acquire_lease(lease, kA, 15, kNow).ok());
    Time now{in_seconds(15).ticks - row.ticks_before_expiry};
    auto seconds = break_lease(lease, kBlobLeaseRules, {}, now);
    ASSERT_TRUE(seconds.ok());
    EXPECT_EQ(*seconds, row.seconds) << row.ticks_before_expiry;
    // Only the reported time is rounded: the break ends when the lease would have.
    EXPECT_EQ(lease_state(lease, in_seconds(15)), LeaseState::kBroken);
  }
}

TEST(Lease, FilesBreakAtOnce) {
  for (std::optional<int32_t> period : {std::optional<int32_t>(), std::optional<int32_t>(30)}) {
    Lease lease = lease_in(LeaseState::kLeased, kInfiniteLease);
    auto seconds = break_lease(lease, kFileLeaseRules, period, kNow);
    ASSERT_TRUE(seconds.ok());
    EXPECT_EQ(*seconds, 0);
    EXPECT_EQ(lease_state(lease, kNow), LeaseState::kBroken);
  }
}

TEST(Lease, ValidDurationsAndPeriods) {
  for (const LeaseRules& rules : {kBlobLeaseRules, kContainerLeaseRules, kShareLeaseRules}) {
    for (int64_t seconds : {-1, 15, 16, 60}) {
      EXPECT_TRUE(is_valid_lease_duration(rules, seconds));
    }
    for (int64_t seconds : {-10, -2, 0, 10, 14, 61}) {
      EXPECT_FALSE(is_valid_lease_duration(rules, seconds)) << seconds;
    }
    EXPECT_FALSE(is_valid_lease_duration(rules, int64_t{1} << 32));
  }
  EXPECT_TRUE(is_valid_lease_duration(kFileLeaseRules, kInfiniteLease));
  EXPECT_FALSE(is_valid_lease_duration(kFileLeaseRules, 20));
  for (int64_t seconds : {0, 1, 60}) {
    EXPECT_TRUE(is_valid_break_period(seconds));
  }
  for (int64_t seconds : {-1, 61}) {
    EXPECT_FALSE(is_valid_break_period(seconds));
  }
}

TEST(Lease, UseByState) {
  using Error = std::optional<LeaseUseError>;
  const Error ok;
  const Error missing = LeaseUseError::kIdMissing;
  const Error mismatch = LeaseUseError::kIdMismatch;
  const Error not_present = LeaseUseError::kNotPresent;
  const Error lost = LeaseUseError::kLost;
  const Error infinite_required = LeaseUseError::kInfiniteRequired;
  struct Row {
    const char* what;
    LeaseUse use;
    std::optional<std::string> presented;
    int32_t duration_s;
    Error errors[5];  // in Available, Leased(A), Breaking(A), Broken(A), Expired(A)
  };
  const Row rows[] = {
      {"write with A", LeaseUse::kExclusive, kA, 30, {not_present, ok, ok, lost, lost}},
      {"write with B", LeaseUse::kExclusive, kB, 30, {not_present, mismatch, mismatch, lost, lost}},
      {"write", LeaseUse::kExclusive, {}, 30, {ok, missing, missing, ok, ok}},
      {"read with A", LeaseUse::kShared, kA, 30, {not_present, ok, ok, lost, lost}},
      {"read with B", LeaseUse::kShared, kB, 30, {not_present, mismatch, mismatch, lost, lost}},
      {"read", LeaseUse::kShared, {}, 30, {ok, ok, ok, ok, ok}},
      {"copy onto, with A",
       LeaseUse::kCopyDestination,
       kA,
       30,
       {not_present, infinite_required, infinite_required, lost, lost}},
      {"copy onto, with B",
       LeaseUse::kCopyDestination,
       kB,
       30,
       {not_present, mismatch, mismatch, lost, lost}},
      {"copy onto", LeaseUse::kCopyDestination, {}, 30, {ok, missing, missing, ok, ok}},
      {"abort copy with A", LeaseUse::kCopyAbort, kA, 30, {not_present, ok, ok, lost, lost}},
      {"abort copy with B",
       LeaseUse::kCopyAbort,
       kB,
       30,
       {not_present, mismatch, mismatch, lost, lost}},
      {"abort copy", LeaseUse::kCopyAbort, {}, 30, {ok, ok, ok, ok, ok}},
  };
  for (const Row& row : rows) {
    for (LeaseState state : kAllStates) {
      SCOPED_TRACE(std::string(row.what) + " when " + std::string(lease_state_name(state)));
      auto result = check_lease_use(lease_in(state, row.duration_s), row.presented, row.use, kNow);
      const Error& expected = row.errors[static_cast<int>(state)];
      ASSERT_EQ(result.ok(), !expected);
      if (expected) {
        EXPECT_EQ(result.error(), *expected);
      }
    }
  }
}

TEST(Lease, CopiesAndInfiniteLeases) {
  const Lease infinite = lease_in(LeaseState::kLeased, kInfiniteLease);
  EXPECT_TRUE(check_lease_use(infinite, kA, LeaseUse::kCopyDestination, kNow).ok());
  EXPECT_TRUE(check_lease_use(infinite, kA, LeaseUse::kCopyAbort, kNow).ok());
  for (LeaseUse use : {LeaseUse::kCopyDestination, LeaseUse::kCopyAbort}) {
    EXPECT_EQ(check_lease_use(infinite, {}, use, kNow).error(), LeaseUseError::kIdMissing);
    EXPECT_EQ(check_lease_use(infinite, kB, use, kNow).error(), LeaseUseError::kIdMismatch);
  }
}

TEST(Lease, UseAtTheBoundaryTick) {
  const Lease lease = lease_in(LeaseState::kLeased, 30);
  const Time expiry = in_seconds(25);
  const Time before{expiry.ticks - 1};
  EXPECT_TRUE(check_lease_use(lease, kA, LeaseUse::kExclusive, before).ok());
  EXPECT_EQ(check_lease_use(lease, {}, LeaseUse::kExclusive, before).error(),
            LeaseUseError::kIdMissing);
  EXPECT_EQ(check_lease_use(lease, kA, LeaseUse::kExclusive, expiry).error(), LeaseUseError::kLost);
  EXPECT_TRUE(check_lease_use(lease, {}, LeaseUse::kExclusive, expiry).ok());
}

TEST(Lease, NamesAndLocks) {
  struct Row {
    LeaseState state;
    const char* name;
    bool locked;
  };
  const Row rows[] = {{LeaseState::kAvailable, "available", false},
                      {LeaseState::kLeased, "leased", true},
                      {LeaseState::kBreaking, "breaking", true},
                      {LeaseState::kBroken, "broken", false},
                      {LeaseState::kExpired, "expired", false}};
  for (const Row& row : rows) {
    EXPECT_EQ(lease_state_name(row.state), row.name);
    EXPECT_EQ(is_locked(row.state), row.locked);
  }
}

}  // namespace
}  // namespace kyanite::concurrency
