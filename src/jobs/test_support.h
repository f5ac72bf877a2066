// Jobs without a schedule, for tests of what they do.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "jobs/job.h"

namespace kyanite::jobs {

// A whole round of one account, from its beginning to its end, which keeps to its budget. How many
// records it changed.
inline Task<uint64_t> run_round(const Job& job, store::Store& store, const Clock& clock,
                                std::string_view account = "account") {
  constexpr int kMostSteps = 1000;
  uint64_t changed = 0;
  std::string cursor;
  for (int steps = 0; steps < kMostSteps; ++steps) {
    Step step(store, clock, std::string(account), job.budget, cursor);
    const auto through = co_await job.run(step);
    EXPECT_TRUE(through.ok()) << job.name;
    EXPECT_LE(step.looked(), job.budget.looks);
    EXPECT_LE(step.changed(), job.budget.changes);
    changed += step.changed();
    if (!through || *through) co_return changed;
    cursor = step.cursor;
  }
  ADD_FAILURE() << job.name << " has no end";
  co_return changed;
}

}  // namespace kyanite::jobs
