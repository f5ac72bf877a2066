#include "service/storage.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "base/executor.h"
#include "service/test_support.h"
#include "store/test_support.h"

namespace kyanite::service {
namespace {

struct Counter {
  uint64_t value = 0;
  template <class Io>
  void fields(Io& io) {
    io(1, value);
  }
};

const store::Key kKey(1, 'K', "counter");

// A store whose next commits fail.
class FlakyStore final : public store::MemoryStore {
 public:
  store::Error error = store::Error::kConflict;
  int failures = 0;  // How many commits fail from now on.
  int commits = 0;   // How many were tried.

  Task<store::Result<void>> commit(store::Commit commit) override {
    ++commits;
    if (failures > 0) {
      --failures;
      co_return error;
    }
    co_return co_await MemoryStore::commit(std::move(commit));
  }
};

auto increment(int& edits) {
  return [&edits](std::optional<Counter>& counter) -> wire::Result<http::Reply> {
    ++edits;
    if (!counter) counter.emplace();
    ++counter->value;
    return http::Reply(200);
  };
}

std::optional<uint64_t> stored_value(store::Store& store) {
  const auto record = RunLoop::run(store.get(kKey));
  if (*record == nullptr) return {};
  return store::decode<Counter>((*record)->value)->value;
}

TEST(Update, CreatesChangesAndDeletes) {
  TestContext around;
  TestCall test(around);
  int edits = 0;
  for (uint64_t expected : {1, 2}) {
    ASSERT_TRUE(RunLoop::run(update<Counter>(test.call, kKey, increment(edits))).ok());
    EXPECT_EQ(stored_value(around.memory), expected);
  }
  const auto clear = [](std::optional<Counter>& counter) -> wire::Result<http::Reply> {
    counter.reset();
    return http::Reply(202);
  };
  for (int i = 0; i < 2; ++i) {  // The second time there is nothing to delete.
    const auto reply = RunLoop::run(update<Counter>(test.call, kKey, clear));
    ASSERT_TRUE(reply.ok());
    EXPECT_EQ(reply->status, 202);
    EXPECT_EQ(stored_value(around.memory), std::nullopt);
  }
}

TEST(Update, ARefusalChangesNothing) {
  TestContext around;
  TestCall test(around);
  const auto reply = RunLoop::run(update<Counter>(
      test.call, kKey, [](std::optional<Counter>& counter) -> wire::Result<http::Reply> {
        counter.emplace().value = 7;
        return wire::Error(wire::Code::kConditionNotMet);
      }));
  ASSERT_FALSE(reply.ok());
  EXPECT_EQ(reply.error().code, wire::Code::kConditionNotMet);
  EXPECT_EQ(stored_value(around.memory), std::nullopt);
}

TEST(Update, DecidesAnewAfterEveryConflict) {
  FlakyStore store;
  TestContext around(store);
  TestCall test(around);
  store.failures = store::kMaxTries - 1;
  int edits = 0;
  const auto reply = RunLoop::run(update<Counter>(test.call, kKey, increment(edits)));
  ASSERT_TRUE(reply.ok());
  EXPECT_EQ(edits, store::kMaxTries);
  EXPECT_EQ(stored_value(store), 1u);
}

TEST(Update, GivesUpAsBusyWhenConflictsDoNotEnd) {
  FlakyStore store;
  TestContext around(store);
  TestCall test(around);
  store.failures = store::kMaxTries;
  int edits = 0;
  const auto reply = RunLoop::run(update<Counter>(test.call, kKey, increment(edits)));
  ASSERT_FALSE(reply.ok());
  EXPECT_EQ(reply.error().code, wire::Code::kServerBusy);
  EXPECT_EQ(store.commits, store::kMaxTries);
  EXPECT_EQ(stored_value(store), std::nullopt);
}

TEST(Update, OtherFailuresAreToldAtOnce) {
  const std::pair<store::Error, wire::Code> cases[] = {
      {store::Error::kFull, wire::Code::kServerBusy},
      {store::Error::kIo, wire::Code::kInternalError},
      {store::Error::kCorrupt, wire::Code::kInternalError}};
  for (const auto& [error, code] : cases) {
    FlakyStore store;
    TestContext around(store);
    TestCall test(around);
    store.error = error;
    store.failures = 1;
    int edits = 0;
    const auto reply = RunLoop::run(update<Counter>(test.call, kKey, increment(edits)));
    ASSERT_FALSE(reply.ok()) << store::describe(error);
    EXPECT_EQ(reply.error().code, code) << store::describe(error);
    EXPECT_EQ(edits, 1);
    EXPECT_EQ(store.commits, 1);
  }
}

TEST(Update, ARecordOfAnUnknownFormatIsDamaged) {
  TestContext around;
  TestCall test(around);
  store::Commit commit;
  commit.put(kKey, store::record_of("\x7f"));
  ASSERT_TRUE(RunLoop::run(around.memory.commit(std::move(commit))).ok());
  int edits = 0;
  const auto reply = RunLoop::run(update<Counter>(test.call, kKey, increment(edits)));
  ASSERT_FALSE(reply.ok());
  EXPECT_EQ(reply.error().code, wire::Code::kInternalError);
  EXPECT_EQ(edits, 0);
}

// Increments by `times` calls at once, all on one executor.
void increment_concurrently(TestContext& around, int times) {
  const auto one = [](TestContext& shared) -> Task<void> {
    TestCall test(shared);
    int edits = 0;
    const auto reply = co_await update<Counter>(test.call, kKey, increment(edits));
    EXPECT_TRUE(reply.ok());
  };
  std::vector<Task<void>> tasks;
  for (int i = 0; i < times; ++i) tasks.push_back(one(around));
  RunLoop::run(store::all(std::move(tasks)));
}

TEST(Update, ConcurrentUpdatesOfOneRecordLoseNothing) {
  constexpr int kThreads = 4;
  constexpr int kTimes = 250;
  TestContext around;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i)
    threads.emplace_back([&] { increment_concurrently(around, kTimes); });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(stored_value(around.memory), uint64_t{kThreads * kTimes});
}

// Two servers on one store share no locks: only the guards keep them apart.
TEST(Update, WritersWithoutCommonLocksLoseNothing) {
  store::MemoryStore memory;
  constexpr int kTimes = 250;
  auto server = [&] {
    TestContext around(memory);
    increment_concurrently(around, kTimes);
  };
  std::thread other(server);
  server();
  other.join();
  EXPECT_EQ(stored_value(memory), uint64_t{2 * kTimes});
}

}  // namespace
}  // namespace kyanite::service
