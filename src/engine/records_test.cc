#include "engine/records.h"

#include <gtest/gtest.h>
#include <rocksdb/db.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <thread>

#include "engine/sweep.h"
#include "engine/test_location.h"
#include "engine/test_process.h"

namespace kyanite::engine {
namespace {

using store::Error;
using store::pattern;

// Puts bytes where a record should be, behind the engine's back.
void put_raw(const TestLocation& location, std::string_view name, std::string_view bytes) {
  rocksdb::DB* database = nullptr;
  const auto opened = rocksdb::DB::Open({}, location.path() + "/records", &database);
  ASSERT_TRUE(opened.ok()) << opened.ToString();
  std::unique_ptr<rocksdb::DB> closing(database);
  ASSERT_TRUE(database->Put({}, test_key(name).bytes(), bytes).ok());
  location.forget_logs();
}

TEST(Records, WhatIsNoRecordIsCorruptAndStopsTheSweep) {
  TestLocation location;
  auto engine = location.open();
  const auto dead = append(*engine, pattern(10'000, 1));
  ASSERT_TRUE(put(*engine, "fine", "v").ok());
  engine.reset();
  put_raw(location, "from the future", "\x02what will they think of");
  engine = location.open();
  EXPECT_EQ(get(*engine, "from the future").error(), Error::kCorrupt);
  EXPECT_EQ(get(*engine, "fine").value()->value, "v");
  auto seen = RunLoop::run(engine->look([](const store::View& view) -> store::Result<void> {
    EXPECT_EQ(view.get(test_key("from the future")).error(), Error::kCorrupt);
    auto cursor = view.scan(store::Range::space(1));
    EXPECT_TRUE((*cursor->record())->value == "v");
    cursor->next();
    EXPECT_EQ(cursor->record().error(), Error::kCorrupt);
    return {};
  }));
  EXPECT_TRUE(seen.ok());
  // Its refs are unknown, so nobody knows what is dead.
  auto swept = engine->sweep_now();
  ASSERT_FALSE(swept.ok());
  EXPECT_EQ(swept.error(), Error::kCorrupt);
  EXPECT_TRUE(bytes_of(*engine, *dead) == pattern(10'000, 1));
  // A guard on it cannot be decided; commits beside it can.
  const auto guarded = RunLoop::run(engine->commit(
      {{{test_key("from the future"), nullptr}}, {{test_key("from the future"), nullptr}}}));
  EXPECT_EQ(guarded.error(), Error::kCorrupt);
  EXPECT_TRUE(put(*engine, "from the future", "overwritten").ok());
  EXPECT_TRUE(engine->sweep_now().ok());
}

// Looks at all rows of a test's space; how often the look ran until it was through.
struct Looked {
  store::Result<void> how;
  int times = 0;
  int rows = 0;
};
Looked look(store::Snapshot& snapshot, bool until_enough = false) {
  Looked looked;
  looked.how = RunLoop::run(snapshot.look([&](const store::View& view) -> store::Result<void> {
    ++looked.times;
    looked.rows = 0;
    auto cursor = view.scan(store::Range::space(1));
    for (; cursor->valid(); cursor->next()) {
      ++looked.rows;
      if (until_enough && view.enough()) return {};
    }
    return cursor->status();
  }));
  return looked;
}

TEST(Snapshots, AreLookedAtHereWhatIsInMemoryAndOnAWorkerElse) {
  TestLocation location;
  auto engine = location.open();
  for (int i = 0; i < 300; ++i) ASSERT_TRUE(put(*engine, "row" + std::to_string(i), "v").ok());
  {
    const auto snapshot = engine->snapshot();
    const auto warm = look(*snapshot);
    ASSERT_TRUE(warm.how.ok());
    EXPECT_EQ(warm.times, 1) << "in the memtable";
    EXPECT_EQ(warm.rows, 300);
  }
  engine.reset();  // Opening writes the log's records to a file.
  engine = location.open();
  const auto snapshot = engine->snapshot();
  const auto cold = look(*snapshot);
  ASSERT_TRUE(cold.how.ok());
  EXPECT_EQ(cold.times, 2) << "not in memory";
  EXPECT_EQ(cold.rows, 300);
  const auto again = look(*snapshot);
  ASSERT_TRUE(again.how.ok());
  EXPECT_EQ(again.times, 1) << "in the block cache";
  EXPECT_EQ(again.rows, 300);
}

TEST(Snapshots, ALookDoesNotKeepItsThreadForLong) {
  TestLocation location;
  const auto engine = location.open();
  constexpr int kRows = 6000;
  store::Commit commit;
  for (int i = 0; i < kRows; ++i) {
    commit.put(store::Key(1, 'r', "p", std::to_string(i)), store::record_of("v"));
  }
  ASSERT_TRUE(RunLoop::run(engine->commit(std::move(commit))).ok());
  const auto snapshot = engine->snapshot();
  const auto part = look(*snapshot, true);
  ASSERT_TRUE(part.how.ok());
  EXPECT_EQ(part.times, 1);
  EXPECT_GT(part.rows, 100);
  EXPECT_LT(part.rows, 2000);
  const auto rest = look(*snapshot);
  ASSERT_TRUE(rest.how.ok());
  EXPECT_EQ(rest.times, 1) << "goes on elsewhere";
  EXPECT_EQ(rest.rows, kRows);
  const auto whole = look(*engine->snapshot());
  ASSERT_TRUE(whole.how.ok());
  EXPECT_EQ(whole.times, 2) << "too much for here";
  EXPECT_EQ(whole.rows, kRows);
}

int count_tables(const TestLocation& location) {
  int count = 0;
  for (const auto& file : std::filesystem::directory_iterator(location.path() + "/records")) {
    if (file.path().extension() == ".sst") ++count;
  }
  return count;
}

// However large a file is, reading one of its records needs little of it in memory. Of smaller
// files than this RocksDB keeps all it needs anyway.
TEST(Snapshots, FindARecordAgainInASmallCache) {
  TestLocation location;
  Options options = location.options();
  options.block_cache_bytes = 1 << 20;
  constexpr int kRows = 100'000;
  const auto key = [](int i) { return store::Key(1, 'r', "p", std::to_string(i)); };
  const auto value = [](int i) { return store::record_of(pattern(600, static_cast<uint64_t>(i))); };
  for (int half = 0; half < 2; ++half) {
    auto engine = Engine::open(options);
    ASSERT_TRUE(engine.ok());
    store::Commit commit;
    for (int i = half; i < kRows; i += 2) commit.put(key(i), value(i));
    ASSERT_TRUE(RunLoop::run((*engine)->commit(std::move(commit))).ok());
  }
  // Opening writes each log to a file; the two are merged.
  auto engine = Engine::open(options);
  ASSERT_TRUE(engine.ok());
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (count_tables(location) != 1) {
    ASSERT_LT(std::chrono::steady_clock::now(), deadline);
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  const auto snapshot = (*engine)->snapshot();
  for (int i = 0; i < kRows; i += kRows / 10) {
    int times = 0;
    for (int again = 0; again < 2; ++again) {
      times = 0;
      ASSERT_TRUE(RunLoop::run(snapshot->look([&](const store::View& view) -> store::Result<void> {
                    ++times;
                    auto record = view.get(key(i));
                    if (!record) return record.error();
                    EXPECT_EQ(**record, *value(i));
                    return {};
                  })).ok());
    }
    EXPECT_EQ(times, 1) << "row " << i << " is in memory the second time";
  }
}

constexpr int kMany = 320;
std::string large_value(int i) { return pattern(128 * 1024, static_cast<uint64_t>(i)); }

TEST(RecordsProcess, DISABLED_WritesMany) {
  const auto location = TestProcess::location();
  auto engine = location.open();
  std::vector<Task<void>> writes;
  const auto write = [&](int i) -> Task<void> {
    store::Commit commit;
    commit.put(test_key(std::to_string(i)), store::record_of(large_value(i)));
    CHECK((co_await engine->commit(std::move(commit))).ok());
  };
  for (int i = 0; i < kMany; ++i) writes.push_back(write(i));
  RunLoop::run(store::all(std::move(writes)));
  _exit(0);  // Closes nothing: zeros stay behind the log.
}

TEST(Records, ManyMemtablesAndLogsComeBack) {
  TestLocation location;
  ASSERT_EQ(TestProcess("RecordsProcess.DISABLED_WritesMany", location).wait(), 0);
  auto engine = location.open();
  for (int i = 0; i < kMany; ++i) {
    auto record = get(*engine, std::to_string(i));
    ASSERT_TRUE(record.ok());
    ASSERT_NE(*record, nullptr) << i;
    EXPECT_TRUE((*record)->value == large_value(i)) << i;
  }
}

}  // namespace
}  // namespace kyanite::engine
