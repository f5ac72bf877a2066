#include "drive/logon_brake.h"

#include <gtest/gtest.h>

namespace kyanite::drive {
namespace {

using std::chrono::milliseconds;

TEST(LogonBrake, AnswersComeLaterAndLater) {
  LogonBrake brake;
  const Moment now{100};
  for (uint32_t i = 0; i < LogonBrake::kFree; ++i)
    EXPECT_EQ(brake.failed("10.0.0.1", now), milliseconds(0));
  EXPECT_EQ(brake.failed("10.0.0.1", now), LogonBrake::kStep);
  EXPECT_EQ(brake.failed("10.0.0.1", now), 2 * LogonBrake::kStep);
  for (int i = 0; i < 100; ++i) brake.failed("10.0.0.1", now);
  EXPECT_EQ(brake.failed("10.0.0.1", now), LogonBrake::kMost);
  EXPECT_EQ(brake.failed("10.0.0.2", now), milliseconds(0));  // Somebody else.
  const Moment later = after_seconds(now, LogonBrake::kForgottenAfterSeconds);
  EXPECT_EQ(brake.failed("10.0.0.1", later), milliseconds(0));
  EXPECT_EQ(brake.failures(), LogonBrake::kFree + 105);
}

TEST(LogonBrake, ForgetsThoseWhoFailedLongestAgo) {
  LogonBrake brake;
  const Moment now{100};
  const auto fail_often = [&](const std::string& peer) {
    for (uint32_t i = 0; i < LogonBrake::kFree; ++i) brake.failed(peer, now);
    return brake.failed(peer, now);
  };
  EXPECT_EQ(fail_often("first"), LogonBrake::kStep);
  EXPECT_EQ(fail_often("second"), LogonBrake::kStep);
  EXPECT_EQ(brake.failed("first", now), 2 * LogonBrake::kStep);
  for (size_t i = 0; i < LogonBrake::kMaxPeers - 1; ++i)
    brake.failed("peer" + std::to_string(i), now);
  EXPECT_EQ(brake.failed("first", now), 3 * LogonBrake::kStep);
  EXPECT_EQ(brake.failed("second", now), milliseconds(0));
}

}  // namespace
}  // namespace kyanite::drive
