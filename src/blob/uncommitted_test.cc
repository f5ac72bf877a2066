// Blobs of which there are only blocks so far: what sees them, and what becomes of their leases.
#include "blob/uncommitted.h"

#include <gtest/gtest.h>

#include "blob/test_support.h"

namespace kyanite::blob {
namespace {

using Request = TestService::Request;
using Headers = TestService::Headers;

const std::string kId = "11111111-1111-1111-1111-111111111111";

class Uncommitted : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(blobs.make_container("box").outcome(), "201");
    ASSERT_EQ(block("a"), "201");
  }

  static Headers with(const std::string& lease, Headers headers = {}) {
    if (!lease.empty()) headers.emplace_back("x-ms-lease-id", lease);
    return headers;
  }
  std::string block(const std::string& id, const std::string& lease = {}) {
    return blobs
        .send({"PUT", "box/blob", "comp=block&blockid=" + wire::percent_encode(base64(id)),
               with(lease), "x"})
        .outcome();
  }
  std::string commit(const std::string& lease = {}) {
    return blobs
        .send({"PUT", "box/blob", "comp=blocklist", with(lease),
               "<BlockList><Latest>YQ==</Latest></BlockList>"})
        .outcome();
  }
  std::string put(const std::string& lease = {}) {
    return blobs.send({"PUT", "box/blob", {}, with(lease, {{"x-ms-blob-type", "BlockBlob"}}), "y"})
        .outcome();
  }
  std::string remove(const std::string& lease = {}) {
    return blobs.send({"DELETE", "box/blob", {}, with(lease)}).outcome();
  }
  Answer lease(const std::string& action, Headers more = {}) {
    more.emplace_back("x-ms-lease-action", action);
    if (action == "acquire") {
      more.emplace_back("x-ms-lease-duration", "15");
      more.emplace_back("x-ms-proposed-lease-id", kId);
    }
    return blobs.send({"PUT", "box/blob", "comp=lease", more});
  }
  std::string state() {
    const auto answer = blobs.send({"HEAD", "box/blob"});
    return answer.status == 200 ? answer.header("x-ms-lease-state") : answer.outcome();
  }

  TestService blobs;
};

TEST_F(Uncommitted, IsNoBlobToWhatReadsOrChangesOne) {
  const Request kRequests[] = {
      {"GET", "box/blob"},
      {"HEAD", "box/blob"},
      {"PUT", "box/blob", "comp=metadata"},
      {"PUT", "box/blob", "comp=properties"},
      {"PUT", "box/blob", "comp=snapshot"},
      {"PUT", "box/blob", "comp=tier", {{"x-ms-access-tier", "Cool"}}},
      TestService::set_tags("box/blob", "a", "1"),
  };
  for (const auto& request : kRequests)
    EXPECT_EQ(blobs.send(request).outcome(), "404 BlobNotFound") << request.query;
  EXPECT_EQ(blobs.left().blocks, " a ");
  EXPECT_EQ(blobs.left().heads, 0U);
}

TEST_F(Uncommitted, CanBeDeleted) {
  EXPECT_EQ(remove(), "202");
  EXPECT_EQ(blobs.left().blocks, " ") << "the mark stays, as spent";
  EXPECT_EQ(remove(), "404 BlobNotFound");
  EXPECT_EQ(lease("acquire").outcome(), "404 BlobNotFound");
  EXPECT_EQ(commit(), "400 InvalidBlockList");
  EXPECT_EQ(block("bb"), "201") << "ids may be longer now";
}

TEST_F(Uncommitted, GoesWithWhatIsPutInItsPlace) {
  EXPECT_EQ(put(), "201");
  EXPECT_EQ(blobs.left().blocks, " ");
  EXPECT_EQ(blobs.send({"GET", "box/blob"}).body, "y");
}

TEST_F(Uncommitted, ALeaseKeepsOthersOut) {
  const auto leased = lease("acquire");
  EXPECT_EQ(leased.outcome(), "201");
  EXPECT_EQ(leased.header("x-ms-lease-id"), kId);
  EXPECT_EQ(leased.header("Last-Modified"), "Mon, 01 Jan 1601 00:00:00 GMT");
  const std::string kOther = "22222222-2222-2222-2222-222222222222";
  EXPECT_EQ(block("b"), "412 LeaseIdMissing");
  EXPECT_EQ(block("b", kOther), "412 LeaseIdMismatchWithBlobOperation");
  EXPECT_EQ(commit(), "412 LeaseIdMissing");
  EXPECT_EQ(put(), "412 LeaseIdMissing");
  EXPECT_EQ(remove(), "412 LeaseIdMissing");
  EXPECT_EQ(blobs.left().blocks, " a ");
  EXPECT_EQ(block("b", kId), "201");
  EXPECT_EQ(blobs.left().blocks, " a b ");
}

// Whatever makes a blob of it.
TEST_F(Uncommitted, ALeaseGoesOnWithTheBlob) {
  ASSERT_EQ(lease("acquire").outcome(), "201");
  EXPECT_EQ(commit(kId), "201");
  EXPECT_EQ(state(), "leased");
  EXPECT_EQ(put(), "412 LeaseIdMissing");
  blobs.around.clock.advance_seconds(15);
  EXPECT_EQ(state(), "expired");
  EXPECT_EQ(put(), "201");
  EXPECT_EQ(state(), "available") << "what is written forgets an expired lease";
}

TEST_F(Uncommitted, ALeaseEndsWithTheBlob) {
  ASSERT_EQ(lease("acquire").outcome(), "201");
  EXPECT_EQ(remove(kId), "202");
  EXPECT_EQ(block("a"), "201");
  EXPECT_EQ(lease("renew", {{"x-ms-lease-id", kId}}).outcome(),
            "409 LeaseIdMismatchWithLeaseOperation");
}

TEST_F(Uncommitted, LeasesRunOut) {
  ASSERT_EQ(lease("acquire").outcome(), "201");
  blobs.around.clock.advance_seconds(14);
  EXPECT_EQ(block("b"), "412 LeaseIdMissing");
  EXPECT_EQ(lease("renew", {{"x-ms-lease-id", kId}}).outcome(), "200");
  blobs.around.clock.advance_seconds(14);
  EXPECT_EQ(block("b"), "412 LeaseIdMissing");
  blobs.around.clock.advance_seconds(1);
  EXPECT_EQ(block("b"), "201");
}

TEST_F(Uncommitted, LeasesAreBrokenAndReleased) {
  ASSERT_EQ(lease("acquire").outcome(), "201");
  const auto broken = lease("break", {{"x-ms-lease-break-period", "5"}});
  EXPECT_EQ(broken.outcome(), "202");
  EXPECT_EQ(broken.header("x-ms-lease-time"), "5");
  EXPECT_EQ(block("b"), "412 LeaseIdMissing");
  blobs.around.clock.advance_seconds(5);
  EXPECT_EQ(block("b"), "201");
  EXPECT_EQ(lease("release", {{"x-ms-lease-id", kId}}).outcome(), "200");
  EXPECT_EQ(lease("acquire").outcome(), "201");
}

TEST_F(Uncommitted, ConditionsTakeItForNoBlobWhereOneIsCreated) {
  const auto put_if = [&](const std::string& header, const std::string& value) {
    return blobs
        .send({"PUT", "box/blob", {}, {{"x-ms-blob-type", "BlockBlob"}, {header, value}}, "y"})
        .outcome();
  };
  EXPECT_EQ(put_if("If-Match", "*"), "412 ConditionNotMet");
  EXPECT_EQ(blobs.left().blocks, " a ");
  EXPECT_EQ(put_if("If-None-Match", "*"), "201");
  EXPECT_EQ(put_if("If-None-Match", "*"), "409 BlobAlreadyExists");
}

}  // namespace
}  // namespace kyanite::blob
