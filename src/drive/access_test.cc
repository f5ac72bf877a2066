#include "drive/access.h"

#include <gtest/gtest.h>

#include "tree/access_check.h"

namespace kyanite::drive {
namespace {

namespace access = smb::access;
using smb::Status;

TEST(Access, WhatIsGranted) {
  constexpr uint32_t kMaximum = access::kMaximumAllowed;
  constexpr uint32_t kReading = smb::kGenericReadMeans;
  struct Row {
    const char* why;
    uint32_t asked;
    uint32_t most;
    bool read_only;
    uint32_t granted;  // 0: ACCESS_DENIED
  };
  const Row rows[] = {
      {"no more than was asked for", 0x1, tree::kAllRights, false, 0x1},
      {"all or nothing", 0x3, 0x1, false, 0},
      {"generic rights", access::kGenericRead, tree::kAllRights, false, kReading},
      {"generic rights that are not all there", access::kGenericRead, 0x1, false, 0},
      {"the most there is", kMaximum, kReading, false, kReading},
      {"the most, and this", kMaximum | 0x1, kReading, false, kReading},
      {"the most, and what is not there", kMaximum | 0x2, kReading, false, 0},
      {"the most of nothing", kMaximum, 0, false, 0},
      {"to wait is everybody's", access::kSynchronize | 0x1, 0x1, false,
       access::kSynchronize | 0x1},
      {"but it is no reason to be let in", access::kSynchronize | kMaximum, 0, false, 0},
      {"writing to what is read-only", access::kWriteData, tree::kAllRights, true, 0},
      {"appending to it", access::kAppendData, tree::kAllRights, true, 0},
      {"the most and writing to it", kMaximum | access::kWriteData, tree::kAllRights, true, 0},
      {"reading and deleting it", 0x1 | access::kDelete, tree::kAllRights, true,
       0x1 | access::kDelete},
      {"the most of it", kMaximum, tree::kAllRights, true,
       tree::kAllRights & ~(access::kWriteData | access::kAppendData | access::kDeleteChild)},
  };
  for (const Row& row : rows) {
    const auto granted = grant_access(row.asked, row.most, row.read_only);
    if (row.granted == 0) {
      ASSERT_FALSE(granted) << row.why;
      EXPECT_EQ(granted.error(), Status::kAccessDenied) << row.why;
    } else {
      ASSERT_TRUE(granted) << row.why;
      EXPECT_EQ(*granted, row.granted) << row.why;
    }
  }
}

TEST(Access, AuditingNeedsAPrivilege) {
  const auto granted = grant_access(access::kSystemSecurity | 0x1, tree::kAllRights, false);
  ASSERT_FALSE(granted);
  EXPECT_EQ(granted.error(), Status::kPrivilegeNotHeld);
}

}  // namespace
}  // namespace kyanite::drive
