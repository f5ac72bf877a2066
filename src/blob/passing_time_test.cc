// What time alone changes of a blob: the end of a rehydration, of a retention policy, of the blob
// itself.
#include <gtest/gtest.h>

#include "blob/test_support.h"
#include "wire/date.h"

namespace kyanite::blob {
namespace {

class PassingTime : public testing::Test {
 protected:
  void SetUp() override {
    service::AccountSettings settings;
    settings.rehydration_s = 60;
    settings.blob_immutability = true;
    settings.blob_expiry = true;
    blobs.set(settings);
    ASSERT_EQ(blobs.make_container("box").outcome(), "201");
    ASSERT_EQ(put(), "201");
  }

  void wait(int64_t seconds) { blobs.around.clock.advance_seconds(seconds); }
  std::string put() { return blobs.send(TestService::put("box/blob")).outcome(); }
  std::string read() { return blobs.send({"GET", "box/blob"}).outcome(); }
  std::string tier(const std::string& name) {
    return blobs.send({"PUT", "box/blob", "comp=tier", {{"x-ms-access-tier", name}}}).outcome();
  }
  std::string shown(const std::string& header) {
    return blobs.send({"HEAD", "box/blob"}).header(header);
  }
  std::string expire(const std::string& option, const std::string& time = {}) {
    TestService::Headers headers{{"x-ms-expiry-option", option}};
    if (!time.empty()) headers.emplace_back("x-ms-expiry-time", time);
    return blobs.send({"PUT", "box/blob", "comp=expiry", headers}).outcome();
  }
  std::string in(int64_t seconds) {
    return wire::http_date(after_seconds(blobs.around.clock.now(), seconds)).str();
  }
  std::string retain(const std::string& until, const std::string& mode) {
    return blobs
        .send({"PUT",
               "box/blob",
               "comp=immutabilityPolicies",
               {{"x-ms-immutability-policy-until-date", until},
                {"x-ms-immutability-policy-mode", mode}}})
        .outcome();
  }

  TestService blobs;
};

TEST_F(PassingTime, TheArchiveIsLeftAfterAWhile) {
  EXPECT_EQ(tier("Cool"), "200");
  EXPECT_EQ(tier("Archive"), "200");
  EXPECT_EQ(read(), "409 BlobArchived");
  EXPECT_EQ(tier("Hot"), "202");
  EXPECT_EQ(shown("x-ms-access-tier"), "Archive");
  EXPECT_EQ(shown("x-ms-archive-status"), "rehydrate-pending-to-hot");
  EXPECT_EQ(tier("Hot"), "202") << "said again";
  EXPECT_EQ(tier("Cool"), "409 BlobBeingRehydrated");
  wait(59);
  EXPECT_EQ(read(), "409 BlobArchived");
  wait(1);
  EXPECT_EQ(read(), "200");
  EXPECT_EQ(shown("x-ms-access-tier"), "Hot");
  EXPECT_EQ(shown("x-ms-archive-status"), "");
  EXPECT_EQ(tier("Cool"), "200");
}

TEST_F(PassingTime, WhatIsInTheArchiveTakesAFewOperationsOnly) {
  const struct {
    TestService::Request request;
    std::string outcome;
  } kRows[] = {
      {{"HEAD", "box/blob"}, "200"},
      {{"PUT", "box/blob", "comp=metadata"}, "409 BlobArchived"},
      {{"PUT", "box/blob", "comp=properties"}, "409 BlobArchived"},
      {{"PUT", "box/blob", "comp=snapshot"}, "409 BlobArchived"},
      {{"PUT", "box/blob", "comp=block&blockid=YQ%3D%3D", {}, "x"}, "409 BlobArchived"},
      {TestService::set_tags("box/blob", "a", "1"), "204"},
      {TestService::put("box/blob"), "201"},
  };
  ASSERT_EQ(tier("Archive"), "200");
  for (const auto& row : kRows)
    EXPECT_EQ(blobs.send(row.request).outcome(), row.outcome) << row.request.query;
  EXPECT_EQ(read(), "200") << "what is put in its place is not archived";
}

TEST_F(PassingTime, ABlobIsGoneFromItsExpiryOn) {
  const std::string etag = shown("ETag");
  EXPECT_EQ(expire("RelativeToNow", "10000"), "200");
  EXPECT_EQ(shown("ETag"), etag);
  EXPECT_EQ(shown("x-ms-expiry-time"), in(10));
  wait(9);
  EXPECT_EQ(read(), "200");
  wait(1);
  EXPECT_EQ(read(), "404 BlobNotFound");
  EXPECT_EQ(tier("Cool"), "404 BlobNotFound");
  EXPECT_EQ(expire("NeverExpire"), "404 BlobNotFound");
  EXPECT_EQ(blobs.send({"DELETE", "box/blob"}).outcome(), "404 BlobNotFound");
  EXPECT_EQ(blobs.left().heads, 1U);
  // Its name is free, and its content goes with it.
  EXPECT_EQ(put(), "201");
  EXPECT_EQ(read(), "200");
  EXPECT_EQ(blobs.left().heads, 1U);
  EXPECT_EQ(blobs.left().unnamed, 0U);
}

TEST_F(PassingTime, WhenABlobExpires) {
  wait(5);
  const struct {
    std::string option, time;
    int64_t seconds;  // from now; 0: refused, and as it was
  } kRows[] = {
      {"Absolute", in(20), 20},     {"Absolute", in(0), 0},
      {"Absolute", "soon", 0},      {"RelativeToNow", "7000", 7},
      {"relativetonow", "8000", 8}, {"RelativeToCreation", "30000", 25},
      {"RelativeToNow", "-1", 0},   {"RelativeToNow", "", 0},
      {"Whenever", "1000", 0},
  };
  for (const auto& row : kRows) {
    const std::string before = shown("x-ms-expiry-time");
    const std::string outcome = expire(row.option, row.time);
    const std::string after = shown("x-ms-expiry-time");
    if (row.seconds > 0) {
      EXPECT_EQ(outcome, "200") << row.option;
      EXPECT_EQ(after, in(row.seconds)) << row.option;
    } else {
      EXPECT_EQ(outcome.substr(0, 3), "400") << row.option << row.time;
      EXPECT_EQ(after, before);
    }
  }
  EXPECT_EQ(expire("NeverExpire"), "200");
  EXPECT_EQ(shown("x-ms-expiry-time"), "");
}

TEST_F(PassingTime, APolicyEndsAtItsDate) {
  EXPECT_EQ(retain(in(0), "Unlocked"), "400 InvalidHeaderValue");
  EXPECT_EQ(retain(in(60), "Unlocked"), "200");
  EXPECT_EQ(put(), "409 BlobImmutableDueToPolicy");
  EXPECT_EQ(retain(in(30), "Unlocked"), "200") << "one that is not locked can be shortened,";
  EXPECT_EQ(retain(in(30), "Locked"), "200");
  EXPECT_EQ(retain(in(20), "Locked"), "409 BlobImmutableDueToPolicy") << "a locked one not,";
  EXPECT_EQ(retain(in(40), "Unlocked"), "409 BlobImmutableDueToPolicy");
  EXPECT_EQ(blobs.send({"DELETE", "box/blob", "comp=immutabilityPolicies"}).outcome(),
            "409 BlobImmutableDueToPolicy");
  EXPECT_EQ(retain(in(50), "Locked"), "200") << "only be extended";
  wait(49);
  EXPECT_EQ(blobs.send({"DELETE", "box/blob"}).outcome(), "409 BlobImmutableDueToPolicy");
  wait(1);
  EXPECT_EQ(blobs.send({"DELETE", "box/blob"}).outcome(), "202");
}

}  // namespace
}  // namespace kyanite::blob
