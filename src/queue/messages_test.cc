// What many do at once with one queue, and what failures of the store leave behind.
#include "queue/messages.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <thread>

#include "base/executor.h"
#include "queue/indexes.h"
#include "store/memory.h"

namespace kyanite::queue {
namespace {

const Time kStart = Time::from_unix_seconds(1'700'000'000);
constexpr store::SpaceId kSpace = 42;

// The reference store, with commits that can be made to fail.
class FailingStore final : public store::MemoryStore {
 public:
  // How the next commit fails, and whether it is applied nevertheless.
  std::optional<store::Error> next_error;
  bool applied = false;

  Task<store::Result<void>> commit(store::Commit commit) override {
    const auto error = std::exchange(next_error, std::nullopt);
    if (!error) co_return co_await MemoryStore::commit(std::move(commit));
    if (applied) {
      auto done = co_await MemoryStore::commit(std::move(commit));
      EXPECT_TRUE(done);
    }
    co_return *error;
  }
};

class MessagesTest : public testing::Test {
 protected:
  // Each thread has an occasion of its own, for one operation after the other.
  store::Occasion& occasion() {
    thread_local std::optional<store::Occasion> mine;
    mine.emplace(store, locks, date);
    return *mine;
  }
  Messages messages() { return {occasion(), kSpace, indexes.of(kSpace)}; }
  wire::Result<Standing> put_one(std::string text, Time now = kStart) {
    return RunLoop::run(put(messages(), std::move(text), now, 0, kNever));
  }
  wire::Result<std::vector<Standing>> take_some(size_t most, Time now = kStart) {
    return RunLoop::run(take(messages(), now, 30, most));
  }
  std::vector<std::string> texts(size_t most, Time now = kStart) {
    auto taken = take_some(most, now);
    EXPECT_TRUE(taken);
    std::vector<std::string> result;
    for (const auto& each : *taken) result.push_back(each.message.text);
    return result;
  }
  // As after a restart.
  void forget_all() { indexes.drop(kSpace); }

  FailingStore store;
  store::KeyedLocks locks;
  ManualClock date{kStart};
  Indexes indexes;
};

TEST_F(MessagesTest, AreFoundAgainAfterARestart) {
  ASSERT_TRUE(put_one("a"));
  ASSERT_TRUE(put_one("b"));
  ASSERT_EQ(texts(1), std::vector<std::string>{"a"});
  forget_all();
  EXPECT_EQ(texts(5), std::vector<std::string>{"b"});
  EXPECT_EQ(texts(5, after_seconds(kStart, 30)), (std::vector<std::string>{"a", "b"}));
}

TEST_F(MessagesTest, MoreThanTheWindowHolds) {
  const size_t total = 3 * Window::kCapacity;
  for (size_t i = 0; i < total; ++i) ASSERT_TRUE(put_one(std::to_string(i)));
  EXPECT_EQ(RunLoop::run(count_messages(messages(), kStart)).value(), total);
  size_t next = 0;
  while (next < total) {
    const auto got = texts(32);
    ASSERT_FALSE(got.empty());
    for (const auto& text : got) ASSERT_EQ(text, std::to_string(next++));
  }
  EXPECT_TRUE(texts(1).empty());
  EXPECT_EQ(RunLoop::run(count_messages(messages(), kStart)).value(), total);
  // They all come back, in the same order.
  forget_all();
  EXPECT_EQ(RunLoop::run(count_messages(messages(), kStart)).value(), total);
  const Time later = after_seconds(kStart, 30);
  for (next = 0; next < total;) {
    for (const auto& text : texts(32, later)) ASSERT_EQ(text, std::to_string(next++));
  }
}

struct FailureCase {
  const char* name;
  store::Error error;
  bool applied;
};
class Failures : public MessagesTest, public testing::WithParamInterface<FailureCase> {
 protected:
  void fail_next() {
    store.next_error = GetParam().error;
    store.applied = GetParam().applied;
  }
};

// Whatever became of a commit whose outcome is unknown, the index agrees with the store afterwards.
TEST_P(Failures, OfPut) {
  fail_next();
  EXPECT_FALSE(put_one("x"));
  EXPECT_EQ(texts(5).size(), GetParam().applied ? 1u : 0u);
}
TEST_P(Failures, OfTake) {
  ASSERT_TRUE(put_one("x"));
  fail_next();
  EXPECT_FALSE(take_some(1));
  EXPECT_EQ(texts(5).size(), GetParam().applied ? 0u : 1u);
  EXPECT_EQ(texts(5, after_seconds(kStart, 30)).size(), 1u);
}
TEST_P(Failures, OfUpdate) {
  auto standing = put_one("x");
  ASSERT_TRUE(standing);
  const Ticket ticket{standing->place.position.id, standing->receipt()};
  fail_next();
  EXPECT_FALSE(RunLoop::run(update(messages(), ticket, kStart, 10, std::nullopt)));
  EXPECT_EQ(texts(5).size(), GetParam().applied ? 0u : 1u);
  EXPECT_EQ(texts(5, after_seconds(kStart, 30)).size(), 1u);
}
TEST_P(Failures, OfRemove) {
  auto standing = put_one("x");
  ASSERT_TRUE(standing);
  const Ticket ticket{standing->place.position.id, standing->receipt()};
  fail_next();
  EXPECT_FALSE(RunLoop::run(discard(messages(), ticket, kStart)));
  EXPECT_EQ(texts(5).size(), GetParam().applied ? 0u : 1u);
}
INSTANTIATE_TEST_SUITE_P(Messages, Failures,
                         testing::Values(FailureCase{"Full", store::Error::kFull, false},
                                         FailureCase{"LostAnswer", store::Error::kIo, true},
                                         FailureCase{"LostCommit", store::Error::kIo, false}),
                         [](const auto& each) { return each.param.name; });

TEST_F(MessagesTest, ConflictIsDecidedAgain) {
  ASSERT_TRUE(put_one("x"));
  store.next_error = store::Error::kConflict;
  EXPECT_EQ(texts(1).size(), 1u);
}

// Another process, or an index that went wrong: guards decide, the index is repaired.
TEST_F(MessagesTest, TwoIndexesNeverHandOutTheSameMessage) {
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(put_one(std::to_string(i)));
  store::Occasion one(store, locks, date);
  const Messages first{one, kSpace, std::make_shared<Index>()};
  const Messages second{one, kSpace, std::make_shared<Index>()};
  EXPECT_EQ(RunLoop::run(peek(first, kStart, 32)).value().size(), 10u);
  EXPECT_EQ(RunLoop::run(peek(second, kStart, 32)).value().size(), 10u);
  EXPECT_EQ(RunLoop::run(take(first, kStart, 30, 4)).value().size(), 4u);
  EXPECT_EQ(RunLoop::run(take(second, kStart, 30, 32)).value().size(), 6u);
  EXPECT_EQ(RunLoop::run(take(first, kStart, 30, 32)).value().size(), 0u);
}

TEST_F(MessagesTest, OneReceiptWorksOnce) {
  ASSERT_TRUE(put_one("x"));
  const auto taken = take_some(1).value()[0];
  const Ticket ticket{taken.place.position.id, taken.receipt()};
  std::atomic<int> removed{0};
  std::atomic<int> refused{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      auto done = RunLoop::run(discard(messages(), ticket, kStart));
      ++(done ? removed : refused);
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(removed, 1);
  EXPECT_EQ(refused, 7);
}

// Producers and consumers on many threads, some of whom never delete what they took: every message
// is handled, none is held by two at a time, none is left.
TEST_F(MessagesTest, ManyProducersAndConsumers) {
  constexpr int kProducers = 4;
  constexpr int kConsumers = 8;
  constexpr int kEach = 500;
  std::atomic<int64_t> clock{kStart.ticks};
  std::atomic<int> left{kProducers * kEach};
  std::mutex mutex;
  std::map<std::string, std::set<Time>> taken_at;
  std::vector<std::thread> threads;
  for (int producer = 0; producer < kProducers; ++producer) {
    threads.emplace_back([&, producer] {
      for (int i = 0; i < kEach; ++i) {
        const std::string text = std::to_string(producer) + "/" + std::to_string(i);
        EXPECT_TRUE(put_one(text, {clock.fetch_add(1)}));
      }
    });
  }
  for (int consumer = 0; consumer < kConsumers; ++consumer) {
    threads.emplace_back([&, consumer] {
      for (int round = 0; left > 0; ++round) {
        const Time now{clock.fetch_add(kTicksPerSecond / 100)};
        auto taken = RunLoop::run(take(messages(), now, 1, static_cast<size_t>(1 + consumer % 3)));
        ASSERT_TRUE(taken);
        for (const auto& each : *taken) {
          std::lock_guard lock(mutex);
          EXPECT_TRUE(taken_at[each.message.text].insert(now).second) << each.message.text;
        }
        for (const auto& each : *taken) {
          if ((round + consumer) % 5 == 0) continue;  // This consumer dies here.
          const Ticket ticket{each.place.position.id, each.receipt()};
          if (RunLoop::run(discard(messages(), ticket, now))) --left;
        }
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(left, 0);
  EXPECT_EQ(taken_at.size(), static_cast<size_t>(kProducers * kEach));
  for (const auto& [text, times] : taken_at) {
    std::optional<Time> free;
    for (const Time time : times) {
      EXPECT_LE(free.value_or(time), time) << text << " was held by two at a time";
      free = after_seconds(time, 1);
    }
  }
  const Time end = after_seconds(Time{clock.load()}, 100);
  EXPECT_TRUE(texts(1, end).empty());
  EXPECT_EQ(RunLoop::run(count_messages(messages(), end)).value(), 0u);
  forget_all();
  EXPECT_TRUE(texts(1, end).empty());
}

TEST(Indexes, KeepsThoseInUse) {
  Indexes indexes;
  const auto held = indexes.of(1);
  for (store::SpaceId space = 2; space < 3 * Indexes::kMostKept; ++space) indexes.of(space);
  EXPECT_LE(indexes.size(), Indexes::kMostKept);
  EXPECT_EQ(indexes.of(1), held);
}

}  // namespace
}  // namespace kyanite::queue
