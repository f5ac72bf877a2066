#include "engine/sweep.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <thread>

#include "engine/test_location.h"
#include "os/fault.h"

namespace kyanite::engine {
namespace {

using store::pattern;
using store::Ref;

class SweepTest : public testing::Test {
 protected:
  void TearDown() override { os::set_fault_hook({}); }

  // Commits one object of this many bytes.
  Ref add(const std::string& name, size_t length, uint64_t seed) {
    const auto hold = engine_->hold();
    const Ref ref = *append(*engine_, pattern(length, seed));
    EXPECT_TRUE(put(*engine_, name, "v", {ref}).ok());
    return ref;
  }
  // Opens again, so that all extents there are become sealed.
  void seal_all() {
    engine_.reset();
    engine_ = location_.open();
  }
  bool exists(const Ref& ref) { return std::filesystem::exists(location_.extent_path(ref.extent)); }
  uint64_t allocated(const Ref& ref) {
    auto file = os::File::open(location_.extent_path(ref.extent), os::File::Mode::kRead);
    return (*file)->status()->allocated_bytes;
  }
  SweepReport sweep() {
    auto report = engine_->sweep_now();
    EXPECT_TRUE(report.ok());
    return report.ok() ? *report : SweepReport{};
  }

  TestLocation location_;
  std::unique_ptr<Engine> engine_ = location_.open();
};

TEST_F(SweepTest, RemovesDeadExtentsAndKeepsLiveOnes) {
  const Ref dead = add("dead", 10'000, 1);
  seal_all();
  const Ref live = add("live", 10'000, 2);
  seal_all();
  add("newest", 10'000, 3);
  seal_all();
  ASSERT_TRUE(remove(*engine_, "dead").ok());
  const auto report = sweep();
  EXPECT_EQ(report.extents, 3u);
  EXPECT_EQ(report.removed_extents, 1u);
  EXPECT_GE(report.reclaimed_bytes, 12'288u);
  EXPECT_FALSE(exists(dead));
  EXPECT_TRUE(bytes_of(*engine_, live) == pattern(10'000, 2));
  EXPECT_EQ(engine_->metrics().sweeps, 1u);
  EXPECT_EQ(engine_->metrics().reclaimed_bytes, report.reclaimed_bytes);
}

TEST_F(SweepTest, PunchesHolesAroundLiveRuns) {
  std::vector<Ref> refs;
  for (uint64_t i = 0; i < 9; ++i) refs.push_back(add(std::to_string(i), 50'000, i));
  seal_all();
  const uint64_t before = allocated(refs[0]);
  for (uint64_t i = 0; i < 9; i += 2) ASSERT_TRUE(remove(*engine_, std::to_string(i)).ok());
  const auto report = sweep();
  EXPECT_EQ(before - allocated(refs[0]), report.reclaimed_bytes);
  EXPECT_EQ(report.reclaimed_bytes, 5u * 53'248);
  EXPECT_EQ(report.live_bytes, 4u * 53'248 + kPageBytes);
  for (uint64_t i = 1; i < 9; i += 2) {
    EXPECT_TRUE(bytes_of(*engine_, refs[i]) == pattern(50'000, i)) << i;
  }
  EXPECT_EQ(sweep().reclaimed_bytes, 0u) << "a second sweep finds nothing";
}

TEST_F(SweepTest, TheHighestIdIsNeverRemovedSoThatItIsNotGivenAgain) {
  const Ref ref = add("a", 100'000, 1);
  seal_all();
  ASSERT_TRUE(remove(*engine_, "a").ok());
  EXPECT_GT(sweep().reclaimed_bytes, 100'000u);
  EXPECT_TRUE(exists(ref));
  seal_all();
  const Ref next = add("b", 1, 1);
  EXPECT_GT(next.extent, ref.extent);
}

// It was there when the extents were listed, and never came to be.
TEST_F(SweepTest, AnExtentWhoseMakingFailsIsNotTheHighest) {
  const Ref dead = add("dead", 10'000, 1);
  seal_all();
  ASSERT_TRUE(remove(*engine_, "dead").ok());
  std::atomic<bool> making = false;
  std::atomic<bool> listed = false;
  std::thread sweeping;
  os::set_fault_hook([&](os::SystemCall call, std::string_view path) {
    if (call == os::SystemCall::kList && path.find("extents") != path.npos) listed = making.load();
    if (call != os::SystemCall::kAllocate || !path.ends_with(".ext")) return os::Fault{};
    if (!making.exchange(true)) {
      sweeping = std::thread([&] { (void)engine_->sweep_now().ok(); });
      while (!listed) std::this_thread::yield();
      // The hook is asked before the listing.
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
    return os::Fault{ENOSPC};
  });
  EXPECT_FALSE(append(*engine_, "x").ok());
  sweeping.join();
  os::set_fault_hook({});
  EXPECT_TRUE(exists(dead)) << "the next one would get its number";
  engine_.reset();
  EXPECT_TRUE(Engine::open(location_.options()).ok());
}

TEST_F(SweepTest, OpenExtentsAreLeftAlone) {
  const auto hold = engine_->hold();
  const Ref uncommitted = *append(*engine_, pattern(5'000, 1));
  std::thread sweeping([&] { EXPECT_EQ(sweep().extents, 0u); });
  sweeping.join();
  EXPECT_TRUE(put(*engine_, "a", "v", {uncommitted}).ok());
  EXPECT_TRUE(bytes_of(*engine_, uncommitted) == pattern(5'000, 1));
}

TEST_F(SweepTest, RefsOverwrittenInPlaceDie) {
  const Ref old = add("a", 10'000, 1);
  add("keep", 10'000, 2);
  seal_all();
  add("a", 10'000, 3);
  EXPECT_GT(sweep().reclaimed_bytes, 0u);
  EXPECT_EQ(bytes_of(*engine_, old), store::describe(store::Error::kCorrupt));
}

TEST_F(SweepTest, SharedRefsLiveUntilTheLastOneGoes) {
  const Ref ref = add("a", 10'000, 1);
  seal_all();
  add("newest", 1, 1);
  ASSERT_TRUE(put(*engine_, "copy", "v", {ref}).ok());
  ASSERT_TRUE(remove(*engine_, "a").ok());
  sweep();
  EXPECT_TRUE(bytes_of(*engine_, ref) == pattern(10'000, 1));
  ASSERT_TRUE(remove(*engine_, "copy").ok());
  sweep();
  EXPECT_FALSE(exists(ref));
}

TEST_F(SweepTest, WaitsForHoldsAndSeesWhatTheyCommit) {
  const Ref copied = add("a", 10'000, 1);
  const Ref forgotten = add("b", 10'000, 2);
  seal_all();
  add("newest", 1, 1);
  auto hold = engine_->hold();
  ASSERT_TRUE(remove(*engine_, "a").ok());
  ASSERT_TRUE(remove(*engine_, "b").ok());
  std::atomic<bool> done{false};
  std::thread sweeping([&] {
    sweep();
    done = true;
  });
  // However long the sweep has had, both can still be read and one be committed again.
  for (int i = 0; i < 100; ++i) {
    EXPECT_TRUE(bytes_of(*engine_, forgotten) == pattern(10'000, 2));
    EXPECT_FALSE(done);
  }
  ASSERT_TRUE(put(*engine_, "copy", "v", {copied}).ok());
  // Someone else reads the copy and deletes it: the bytes stay for whoever read it meanwhile.
  auto later = engine_->hold();
  ASSERT_TRUE(remove(*engine_, "copy").ok());
  hold = {};
  sweeping.join();
  EXPECT_TRUE(bytes_of(*engine_, copied) == pattern(10'000, 1));
  EXPECT_EQ(bytes_of(*engine_, forgotten), store::describe(store::Error::kCorrupt));
  later = {};
  sweep();
  EXPECT_FALSE(exists(copied));
}

TEST_F(SweepTest, DoesNotWaitForWhatIsKeptButLeavesIt) {
  const Ref mine = add("a", 10'000, 1);
  const Ref forgotten = add("b", 10'000, 2);
  seal_all();
  add("newest", 1, 1);
  store::Hold kept;
  {
    const auto hold = engine_->hold();
    kept = engine_->keep({mine});
  }
  ASSERT_TRUE(remove(*engine_, "a").ok());
  ASSERT_TRUE(remove(*engine_, "b").ok());
  sweep();
  EXPECT_TRUE(bytes_of(*engine_, mine) == pattern(10'000, 1));
  EXPECT_EQ(bytes_of(*engine_, forgotten), store::describe(store::Error::kCorrupt));
  const store::Hold another = kept;
  kept = {};
  sweep();
  EXPECT_TRUE(bytes_of(*engine_, mine) == pattern(10'000, 1)) << "somebody else still has it";
}

TEST_F(SweepTest, TakesWhatNobodyKeepsAnyMore) {
  const Ref ref = add("a", 10'000, 1);
  seal_all();
  add("newest", 1, 1);
  auto kept = engine_->keep({ref});
  ASSERT_TRUE(remove(*engine_, "a").ok());
  kept = {};
  sweep();
  EXPECT_FALSE(exists(ref));
}

TEST_F(SweepTest, ReclaimsUnderLoadWithoutHurtingAnyone) {
  std::atomic<bool> stop{false};
  std::atomic<int> copies{0};
  auto churn = [&](uint64_t who) {
    const std::string mine = "object " + std::to_string(who);
    const std::string copy = "copy " + std::to_string(who);
    for (uint64_t round = 1; !stop; ++round) {
      const auto hold = engine_->hold();
      const uint64_t seed = who * 1'000'000 + round;
      const size_t length = 1 + seed * 7919 % 90'000;
      const Ref ref = *append(*engine_, pattern(length, seed));
      EXPECT_TRUE(put(*engine_, mine, std::to_string(seed), {ref}).ok());
      // Copies what the neighbour has, which the neighbour may be overwriting.
      auto other = get(*engine_, "object " + std::to_string((who + 1) % 3));
      if (!other.ok() || *other == nullptr) continue;
      const Ref theirs = (*other)->refs.front();
      EXPECT_TRUE(put(*engine_, copy, (*other)->value, {theirs}).ok());
      EXPECT_TRUE(bytes_of(*engine_, theirs) ==
                  pattern(theirs.length, std::stoull((*other)->value)));
      ++copies;
    }
  };
  std::vector<std::thread> threads;
  for (uint64_t t = 0; t < 3; ++t) threads.emplace_back(churn, t);
  uint64_t reclaimed = 0;
  for (int i = 0; i < 20 || reclaimed == 0 || copies < 50; ++i)
    reclaimed += sweep().reclaimed_bytes;
  stop = true;
  for (auto& thread : threads) thread.join();
  for (const char* kind : {"object ", "copy "}) {
    for (int who = 0; who < 3; ++who) {
      auto record = get(*engine_, kind + std::to_string(who));
      ASSERT_TRUE(record.ok());
      if (*record == nullptr) continue;
      const Ref ref = (*record)->refs.front();
      EXPECT_TRUE(bytes_of(*engine_, ref) == pattern(ref.length, std::stoull((*record)->value)));
    }
  }
}

TEST_F(SweepTest, SweepsByItself) {
  add("a", 250'000, 1);
  engine_.reset();
  auto options = location_.options();
  options.sweep_interval = std::chrono::seconds(1);
  engine_ = std::move(*Engine::open(options));
  add("newest", 1, 1);
  ASSERT_TRUE(remove(*engine_, "a").ok());
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (engine_->metrics().reclaimed_bytes == 0 && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::yield();
  }
  EXPECT_GT(engine_->metrics().reclaimed_bytes, 250'000u);
}

// A server that was killed has left its open extents at the size they were prepared with.
TEST_F(SweepTest, GivesBackWhatAnEarlierLifePrepared) {
  const Ref ref = add("a", 250'000, 1);
  engine_.reset();
  const int file = ::open(location_.extent_path(ref.extent).c_str(), O_WRONLY);
  ASSERT_GE(file, 0);
  ASSERT_EQ(posix_fallocate(file, 0, 8 << 20), 0);
  ::close(file);
  auto options = location_.options();
  options.sweep_interval = std::chrono::seconds(1);
  engine_ = std::move(*Engine::open(options));  // Nothing is committed from here on.
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (engine_->metrics().sweeps == 0 && std::chrono::steady_clock::now() < deadline)
    std::this_thread::yield();
  EXPECT_LT(allocated(ref), 1u << 20);
}

TEST_F(SweepTest, StopsForAHoldThatNeverEnds) {
  add("a", 1, 1);
  seal_all();
  const auto hold = engine_->hold();
  engine_.reset();  // Returns although the Hold lives on.
}

TEST_F(SweepTest, FaultsReclaimNothingThatLives) {
  for (auto call : {os::SystemCall::kList, os::SystemCall::kOpen, os::SystemCall::kStatus,
                    os::SystemCall::kPunchHole, os::SystemCall::kRemove}) {
    const Ref live = add("live", 20'000, 1);
    add("dead", 20'000, 2);
    seal_all();
    ASSERT_TRUE(remove(*engine_, "dead").ok());
    os::set_fault_hook([=](os::SystemCall each, std::string_view path) {
      return os::Fault{each == call && path.find("/extents") != path.npos ? EIO : 0};
    });
    (void)engine_->sweep_now().ok();
    os::set_fault_hook({});
    EXPECT_TRUE(bytes_of(*engine_, live) == pattern(20'000, 1));
    sweep();
    EXPECT_TRUE(bytes_of(*engine_, live) == pattern(20'000, 1));
  }
}

}  // namespace
}  // namespace kyanite::engine
