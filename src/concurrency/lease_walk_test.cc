// Random walks through the lease machine beside a model that works the other way round: it keeps
// the state itself and a countdown, and is told about every tick that passes, as a server with
// timers would be.
#include <gtest/gtest.h>

#include <cstdlib>
#include <random>

#include "base/random.h"
#include "concurrency/lease.h"

namespace kyanite::concurrency {
namespace {

struct Model {
  LeaseState state = LeaseState::kAvailable;
  std::string holder;
  int64_t duration = 0;  // in ticks; negative: infinite
  int64_t countdown = 0;

  void pass(int64_t ticks) {
    const bool runs =
        state == LeaseState::kBreaking || (state == LeaseState::kLeased && duration > 0);
    if (!runs) return;
    countdown -= ticks;
    if (countdown > 0) return;
    state = state == LeaseState::kBreaking ? LeaseState::kBroken : LeaseState::kExpired;
  }
  bool locked() const { return state == LeaseState::kLeased || state == LeaseState::kBreaking; }

  bool acquire(const std::string& id, int32_t seconds) {
    if (state == LeaseState::kBreaking || (state == LeaseState::kLeased && id != holder))
      return false;
    state = LeaseState::kLeased;
    holder = id;
    countdown = duration = seconds * kTicksPerSecond;
    return true;
  }
  bool renew(const std::string& id) {
    const bool renewable = state == LeaseState::kLeased || state == LeaseState::kExpired;
    if (!renewable || id != holder) return false;
    state = LeaseState::kLeased;
    countdown = duration;
    return true;
  }
  bool change(const std::string& id, const std::string& proposed) {
    if (state != LeaseState::kLeased || (id != holder && proposed != holder)) return false;
    holder = proposed;
    return true;
  }
  bool release(const std::string& id) {
    if (state == LeaseState::kAvailable || id != holder) return false;
    state = LeaseState::kAvailable;
    return true;
  }
  bool break_in(std::optional<int32_t> period_s) {
    if (state == LeaseState::kAvailable) return false;
    const bool endless = state == LeaseState::kLeased && duration < 0;
    int64_t left = locked() ? countdown : 0;
    if (endless) left = period_s ? INT64_MAX : 0;
    if (period_s) left = std::min(left, *period_s * kTicksPerSecond);
    countdown = left;
    state = left == 0 ? LeaseState::kBroken : LeaseState::kBreaking;
    return true;
  }
  bool write(const std::optional<std::string>& id) {
    if (id) return locked() && *id == holder;
    if (locked()) return false;
    state = LeaseState::kAvailable;
    return true;
  }
};

bool write(Lease& lease, const std::optional<std::string>& id, Time now) {
  if (!check_lease_use(lease, id, LeaseUse::kExclusive, now).ok()) return false;
  on_write(lease, now);
  return true;
}

TEST(LeaseWalk, AgreesWithAModelThatHasTimers) {
  const char* given = std::getenv("KYANITE_SEED");
  const uint64_t seed = given ? std::strtoull(given, nullptr, 10) : random_u64();
  SCOPED_TRACE("KYANITE_SEED=" + std::to_string(seed));
  std::mt19937_64 random(seed);
  auto below = [&](uint64_t bound) { return random() % bound; };
  const std::string ids[] = {"a", "b", "c"};
  auto any_id = [&] { return ids[below(3)]; };
  auto maybe_period = [&]() -> std::optional<int32_t> {
    if (below(3) == 0) return std::nullopt;
    return static_cast<int32_t>(below(61));
  };

  Lease lease;
  Model model;
  Time now{637'000'000'000'000'000};
  for (int step = 0; step < 100'000; ++step) {
    // Often nothing, often whole seconds, so that boundaries are hit exactly.
    int64_t ticks = 0;
    if (below(2) == 0) ticks = static_cast<int64_t>(below(20)) * kTicksPerSecond;
    if (below(4) == 0) ticks += static_cast<int64_t>(below(3));
    now.ticks += ticks;
    model.pass(ticks);

    const Lease before = lease;
    const std::string id = any_id(), other = any_id();
    const auto period = maybe_period();
    const int32_t duration = below(3) == 0 ? kInfiniteLease : static_cast<int32_t>(15 + below(46));
    bool expected = false, actual = false;
    switch (below(7)) {
      case 0:
        expected = model.acquire(id, duration);
        actual = acquire_lease(lease, id, duration, now).ok();
        break;
      case 1:
        expected = model.renew(id);
        actual = renew_lease(lease, id, now).ok();
        break;
      case 2:
        expected = model.change(id, other);
        actual = change_lease(lease, id, other, now).ok();
        break;
      case 3:
        if (below(3) != 0) continue;
        expected = model.release(id);
        actual = release_lease(lease, id).ok();
        break;
      case 4:
        expected = model.break_in(period);
        actual = break_lease(lease, kBlobLeaseRules, period, now).ok();
        break;
      case 5:
        expected = model.write(id);
        actual = write(lease, id, now);
        break;
      case 6:
        expected = model.write(std::nullopt);
        actual = write(lease, std::nullopt, now);
        break;
    }
    ASSERT_EQ(actual, expected) << "step " << step;
    if (!actual) {
      ASSERT_EQ(lease, before) << "step " << step;
    }
    ASSERT_EQ(lease_state(lease, now), model.state) << "step " << step;
    if (model.state != LeaseState::kAvailable) {
      ASSERT_EQ(lease.id, model.holder) << "step " << step;
    }
  }
}

}  // namespace
}  // namespace kyanite::concurrency
