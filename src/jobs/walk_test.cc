#include "jobs/walk.h"

#include <gtest/gtest.h>

#include "jobs/test_support.h"
#include "store/memory.h"
#include "store/test_support.h"

namespace kyanite::jobs {
namespace {

constexpr store::SpaceId kSpace = 7;

class Walks : public testing::Test {
 protected:
  void put(store::Family family, const std::string& partition, const std::string& row = "x") {
    store::Commit commit;
    commit.put(store::Key(kSpace, family, partition, row), store::record_of("value"));
    ASSERT_TRUE(RunLoop::run(store.commit(std::move(commit))).ok());
  }
  Step step(uint64_t looks, std::string from = {}) {
    return Step(store, clock, "account", {.looks = looks}, std::move(from));
  }
  static std::string partition_of(const store::View::Cursor& cursor) {
    return store::Key::from_bytes(std::string(cursor.key())).partition();
  }

  store::MemoryStore store;
  ManualClock clock{Time::from_unix_seconds(1'700'000'000)};
};

TEST_F(Walks, SeeEveryRecordOnceInPortions) {
  for (const auto* name : {"a", "b", "c"}) put('F', name);
  for (const auto* name : {"d", "e"}) put('G', name);
  put('H', "not asked for");
  std::string seen;
  std::string from;
  int portions = 0;
  for (bool at_end = false; !at_end; ++portions) {
    ASSERT_LT(portions, 10);
    Step portion = step(2);
    const See see = [&](const store::View&, const auto& cursor) -> store::Result<bool> {
      seen += partition_of(cursor);
      return true;
    };
    std::vector<store::Range> ranges{store::Range::family(kSpace, 'F'),
                                     store::Range::family(kSpace, 'G')};
    const auto walked = RunLoop::run(walk(portion, std::move(ranges), from, see));
    ASSERT_TRUE(walked.ok());
    EXPECT_LE(portion.looked(), 2U);
    at_end = *walked;
  }
  EXPECT_EQ(seen, "abcde");
  EXPECT_EQ(portions, 3);
}

TEST_F(Walks, GoOnBehindTheRecordWhereTheyWereStopped) {
  for (const auto* name : {"a", "b", "c"}) put('F', name);
  std::string seen;
  std::string from;
  const See see = [&](const store::View&, const auto& cursor) -> store::Result<bool> {
    seen += partition_of(cursor);
    return seen != "a";
  };
  const std::vector<store::Range> ranges(1, store::Range::family(kSpace, 'F'));
  Step first = step(100);
  EXPECT_FALSE(*RunLoop::run(walk(first, ranges, from, see)));
  EXPECT_EQ(seen, "a");
  Step second = step(100);
  EXPECT_TRUE(*RunLoop::run(walk(second, ranges, from, see)));
  EXPECT_EQ(seen, "abc");
}

TEST_F(Walks, PassOverWhatCannotBeRead) {
  for (const auto* name : {"a", "b", "c"}) put('F', name);
  std::string seen;
  std::string from;
  const See see = [&](const store::View&, const auto& cursor) -> store::Result<bool> {
    if (partition_of(cursor) == "b") return store::Error::kCorrupt;
    seen += partition_of(cursor);
    return true;
  };
  const std::vector<store::Range> ranges(1, store::Range::family(kSpace, 'F'));
  Step one = step(100);
  EXPECT_TRUE(*RunLoop::run(walk(one, ranges, from, see)));
  EXPECT_EQ(seen, "ac");
  EXPECT_EQ(one.unreadable(), 1U);
  const See fails = [](const store::View&, const auto&) -> store::Result<bool> {
    return store::Error::kIo;
  };
  from.clear();
  EXPECT_EQ(RunLoop::run(walk(one, ranges, from, fails)).error(), store::Error::kIo);
}

TEST_F(Walks, AStepThatMayNotBeginIsNotAtTheEnd) {
  put('F', "a");
  const std::atomic<bool> stopping = true;
  Step stopped(store, clock, "account", {}, {}, &stopping);
  std::string from;
  const See see = [](const store::View&, const auto&) -> store::Result<bool> { return true; };
  const std::vector<store::Range> ranges(1, store::Range::family(kSpace, 'F'));
  EXPECT_FALSE(*RunLoop::run(walk(stopped, ranges, from, see)));
  EXPECT_EQ(stopped.looked(), 0U);
}

Task<store::Result<bool>> visit_twice(Step& step, std::string& seen, Partition partition,
                                      std::string& key) {
  seen += partition.name + key + " ";
  step.count_changes();
  key += "+";
  co_return key == "++";
}

TEST_F(Walks, PartitionsAreVisitedUntilEachIsThrough) {
  for (const auto* name : {"a", "b", "c"}) {
    put('F', name, "1");
    put('F', name, "2");
  }
  std::string seen;
  const Visit visit = [&seen](Step& at, Partition partition, std::string& key) {
    return visit_twice(at, seen, std::move(partition), key);
  };
  Job job{
      "visits", 1, {.looks = 1}, [&](Step& at) { return walk_partitions(at, kSpace, 'F', visit); }};
  EXPECT_EQ(RunLoop::run(run_round(job, store, clock)), 6U);
  EXPECT_EQ(seen, "a a+ b b+ c c+ ");
  // A cursor of whoever it was leads to the beginning.
  seen.clear();
  Step odd = step(100, "\xff\xff");
  EXPECT_TRUE(*RunLoop::run(job.run(odd)));
  EXPECT_EQ(seen, "a a+ b b+ c c+ ");
}

}  // namespace
}  // namespace kyanite::jobs
