#include "transfer/hashes.h"

#include <gtest/gtest.h>

#include <string>

#include "base/clock.h"
#include "base/executor.h"

namespace kyanite::transfer {
namespace {

TEST(Hashes, OfZerosAreThoseOfTheBytes) {
  Workers workers(1);
  for (const bool with_md5 : {false, true}) {
    Hashes walked(with_md5);
    Hashes told(with_md5);
    const std::string zeros(700'001, '\0');
    for (Hashes* each : {&walked, &told}) RunLoop::run(each->update(workers, "before"));
    RunLoop::run(walked.update(workers, zeros));
    EXPECT_TRUE(RunLoop::run(told.update_zeros(workers, zeros.size(), {})));
    EXPECT_EQ(walked.crc64(), told.crc64());
    EXPECT_EQ(walked.md5(), told.md5());
  }
}

TEST(Hashes, OfZerosEndWithTheDeadline) {
  Workers workers(1);
  ManualClock clock(Time::from_unix_seconds(1'700'000'000));
  Hashes hashes(true);
  EXPECT_FALSE(RunLoop::run(hashes.update_zeros(workers, UINT64_MAX, Deadline(clock, 0))));
}

}  // namespace
}  // namespace kyanite::transfer
