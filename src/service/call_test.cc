#include "service/call.h"

#include <gtest/gtest.h>

#include <memory>

#include "service/gate.h"
#include "service/operation.h"
#include "service/test_support.h"

namespace kyanite::service {
namespace {

constexpr Operation kRead{"Get Thing", "Thing_Get", "GET",  auth::Level::kObject, "", "",
                          {},          {},          nullptr};

TEST(DerivedCall, SharesTimeIdAndVersionAndNothingElse) {
  TestContext around;
  TestCall outer(around, "comp=list", {{"x-ms-meta-a", "b"}});
  outer.call.now = Time::from_unix_seconds(1'600'000'000);
  outer.call.request_id = "11111111-0000-0000-0000-000000000000";
  outer.call.version_text = "2024-11-04";
  outer.call.version = *wire::Version::parse("2024-11-04");
  outer.call.target.service = wire::Service::kTable;
  outer.call.target.container = "outer";
  outer.call.caller.kind = auth::Caller::Kind::kOwner;
  outer.call.operation = &kRead;
  const auto token = std::make_shared<int>(1);
  outer.call.hold = store::Hold(token);

  http::Request inner;
  const Call call = Call::derived(inner, outer.call);
  EXPECT_EQ(&call.request, &inner);
  EXPECT_EQ(&call.context, &around.context);
  EXPECT_EQ(call.now, outer.call.now);
  EXPECT_EQ(call.request_id, outer.call.request_id);
  EXPECT_EQ(call.version_text, "2024-11-04");
  EXPECT_EQ(call.version, outer.call.version);
  EXPECT_EQ(call.target.service, wire::Service::kTable);
  outer.call.hold = {};
  EXPECT_EQ(token.use_count(), 2);  // The bytes stay readable for it.

  EXPECT_EQ(call.target.account, "");
  EXPECT_EQ(call.target.container, "");
  EXPECT_EQ(call.caller.kind, auth::Caller::Kind::kAnonymous);
  EXPECT_EQ(call.operation, nullptr);
  EXPECT_FALSE(call.query.has("comp"));
}

TEST(DerivedCall, EndsByTheDeadlineOfTheOuterOne) {
  TestContext around;
  TestCall outer(around);
  http::Request inner;
  outer.call.deadline = Deadline(around.clock, 10);
  const Call call = Call::derived(inner, outer.call);
  EXPECT_FALSE(call.deadline.over());
  around.clock.advance_seconds(10);
  EXPECT_TRUE(call.deadline.over());
}

// What the log says of a commit that fails.
TEST(Authorize, NamesTheCause) {
  TestContext around;
  TestCall owner(around);
  owner.call.request_id = "id";
  owner.call.operation = &kRead;
  owner.call.caller.kind = auth::Caller::Kind::kOwner;
  ASSERT_TRUE(RunLoop::run(authorize(owner.call)).ok());
  EXPECT_EQ(owner.call.cause.operation, "Get Thing");
  EXPECT_EQ(owner.call.cause.request_id, "id");
  EXPECT_EQ(owner.call.cause.caller, "account");

  TestCall user(around);
  user.call.operation = &kRead;
  user.call.caller.kind = auth::Caller::Kind::kBearer;
  user.call.caller.object_id = "somebody";
  ASSERT_TRUE(RunLoop::run(authorize(user.call)).ok());
  EXPECT_EQ(user.call.cause.caller, "somebody");
}

}  // namespace
}  // namespace kyanite::service
