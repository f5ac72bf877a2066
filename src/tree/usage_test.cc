// How much of its quota a share uses, and what is refused by that.
#include "tree/usage.h"

#include <gtest/gtest.h>

#include "store/interleaving.h"
#include "tree/handles_test_support.h"

namespace kyanite::tree {
namespace {

constexpr uint64_t kQuota = 1000;

// As REST does it.
Task<std::string> create_of(store::Store& store, HandleTree& files, std::string path,
                            uint64_t length, bool replaces) {
  store::Occasion occasion(store, files.lines, files.clock);
  Creation creation;
  creation.replaces = replaces;
  const Fill fill = [&](Entry& entry, const Way&, store::Commit&) -> Task<Result<void>> {
    entry.content.sparse = true;
    entry.content.length = length;
    co_return Result<void>();
  };
  const Path parsed = files.parse(path);
  co_return outcome(co_await create_entry(occasion, files.tree, parsed, creation, fill));
}

class Quotas : public testing::Test {
 protected:
  Quotas() {
    files_.tree.usage = &usage_;
    usage_.begin(files_.tree.space);
    set_quota(kQuota);
  }
  void set_quota(uint64_t bytes) {
    files_.clock.advance_seconds(1);
    usage_.set_quota(files_.tree.space, bytes, files_.clock.now());
  }
  std::string create(const std::string& path, uint64_t length, bool replaces = false) {
    return RunLoop::run(create_of(store_, files_, path, length, replaces));
  }
  uint64_t used() const { return *usage_.bytes(files_.tree.space); }
  // Counts the share as a job does after a start, `looks` entries a step.
  uint64_t count_anew(uint64_t looks, const std::function<void(int)>& between = {}) {
    usage_.forget(files_.tree.space);
    std::string key;
    for (int number = 0; number < 1000; ++number) {
      jobs::Portion portion;
      portion.looks = looks;
      jobs::Step step(store_, files_.clock, "account", portion);
      auto through = RunLoop::run(usage_.count(step, "share", files_.tree.space, key));
      EXPECT_TRUE(through.ok());
      if (!through || *through) break;
      if (between) between(number);
    }
    return usage_.bytes(files_.tree.space).value_or(UINT64_MAX);
  }

  store::MemoryStore store_;
  Usage usage_;
  HandleTree files_{store_};
};

const std::string kExceeded = text_of(Error(Reason::kQuotaExceeded));

TEST_F(Quotas, RefuseWhatWouldExceedThem) {
  EXPECT_EQ(create("a", 600), "ok");
  EXPECT_EQ(create("b", 401), kExceeded);
  EXPECT_EQ(outcome(files_.find("b")), "not found");
  EXPECT_EQ(create("b", 400), "ok");
  EXPECT_EQ(used(), 1000u);
  EXPECT_EQ(create("c", 1), kExceeded);
  EXPECT_EQ(create("c", 0), "ok");
  EXPECT_EQ(create("a", 601, true), kExceeded);
  EXPECT_EQ(create("a", 100, true), "ok");
  EXPECT_EQ(used(), 500u);
  EXPECT_EQ(RunLoop::run(files_.move("a", "moved", Kind::kFile)), "ok");
  EXPECT_EQ(used(), 500u);
  EXPECT_EQ(RunLoop::run(files_.remove("b")), "ok");
  EXPECT_EQ(used(), 100u);
}

TEST_F(Quotas, CountWhatIsNotStoredYet) {
  Opened one = files_.open("one");
  Opened two = files_.open("two");
  EXPECT_EQ(files_.resize(one, 600), "ok");
  EXPECT_EQ(files_.resize(two, 600), kExceeded);
  EXPECT_EQ(files_.write(two, 0, std::string(401, 'x')), kExceeded);
  EXPECT_EQ(files_.write(two, 0, std::string(400, 'x')), "ok");
  EXPECT_EQ(files_.write(two, 399, "xx"), kExceeded);
  EXPECT_EQ(files_.write(two, 399, "y"), "ok");
  EXPECT_EQ(used(), 0u);
  EXPECT_EQ(files_.close(one), "ok");
  EXPECT_EQ(files_.close(two), "ok");
  EXPECT_EQ(used(), 1000u);
  EXPECT_EQ(create("three", 1), kExceeded);
  Opened again = files_.open("one");
  EXPECT_EQ(files_.resize(again, 0), "ok");
  EXPECT_EQ(files_.close(again), "ok");
  EXPECT_EQ(used(), 400u);
  EXPECT_EQ(create("three", 600), "ok");
}

// Several writes at once have seen the same length.
TEST_F(Quotas, CountWhatSeveralWritesReachOnce) {
  DraftLayer layer;
  for (const uint64_t end : {100u, 300u, 200u, 400u}) layer.promise({0, end});
  EXPECT_EQ(layer.promised, 400u);
  const DraftLayer storing = layer.take({});
  EXPECT_EQ(storing.promised, 400u);
  layer.promise({0, 500});
  EXPECT_EQ(layer.promised, 100u) << "what is being stored is promised there";
  layer.promise({600, 700});
  EXPECT_EQ(layer.promised, 200u);
}

// What was promised once is not free for ever: others may cut the file meanwhile.
TEST_F(Quotas, CountAnewWhatIsWrittenAgain) {
  Opened writer = files_.open("file");
  EXPECT_EQ(files_.write(writer, 0, std::string(900, 'x')), "ok");
  // Stored, but for its time, which is told later: the draft stays.
  files_.clock.advance_seconds(1);
  files_.settle_older();
  EXPECT_EQ(used(), 900u);
  EXPECT_TRUE(files_.open_files.drafts().has(writer.file));
  EXPECT_EQ(create("file", 0, true), "ok");
  EXPECT_EQ(used(), 0u);
  EXPECT_EQ(files_.write(writer, 0, std::string(900, 'y')), "ok");
  EXPECT_FALSE(usage_.has_room(files_.tree.space, 101));
  EXPECT_EQ(files_.close(writer), "ok");
  EXPECT_EQ(used(), 900u);
}

TEST_F(Quotas, AreFreeAgainWhenAFileIsCutUnstored) {
  Opened file = files_.open("file");
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(files_.resize(file, 900), "ok") << i;
    EXPECT_FALSE(usage_.has_room(files_.tree.space, 101));
    EXPECT_EQ(files_.resize(file, 400), "ok");
    EXPECT_TRUE(usage_.has_room(files_.tree.space, 600));
    EXPECT_FALSE(usage_.has_room(files_.tree.space, 601));
  }
  EXPECT_EQ(files_.close(file), "ok");
  EXPECT_EQ(used(), 400u);
  EXPECT_TRUE(usage_.has_room(files_.tree.space, 600)) << "nothing is promised any more";
  EXPECT_FALSE(usage_.has_room(files_.tree.space, 601));
}

TEST_F(Quotas, AreFreeForWhatTakesThePlaceOfWhatWasStored) {
  Opened file = files_.open("file");
  EXPECT_EQ(files_.write(file, 0, std::string(600, 'x')), "ok");
  EXPECT_EQ(files_.flush(file), "ok");
  for (const bool writes : {true, false}) {
    EXPECT_EQ(files_.resize(file, 0), "ok");
    EXPECT_EQ(writes ? files_.write(file, 0, std::string(600, 'y')) : files_.resize(file, 600),
              "ok");
    EXPECT_EQ(files_.flush(file), "ok");
    EXPECT_EQ(used(), 600u);
  }
  EXPECT_EQ(files_.resize(file, kQuota + 1), kExceeded);
  EXPECT_EQ(files_.close(file), "ok");
}

TEST_F(Quotas, AreFreeAgainWhenAFileGoesUnstored) {
  Opened file = files_.open("file", {Disposition::kCreate, Kind::kFile, "RWD", "RWD", true});
  EXPECT_EQ(files_.resize(file, 1000), "ok");
  EXPECT_EQ(files_.close(file), "ok");
  EXPECT_EQ(used(), 0u);
  EXPECT_EQ(create("other", 1000), "ok");
}

TEST_F(Quotas, AreThoseOfTheMomentForWhatIsOpen) {
  Opened file = files_.open("file");
  EXPECT_EQ(files_.resize(file, kQuota + 1), kExceeded);
  set_quota(2 * kQuota);
  EXPECT_EQ(files_.resize(file, kQuota + 1), "ok");
  set_quota(kQuota);
  EXPECT_EQ(files_.write(file, kQuota + 1, "x"), kExceeded);
  EXPECT_EQ(files_.resize(file, kQuota), "ok") << "files may shrink";
  // Who has read the share's record before it was changed says nothing new.
  usage_.set_quota(files_.tree.space, 3 * kQuota, Time::from_unix_seconds(1));
  EXPECT_EQ(files_.resize(file, 2 * kQuota), kExceeded);
  EXPECT_EQ(files_.close(file), "ok");
}

TEST_F(Quotas, AreCountedAnewAfterAStart) {
  for (int i = 0; i < 50; ++i) ASSERT_EQ(create("file" + std::to_string(100 + i), 10), "ok");
  EXPECT_EQ(count_anew(1000), 500u);
  EXPECT_EQ(count_anew(7), 500u);
  // Until then only what never fits is refused.
  usage_.forget(files_.tree.space);
  set_quota(kQuota);
  EXPECT_EQ(create("large", kQuota + 1), kExceeded);
}

TEST_F(Quotas, CountChangesOnEitherSideOfTheCount) {
  for (int i = 0; i < 50; ++i) ASSERT_EQ(create("file" + std::to_string(100 + i), 10), "ok");
  const uint64_t counted = count_anew(10, [&](int number) {
    const auto name = [](int i) { return "file" + std::to_string(100 + i); };
    EXPECT_EQ(create(name(number), 15, true), "ok");       // It is counted already.
    EXPECT_EQ(create(name(49 - number), 12, true), "ok");  // It is not, at first.
    EXPECT_EQ(create("new" + std::to_string(number), 1), "ok");
  });
  uint64_t sum = 0;
  for (const auto& name : {"file", "new"}) {
    for (int i = 0; i < 50; ++i) {
      const auto path =
          std::string(name) + std::to_string(std::string(name) == "file" ? 100 + i : i);
      auto found = files_.find(path);
      if (found) sum += found->found.entry->content.length;
    }
  }
  EXPECT_EQ(counted, sum);
}

Task<void> count_ok(Task<std::string> task, int& ok) {
  const std::string said = co_await std::move(task);
  if (said == "ok") ++ok;
  EXPECT_TRUE(said == "ok" || said == kExceeded) << said;
}

// Between somebody's look at the room and its use of it others look, too.
TEST(QuotaRaces, NoRoomIsGivenTwice) {
  constexpr uint64_t kEach = 80'000;
  for (uint64_t seed = 0; seed < 100; ++seed) {
    store::InterleavedStore store;
    Usage usage;
    HandleTree files(store);
    files.tree.usage = &usage;
    usage.begin(files.tree.space);
    usage.set_quota(files.tree.space, 3 * kEach - 1, files.clock.now());
    Opened one = files.open("one");
    Opened two = files.open("two");
    int ok = 0;
    std::vector<Task<void>> tasks;
    tasks.push_back(count_ok(files.write_task(one, 0, std::string(kEach, '1')), ok));
    tasks.push_back(count_ok(files.write_task(two, 0, std::string(kEach, '2')), ok));
    tasks.push_back(count_ok(create_of(store, files, "three", kEach, false), ok));
    tasks.push_back(count_ok(create_of(store, files, "four", kEach, false), ok));
    store::Interleaving(seed).run(std::move(tasks), [] {});
    EXPECT_EQ(ok, 2) << "seed " << seed;
    EXPECT_EQ(files.close(one), "ok");
    EXPECT_EQ(files.close(two), "ok");
    EXPECT_EQ(usage.bytes(files.tree.space), 2 * kEach) << "seed " << seed;
    EXPECT_TRUE(usage.has_room(files.tree.space, kEach - 1)) << "everything promised is taken back";
  }
}

}  // namespace
}  // namespace kyanite::tree
