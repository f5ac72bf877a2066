#include "engine/records.h"

#include <gtest/gtest.h>
#include <rocksdb/db.h>
#include <unistd.h>

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
  auto seen = RunLoop::run(engine->read([](const store::View& view) -> store::Result<void> {
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

constexpr int kMany = 320;
std::string large_value(int i) { return pattern(128 * 1024, static_cast<uint64_t>(i)); }

TEST(RecordsProcess, DISABLED_WritesMany) {
  const auto location = TestProcess::location();
  auto engine = location.open();
  std::vector<Task<void>> writes;
  const auto write = [&](int i) -> Task<void> {
    store::Commit commit;
    commit.writes.push_back({test_key(std::to_string(i)), store::record_of(large_value(i))});
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
