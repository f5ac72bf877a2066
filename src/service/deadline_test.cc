#include "service/deadline.h"

#include <gtest/gtest.h>

#include <functional>
#include "base/started.h"
#include "service/storage.h"
#include "service/test_support.h"
#include "wire/service.h"

namespace kyanite::service {
namespace {

constexpr uint64_t kMiB = 1024 * 1024;

struct Value {
  uint64_t number = 0;
  template <class Io>
  void fields(Io& io) {
    io(1, number);
  }
};

// After how many seconds the call's time is over.
int64_t seconds(const Call& call) {
  return (call.deadline.date().ticks - call.now.ticks) / kTicksPerSecond;
}

TEST(Deadlines, AreWhatIsAskedForUpToTheMost) {
  TestContext around;
  const std::pair<std::string_view, int64_t> cases[] = {
      {"", 30},           {"timeout=", 30},
      {"timeout=0", 30},  {"timeout=1", 1},
      {"timeout=29", 29}, {"timeout=30", 30},
      {"timeout=31", 30}, {"timeout=99999999999999999999999", 30},
      {"TIMEOUT=7", 7}};
  for (const auto& [query, expected] : cases) {
    TestCall test(around, query);
    ASSERT_TRUE(set_deadline(test.call).ok()) << query;
    EXPECT_EQ(seconds(test.call), expected) << query;
  }
}

TEST(Deadlines, ThatAreNoNumbersAreRefused) {
  TestContext around;
  for (const std::string_view query : {"timeout=soon", "timeout=-1", "timeout=1.5", "timeout=+5"}) {
    TestCall test(around, query);
    const auto set = set_deadline(test.call);
    ASSERT_FALSE(set.ok()) << query;
    EXPECT_EQ(set.error().code, wire::Code::kInvalidQueryParameterValue);
  }
}

TEST(Deadlines, OfTransfersGrowWithWhatIsTransferred) {
  TestContext around;
  TestCall blob(around);
  allow_transfer(blob.call, 0);
  EXPECT_EQ(seconds(blob.call), 600);
  allow_transfer(blob.call, 100 * kMiB - 1);
  EXPECT_EQ(seconds(blob.call), 100 * 600);
  allow_transfer(blob.call, std::nullopt);
  EXPECT_EQ(seconds(blob.call), 24 * 3600);
  allow_transfer(blob.call, UINT64_MAX / 2);
  EXPECT_EQ(seconds(blob.call), 24 * 3600);
  TestCall file(around);
  file.call.target.service = wire::Service::kFile;
  allow_transfer(file.call, 4 * kMiB - 1);
  EXPECT_EQ(seconds(file.call), 4 * 120);
  TestCall impatient(around, "timeout=90");
  ASSERT_TRUE(set_deadline(impatient.call).ok());
  EXPECT_EQ(seconds(impatient.call), 30);
  allow_transfer(impatient.call, kMiB);
  EXPECT_EQ(seconds(impatient.call), 90);
}

// A decision that always comes too late.
struct Loser {
  int decisions = 0;
  auto decide(const std::function<void()>& meanwhile) {
    return [this, meanwhile](store::Attempt&) -> Task<wire::Result<int>> {
      ++decisions;
      meanwhile();
      co_return decide_again();
    };
  }
};

TEST(Deadlines, EndTries) {
  TestContext around;
  TestCall test(around, "timeout=5");
  ASSERT_TRUE(set_deadline(test.call).ok());
  Loser loser;
  auto decide = loser.decide([&] { around.clock.advance_seconds(loser.decisions == 1 ? 4 : 1); });
  const auto ended = RunLoop::run(store::transact(test.call, decide));
  ASSERT_FALSE(ended.ok());
  EXPECT_EQ(loser.decisions, 2);
  EXPECT_EQ(ended.error().code, wire::Code::kOperationTimedOut);
  EXPECT_EQ(ended.error().status, 500);
}

TEST(Deadlines, DoNotMoveWithTheDate) {
  TestContext around;
  TestCall test(around, "timeout=5");
  ASSERT_TRUE(set_deadline(test.call).ok());
  const Time began = around.clock.now();
  around.clock.set(after_seconds(began, 3600));
  EXPECT_FALSE(test.call.deadline.over());
  around.clock.set(after_seconds(began, -3600));
  around.clock.advance_seconds(4);
  EXPECT_FALSE(test.call.deadline.over());
  around.clock.advance_seconds(1);
  EXPECT_TRUE(test.call.deadline.over());
}

TEST(Deadlines, ArePutOffFromWhereTheyBegan) {
  TestContext around;
  TestCall test(around);
  ASSERT_TRUE(set_deadline(test.call).ok());
  around.clock.advance_seconds(40);
  allow_seconds(test.call, 60);
  around.clock.advance_seconds(19);
  EXPECT_FALSE(test.call.deadline.over());
  around.clock.advance_seconds(1);
  EXPECT_TRUE(test.call.deadline.over());
}

TEST(Deadlines, OrTheirNumberEndsTries) {
  TestContext around;
  TestCall test(around);
  const Time began = test.call.now;
  Loser loser;
  auto decide = loser.decide([] {});
  const auto ended = RunLoop::run(store::transact(test.call, decide));
  ASSERT_FALSE(ended.ok());
  EXPECT_EQ(loser.decisions, store::kMaxTries);
  EXPECT_EQ(ended.error().code, wire::Code::kServerBusy);
  // Each decision is made at an instant of its own.
  EXPECT_EQ(test.call.now.ticks, began.ticks + store::kMaxTries - 1);
}

// The second writer waits for its turn longer than it may, and then leaves the record as it is.
TEST(Deadlines, AreAskedForWhenItIsTheRequestsTurn) {
  TestContext around;
  TestCall test(around, "timeout=3");
  ASSERT_TRUE(set_deadline(test.call).ok());
  const store::Key key(1, 'x', "contended");
  const auto waits = [&]() -> Task<wire::Result<http::Reply>> {
    auto held = co_await around.locks.lock(key.bytes());
    bool edited = false;
    const auto edit = [&](std::optional<Value>& value) -> wire::Result<http::Reply> {
      edited = true;
      value = Value{1};
      return http::Reply(200);
    };
    Started<wire::Result<http::Reply>> second(update<Value>(test.call, key, edit));
    around.clock.advance_seconds(3);
    held.release();
    auto ended = co_await second.join();
    EXPECT_FALSE(edited);
    co_return ended;
  };
  const auto ended = RunLoop::run(waits());
  ASSERT_FALSE(ended.ok());
  EXPECT_EQ(ended.error().code, wire::Code::kOperationTimedOut);
  EXPECT_EQ(*RunLoop::run(around.memory.get(key)), nullptr);
}

}  // namespace
}  // namespace kyanite::service
