// What every store::Store keeps, as one test suite. An implementation's test file includes this
// once and instantiates it:
//
//   INSTANTIATE_TEST_SUITE_P(Memory, StoreContract, testing::Values(MakeStore(make_memory)));
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/executor.h"
#include "store/store.h"
#include "store/test_support.h"

namespace kyanite::store {

struct StoreUnderTest {
  std::shared_ptr<Store> store;
  // Reclaims whatever bytes may be reclaimed now; does nothing where bytes are never reclaimed.
  std::function<void()> reclaim = [] {};
};
using MakeStore = std::function<StoreUnderTest()>;

class StoreContract : public testing::TestWithParam<MakeStore> {
 protected:
  StoreContract() : under_test_(GetParam()()), store_(*under_test_.store) {}

  static Key key(std::string_view row, std::string_view partition = "p") {
    return Key(7, 'r', partition, row);
  }
  RecordPtr get(const Key& key) {
    auto found = RunLoop::run(store_.get(key));
    EXPECT_TRUE(found.ok());
    return found.ok() ? *found : nullptr;
  }
  std::string value(const Key& key) {
    auto found = get(key);
    return found == nullptr ? "(absent)" : found->value;
  }
  // "ok" or what went wrong.
  std::string commit(Commit commit) {
    auto result = RunLoop::run(store_.commit(std::move(commit)));
    return result.ok() ? "ok" : describe(result.error());
  }
  std::string put(const Key& key, std::string value, std::vector<Ref> refs = {}) {
    return commit({{}, {{key, record_of(std::move(value), std::move(refs))}}});
  }
  std::string conflict() const { return describe(Error::kConflict); }
  std::vector<Ref> append_all(const std::vector<std::string>& runs) {
    std::vector<Buffer> buffers;
    for (const auto& run : runs) buffers.push_back(Buffer::copy_of(run));
    auto refs = RunLoop::run(store_.append_all(std::move(buffers)));
    EXPECT_TRUE(refs.ok() && refs->size() == runs.size());
    return refs.ok() ? *refs : std::vector<Ref>(runs.size());
  }
  Ref append(std::string_view bytes) {
    auto ref = RunLoop::run(store_.append(Buffer::copy_of(bytes)));
    EXPECT_TRUE(ref.ok());
    return ref.ok() ? *ref : Ref{};
  }
  std::string read(const Ref& ref, uint32_t offset, uint32_t length, bool prefer_file = false) {
    auto bytes = RunLoop::run(store_.read_run(ref, offset, length, prefer_file));
    return bytes.ok() ? text_of(*bytes) : describe(bytes.error());
  }
  std::string read(const Ref& ref) { return read(ref, 0, ref.length); }
  // Keys' rows of a scan, in order.
  std::vector<std::string> rows(const Range& range) {
    std::vector<std::string> out;
    auto seen = RunLoop::run(store_.look([&](const View& view) -> Result<void> {
      auto cursor = view.scan(range);
      for (; cursor->valid(); cursor->next()) {
        out.emplace_back(Key::from_bytes(std::string(cursor->key())).row());
      }
      return cursor->status();
    }));
    EXPECT_TRUE(seen.ok());
    return out;
  }

  StoreUnderTest under_test_;
  Store& store_;
};

TEST_P(StoreContract, AbsentUntilCommitted) {
  EXPECT_EQ(get(key("a")), nullptr);
  EXPECT_EQ(put(key("a"), "1"), "ok");
  EXPECT_EQ(value(key("a")), "1");
  EXPECT_EQ(value(key("b")), "(absent)");
}

TEST_P(StoreContract, BlindWritesOverwriteAndDelete) {
  EXPECT_EQ(put(key("a"), "1"), "ok");
  EXPECT_EQ(put(key("a"), "2"), "ok");
  EXPECT_EQ(value(key("a")), "2");
  EXPECT_EQ(commit({{}, {{key("a"), nullptr}}}), "ok");
  EXPECT_EQ(value(key("a")), "(absent)");
  EXPECT_EQ(commit({{}, {{key("a"), nullptr}}}), "ok");
}

TEST_P(StoreContract, LaterWritesToOneKeyWin) {
  EXPECT_EQ(commit({{},
                    {{key("a"), record_of("1")},
                     {key("a"), record_of("2")},
                     {key("b"), record_of("1")},
                     {key("b"), nullptr}}}),
            "ok");
  EXPECT_EQ(value(key("a")), "2");
  EXPECT_EQ(value(key("b")), "(absent)");
}

TEST_P(StoreContract, ACommitIsNoLargerThanItMayBe) {
  ASSERT_EQ(put(key("a"), "1"), "ok");
  Commit many;
  many.put(key("a"), record_of("2"));
  while (many.writes.size() <= kMaxCommitRecords) many.remove(key("b"));
  EXPECT_EQ(commit(many), describe(Error::kTooLarge));
  Commit long_ones;
  const auto value_of_4_mib = record_of(std::string(4 << 20, 'x'));
  for (size_t i = 0; i < kMaxCommitBytes / (4 << 20); ++i) long_ones.put(key("a"), value_of_4_mib);
  EXPECT_EQ(commit(std::move(long_ones)), describe(Error::kTooLarge));
  EXPECT_EQ(value(key("a")), "1");
  many.writes.pop_back();
  EXPECT_EQ(commit(std::move(many)), "ok");
  EXPECT_EQ(value(key("a")), "2");
}

TEST_P(StoreContract, GuardsCompareContents) {
  struct Case {
    const char* stored;    // null: absent
    const char* expected;  // null: absent
    bool holds;
  };
  const Case cases[] = {{nullptr, nullptr, true}, {nullptr, "1", false}, {"1", "1", true},
                        {"1", "2", false},        {"1", nullptr, false}, {"1", "11", false}};
  for (const auto& each : cases) {
    commit({{},
            {{key("a"), each.stored == nullptr ? nullptr : record_of(each.stored)},
             {key("b"), nullptr}}});
    const auto expected = each.expected == nullptr ? nullptr : record_of(each.expected);
    const auto result = commit({{{key("a"), expected}}, {{key("b"), record_of("written")}}});
    EXPECT_EQ(result, each.holds ? "ok" : conflict());
    EXPECT_EQ(value(key("b")), each.holds ? "written" : "(absent)");
  }
}

TEST_P(StoreContract, GuardsCompareRefsToo) {
  const Ref one = append("one");
  const Ref two = append("two");
  ASSERT_EQ(put(key("a"), "same", {one}), "ok");
  EXPECT_EQ(commit({{{key("a"), record_of("same", {two})}}, {{key("a"), nullptr}}}), conflict());
  EXPECT_EQ(commit({{{key("a"), record_of("same")}}, {{key("a"), nullptr}}}), conflict());
  EXPECT_EQ(commit({{{key("a"), record_of("same", {one})}}, {{key("a"), nullptr}}}), "ok");
}

TEST_P(StoreContract, OneFailedGuardStopsAllWrites) {
  ASSERT_EQ(put(key("a"), "1"), "ok");
  EXPECT_EQ(commit({{{key("a"), record_of("1")}, {key("b"), record_of("1")}},
                    {{key("a"), record_of("2")}, {key("c"), record_of("2")}}}),
            conflict());
  EXPECT_EQ(value(key("a")), "1");
  EXPECT_EQ(value(key("c")), "(absent)");
}

TEST_P(StoreContract, GuardsAloneAreACheck) {
  ASSERT_EQ(put(key("a"), "1"), "ok");
  EXPECT_EQ(commit({{{key("a"), record_of("1")}}, {}}), "ok");
  EXPECT_EQ(commit({{{key("a"), nullptr}}, {}}), conflict());
}

TEST_P(StoreContract, WhatWasGotIsGoodAsAGuard) {
  ASSERT_EQ(put(key("a"), "1"), "ok");
  const auto seen = get(key("a"));
  EXPECT_EQ(commit({{{key("a"), seen}}, {{key("a"), record_of("2")}}}), "ok");
  EXPECT_EQ(commit({{{key("a"), seen}}, {{key("a"), record_of("3")}}}), conflict());
  EXPECT_EQ(value(key("a")), "2");
}

TEST_P(StoreContract, ABAIsNotAConflictBecauseGuardsCompareContents) {
  ASSERT_EQ(put(key("a"), "1"), "ok");
  const auto seen = get(key("a"));
  ASSERT_EQ(put(key("a"), "2"), "ok");
  ASSERT_EQ(put(key("a"), "1"), "ok");
  EXPECT_EQ(commit({{{key("a"), seen}}, {{key("a"), record_of("3")}}}), "ok");
}

TEST_P(StoreContract, AllFamiliesOfAPartitionCommitTogether) {
  const Key head(7, 'h', "blob", "");
  const Key block(7, 'b', "blob", "id");
  ASSERT_EQ(commit({{{head, nullptr}}, {{head, record_of("h")}, {block, record_of("b")}}}), "ok");
  EXPECT_EQ(value(head), "h");
  EXPECT_EQ(value(block), "b");
}

TEST_P(StoreContract, ValuesMayHoldAnyBytesAndBeLarge) {
  for (const std::string& bytes :
       {std::string(1, '\0'), std::string("\xff\xfe\0x", 4), pattern(300 * 1024, 1)}) {
    ASSERT_EQ(put(key("a"), bytes), "ok");
    EXPECT_TRUE(get(key("a"))->value == bytes);
  }
}

TEST_P(StoreContract, ScansAreInKeyOrder) {
  using namespace std::string_literals;
  const std::vector<std::string> ordered = {""s,  "\0"s,  "\0\0"s, "\0\1"s, "\0\xff"s, "\1"s,
                                            "a"s, "a\0"s, "aa"s,   "b"s,    "\xff"s,   "\xff\xff"s};
  for (size_t i = 0; i < ordered.size(); ++i) {
    ASSERT_EQ(put(key(ordered[(i * 5) % ordered.size()]), "v"), "ok");
  }
  EXPECT_EQ(rows(Range::rows(7, 'r', "p")), ordered);
  EXPECT_EQ(rows(Range::rows(7, 'r', "p", "a")), (std::vector{"a"s, "a\0"s, "aa"s}));
  EXPECT_EQ(rows(Range::rows(7, 'r', "p", "\xff")), (std::vector{"\xff"s, "\xff\xff"s}));
}

TEST_P(StoreContract, PartitionsAreInNameOrderAndApart) {
  using namespace std::string_literals;
  const std::vector<std::string> names = {"a"s, "a\0"s, "a\0b"s, "a\1"s, "aa"s, "b"s};
  for (const auto& name : names) {
    ASSERT_EQ(put(key(name, name), "v"), "ok");
    ASSERT_EQ(put(Key(7, 's', name, "other family"), "v"), "ok");
    ASSERT_EQ(put(Key(8, 'r', name, "other space"), "v"), "ok");
  }
  EXPECT_EQ(rows(Range::family(7, 'r')), names);
  EXPECT_EQ(rows(Range::rows(7, 'r', "a")), std::vector{"a"s});
  EXPECT_EQ(rows(Range::partition_prefix(7, 'r', "a\0"s)), (std::vector{"a\0"s, "a\0b"s}));
  EXPECT_EQ(rows(Range::space(7)).size(), 2 * names.size());
  EXPECT_EQ(rows(Range::space(9)).size(), 0u);
}

TEST_P(StoreContract, CursorsSeekWithinTheirRange) {
  for (const char* row : {"a", "c", "e", "g"}) ASSERT_EQ(put(key(row), row), "ok");
  Range range = Range::rows(7, 'r', "p");
  range.start_at(key("b").bytes());
  range.end_before(key("f").bytes());
  auto seen = RunLoop::run(store_.look([&](const View& view) -> Result<void> {
    auto cursor = view.scan(range);
    auto at = [&]() -> std::string {
      if (!cursor->valid()) return "(end)";
      EXPECT_EQ(*cursor->value(), (*cursor->record())->value);
      return std::string(*cursor->value());
    };
    EXPECT_EQ(at(), "c");
    cursor->seek(key("d").bytes());
    EXPECT_EQ(at(), "e");
    cursor->next();
    EXPECT_EQ(at(), "(end)");
    cursor->seek(key("c").bytes());
    EXPECT_EQ(at(), "c");
    cursor->seek(key("a").bytes());
    EXPECT_EQ(at(), "c") << "never before the range";
    cursor->seek(key("g").bytes());
    EXPECT_EQ(at(), "(end)") << "never past the range";
    EXPECT_TRUE(cursor->status().ok());
    return {};
  }));
  EXPECT_TRUE(seen.ok());
}

TEST_P(StoreContract, AViewIsOneSnapshot) {
  for (int i = 0; i < 50; ++i) ASSERT_EQ(put(key(std::to_string(i)), "old"), "ok");
  auto seen = RunLoop::run(store_.look([&](const View& view) -> Result<void> {
    auto cursor = view.scan(Range::rows(7, 'r', "p"));
    std::thread writer([&] {
      for (int i = 0; i < 50; ++i) EXPECT_EQ(put(key(std::to_string(i)), "new"), "ok");
      EXPECT_EQ(put(key("more"), "new"), "ok");
    });
    writer.join();
    int count = 0;
    for (; cursor->valid(); cursor->next(), ++count) {
      EXPECT_EQ((*cursor->record())->value, "old");
    }
    EXPECT_EQ(count, 50);
    EXPECT_EQ((*view.get(key("7")))->value, "old");
    EXPECT_EQ(*view.get(key("more")), nullptr);
    return {};
  }));
  EXPECT_TRUE(seen.ok());
  EXPECT_EQ(value(key("7")), "new");
  EXPECT_EQ(rows(Range::rows(7, 'r', "p")).size(), 51u);
}

TEST_P(StoreContract, ASnapshotIsTheSameInEveryLook) {
  for (int i = 100; i < 150; ++i) ASSERT_EQ(put(key(std::to_string(i)), "old"), "ok");
  const auto snapshot = store_.snapshot();
  ASSERT_EQ(put(key("120"), "new"), "ok");  // The first look takes it.
  for (int look = 0; look < 3; ++look) {
    int count = 0;
    auto seen = RunLoop::run(snapshot->look([&](const View& view) -> Result<void> {
      count = 0;  // A look may run twice.
      auto cursor = view.scan(Range::rows(7, 'r', "p"));
      for (; cursor->valid(); cursor->next(), ++count) {
        auto record = cursor->record();
        if (!record) return record.error();
        EXPECT_EQ((*record)->value, count == 20 ? "new" : "old");
      }
      auto got = view.get(key("121"));
      if (!got) return got.error();
      EXPECT_EQ((*got)->value, "old");
      return cursor->status();
    }));
    EXPECT_TRUE(seen.ok());
    EXPECT_EQ(count, 50);
    ASSERT_EQ(put(key("121"), "new"), "ok");
    ASSERT_EQ(put(key("more" + std::to_string(look)), "new"), "ok");
  }
  EXPECT_EQ(value(key("121")), "new");
}

TEST_P(StoreContract, SnapshotsAreNotInTheWayOfEachOther) {
  std::vector<std::unique_ptr<Snapshot>> snapshots;
  const auto seen_by = [&](Snapshot& snapshot) {
    std::string seen;
    const auto looked = RunLoop::run(snapshot.look([&](const View& view) -> Result<void> {
      auto got = view.get(key("k"));
      if (!got) return got.error();
      seen = (*got)->value;
      return {};
    }));
    return looked.ok() ? seen : describe(looked.error());
  };
  for (int i = 0; i < 20; ++i) {
    ASSERT_EQ(put(key("k"), std::to_string(i)), "ok");
    snapshots.push_back(store_.snapshot());
    EXPECT_EQ(seen_by(*snapshots.back()), std::to_string(i));
  }
  for (size_t i = 0; i < 20; i += 2) snapshots[i].reset();
  for (size_t i = 1; i < 20; i += 2) EXPECT_EQ(seen_by(*snapshots[i]), std::to_string(i));
  store_.snapshot();  // One that is never looked at.
}

TEST_P(StoreContract, ErrorsOfASnapshotsLookComeBack) {
  auto seen = RunLoop::run(
      store_.snapshot()->look([](const View&) -> Result<void> { return Error::kCorrupt; }));
  ASSERT_FALSE(seen.ok());
  EXPECT_EQ(seen.error(), Error::kCorrupt);
}

TEST_P(StoreContract, AScanShowsEveryEntryOfItsRangeOnce) {
  Commit commit;
  for (int i = 1000; i < 3000; ++i)
    commit.put(key(std::to_string(i)), record_of(std::to_string(i)));
  ASSERT_TRUE(RunLoop::run(store_.commit(std::move(commit))).ok());
  int at = 1500;
  Range range = Range::rows(7, 'r', "p");
  range.start_at(key("1500").bytes());
  range.end_before(key("2600").bytes());
  const See see = [&](const View::Cursor& cursor) -> Result<bool> {
    EXPECT_EQ(std::string(cursor.key()), key(std::to_string(at)).bytes());
    auto seen = cursor.value();
    if (!seen) return seen.error();
    EXPECT_EQ(*seen, std::to_string(at++));
    return true;
  };
  EXPECT_TRUE(RunLoop::run(scan(store_, range, see)).ok());
  EXPECT_EQ(at, 2600);
}

TEST_P(StoreContract, AScanEndsWhenItIsToldTo) {
  for (int i = 0; i < 9; ++i) ASSERT_EQ(put(key(std::to_string(i)), "v"), "ok");
  int seen = 0;
  const auto some = [&](const View::Cursor&) -> Result<bool> { return ++seen < 4; };
  EXPECT_TRUE(RunLoop::run(scan(store_, Range::rows(7, 'r', "p"), some)).ok());
  EXPECT_EQ(seen, 4);
  const auto fails = [](const View::Cursor&) -> Result<bool> { return Error::kCorrupt; };
  const auto failed = RunLoop::run(scan(store_, Range::rows(7, 'r', "p"), fails));
  EXPECT_EQ(failed.error(), Error::kCorrupt);
  const auto never = [](const View::Cursor&) -> Result<bool> {
    ADD_FAILURE() << "nothing is there";
    return true;
  };
  EXPECT_TRUE(RunLoop::run(scan(store_, Range::rows(7, 'r', "none"), never)).ok());
}

TEST_P(StoreContract, AScanObeysItsDeadline) {
  ASSERT_EQ(put(key("a"), "v"), "ok");
  ManualClock clock(Time::from_unix_seconds(1'600'000'000));
  const Deadline deadline(clock, 30);
  int seen = 0;
  const auto all = [&](const View::Cursor&) -> Result<bool> { return ++seen > 0; };
  EXPECT_TRUE(RunLoop::run(scan(store_, Range::rows(7, 'r', "p"), all, deadline)).ok());
  clock.advance_seconds(30);
  const auto late = RunLoop::run(scan(store_, Range::rows(7, 'r', "p"), all, deadline));
  EXPECT_EQ(late.error(), Error::kTimeout);
  EXPECT_EQ(seen, 1);
}

TEST_P(StoreContract, ErrorsOfTheLookComeBack) {
  auto seen =
      RunLoop::run(store_.look([](const View&) -> Result<void> { return Error::kCorrupt; }));
  ASSERT_FALSE(seen.ok());
  EXPECT_EQ(seen.error(), Error::kCorrupt);
}

TEST_P(StoreContract, RecordsGiveTheirRefsBack) {
  std::vector<Ref> refs;
  for (int i = 0; i < 20; ++i) refs.push_back(append(pattern(100, static_cast<uint64_t>(i))));
  ASSERT_EQ(put(key("a"), "v", refs), "ok");
  EXPECT_EQ(get(key("a"))->refs, refs);
  auto seen = RunLoop::run(store_.look([&](const View& view) -> Result<void> {
    EXPECT_EQ((*view.get(key("a")))->refs, refs);
    return {};
  }));
  EXPECT_TRUE(seen.ok());
}

TEST_P(StoreContract, RunsReadBackWholeAndInPart) {
  uint64_t seed = 1;
  for (uint32_t length : {1u, 2u, 4095u, 4096u, 4097u, 65536u, kMaxRunBytes - 1, kMaxRunBytes}) {
    const std::string bytes = pattern(length, ++seed);
    const Ref ref = append(bytes);
    ASSERT_EQ(ref.length, length);
    for (bool prefer_file : {false, true, true}) {
      EXPECT_TRUE(read(ref, 0, length, prefer_file) == bytes) << length;
      EXPECT_TRUE(read(ref, length / 3, length - length / 3, prefer_file) ==
                  bytes.substr(length / 3));
      EXPECT_TRUE(read(ref, length - 1, 1, prefer_file) == bytes.substr(length - 1));
      EXPECT_TRUE(read(ref, length / 2, 0, prefer_file).empty());
    }
  }
}

TEST_P(StoreContract, SeveralRunsAppendedAtOnceReadBackEach) {
  std::vector<std::string> runs;
  for (const uint32_t length : {kMaxRunBytes, 1u, kMaxRunBytes, 4097u, kMaxRunBytes, kMaxRunBytes,
                                kMaxRunBytes, 100u, kMaxRunBytes - 1})
    runs.push_back(pattern(length, runs.size() + 1));
  const std::vector<Ref> refs = append_all(runs);
  ASSERT_EQ(put(key("a"), "v", refs), "ok");
  for (size_t i = 0; i < runs.size(); ++i) {
    ASSERT_EQ(refs[i].length, runs[i].size());
    EXPECT_TRUE(read(refs[i]) == runs[i]) << i;
  }
}

TEST_P(StoreContract, AWrongChecksumIsNeverServed) {
  Ref ref = append(pattern(100 * 1024, 1));
  ref.crc32c ^= 1;
  for (bool prefer_file : {false, true}) {
    EXPECT_EQ(read(ref, 0, ref.length, prefer_file), describe(Error::kCorrupt));
    EXPECT_EQ(read(ref, 5, 1, prefer_file), describe(Error::kCorrupt));
  }
}

TEST_P(StoreContract, CommittedBytesOutliveReclaiming) {
  const Hold hold = store_.hold();
  const std::string bytes = pattern(10'000, 1);
  const Ref ref = append(bytes);
  ASSERT_EQ(put(key("a"), "v", {ref}), "ok");
  under_test_.reclaim();
  EXPECT_TRUE(read(ref) == bytes);
}

TEST_P(StoreContract, AHoldKeepsBytesThatWereReachableAndAppended) {
  const std::string bytes = pattern(10'000, 1);
  const std::string others = pattern(10'000, 2);
  const Ref committed = append(bytes);
  ASSERT_EQ(put(key("a"), "v", {committed}), "ok");
  const Hold hold = store_.hold();
  const Ref appended = append(others);
  ASSERT_EQ(commit({{}, {{key("a"), nullptr}}}), "ok");
  std::thread reclaimer([&] { under_test_.reclaim(); });
  EXPECT_TRUE(read(committed) == bytes);
  // What was read before the deletion may be committed again, as a copy does.
  EXPECT_EQ(put(key("copy"), "v", {committed, appended}), "ok");
  const_cast<Hold&>(hold) = Hold();
  reclaimer.join();
  EXPECT_TRUE(read(committed) == bytes);
  EXPECT_TRUE(read(appended) == others);
}

TEST_P(StoreContract, EraseEmptiesARangeStepByStep) {
  for (int i = 0; i < 25; ++i) {
    ASSERT_EQ(put(Key(7, 'r', "p" + std::to_string(i), "x"), "v"), "ok");
  }
  ASSERT_EQ(put(Key(8, 'r', "p", "stays"), "v"), "ok");
  EXPECT_EQ(value(Key(7, 'r', "p3", "x")), "v");
  std::vector<size_t> counts;
  while (counts.empty() || counts.back() != 0) {
    auto count = RunLoop::run(store_.erase(Range::space(7), 10));
    ASSERT_TRUE(count.ok());
    counts.push_back(*count);
  }
  EXPECT_EQ(counts, (std::vector<size_t>{10, 10, 5, 0}));
  EXPECT_EQ(value(Key(7, 'r', "p3", "x")), "(absent)");
  EXPECT_EQ(rows(Range::space(7)).size(), 0u);
  EXPECT_EQ(rows(Range::space(8)), std::vector<std::string>{"stays"});
}

TEST_P(StoreContract, ConcurrentGuardedIncrementsLoseNothing) {
  constexpr int kThreads = 4;
  constexpr int kCoroutines = 8;
  constexpr int kRounds = 10;
  ASSERT_EQ(put(key("count"), "0"), "ok");
  std::atomic<int> acknowledged{0};
  auto increment = [&](int who) -> Task<void> {
    for (int round = 0; round < kRounds;) {
      auto before = co_await store_.get(key("count"));
      if (!before.ok()) co_return;
      const int next = std::stoi((*before)->value) + 1;
      Commit change;
      change.guards = {{key("count"), *before}};
      change.writes = {{key("count"), record_of(std::to_string(next))},
                       {key("by " + std::to_string(next)), record_of(std::to_string(who))}};
      auto done = co_await store_.commit(std::move(change));
      if (!done.ok() && done.error() != Error::kConflict) co_return;
      if (!done.ok()) continue;
      ++acknowledged;
      ++round;
      // After its acknowledgement a write is seen by everyone, so the count is at least ours.
      auto after = co_await store_.get(key("count"));
      EXPECT_GE(std::stoi((*after)->value), next);
    }
  };
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      std::vector<Task<void>> tasks;
      for (int i = 0; i < kCoroutines; ++i) tasks.push_back(increment(t * kCoroutines + i));
      RunLoop::run(all(std::move(tasks)));
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(acknowledged, kThreads * kCoroutines * kRounds);
  EXPECT_EQ(value(key("count")), std::to_string(kThreads * kCoroutines * kRounds));
  EXPECT_EQ(rows(Range::rows(7, 'r', "p", "by ")).size(), size_t{kThreads * kCoroutines * kRounds});
}

TEST_P(StoreContract, CommitsOfOneBatchSeeEachOther) {
  // All are under way at once and expect what the one before wrote: exactly one of each step
  // succeeds, in order.
  constexpr int kSteps = 20;
  std::atomic<int> succeeded{0};
  auto step = [&](int from) -> Task<void> {
    Commit change;
    change.guards = {{key("a"), from == 0 ? nullptr : record_of(std::to_string(from))}};
    change.writes = {{key("a"), record_of(std::to_string(from + 1))}};
    if ((co_await store_.commit(std::move(change))).ok()) ++succeeded;
  };
  std::vector<Task<void>> tasks;
  for (int i = 0; i < kSteps; ++i) {
    tasks.push_back(step(i));
    tasks.push_back(step(i));
  }
  RunLoop::run(all(std::move(tasks)));
  EXPECT_EQ(succeeded, kSteps);
  EXPECT_EQ(value(key("a")), std::to_string(kSteps));
}

TEST_P(StoreContract, ReadersNeverSeeAnEarlierWriteOfACommit) {
  ASSERT_EQ(put(key("a"), "0"), "ok");
  std::atomic<bool> done = false;
  std::thread writer([&] {
    for (int i = 1; i <= 300; ++i) {
      const Commit replace{{}, {{key("a"), nullptr}, {key("a"), record_of(std::to_string(i))}}};
      EXPECT_EQ(commit(replace), "ok");
    }
    done = true;
  });
  while (!done) {
    if (get(key("a")) != nullptr) continue;
    ADD_FAILURE() << "seen as deleted while it was being replaced";
    break;
  }
  writer.join();
}

TEST_P(StoreContract, ReadersSeePairsWhole) {
  const Key left = key("left");
  const Key right = key("right");
  std::atomic<bool> stop{false};
  std::thread writer([&] {
    for (int i = 0; i < 100; ++i) {
      const auto both = record_of(std::to_string(i));
      EXPECT_EQ(commit({{}, {{left, both}, {right, both}}}), "ok");
    }
    stop = true;
  });
  while (!stop) {
    auto seen = RunLoop::run(store_.look([&](const View& view) -> Result<void> {
      auto a = view.get(left);
      auto b = view.get(right);
      EXPECT_EQ(*a == nullptr, *b == nullptr);
      EXPECT_TRUE(*a == nullptr || **a == **b);
      return {};
    }));
    EXPECT_TRUE(seen.ok());
  }
  writer.join();
}

using StoreContractDeathTest = StoreContract;

TEST_P(StoreContractDeathTest, CommitsOfTwoSpacesAndEmptyValuesStopTheProcess) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_DEATH(commit({{}, {{key("a"), record_of("v")}, {Key(8, 'r', "p", "a"), record_of("v")}}}),
               "space");
  EXPECT_DEATH(put(key("a"), ""), "empty");
}

}  // namespace kyanite::store
