#include "engine/extents.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <thread>

#include "engine/test_location.h"
#include "os/fault.h"

namespace kyanite::engine {
namespace {

using store::describe;
using store::Error;
using store::pattern;
using store::Ref;

class ExtentsTest : public testing::Test {
 protected:
  void TearDown() override { os::set_fault_hook({}); }

  void overwrite(ExtentId id, uint64_t offset, std::string_view bytes) {
    auto file = os::File::open(location_.extent_path(id), os::File::Mode::kReadWrite);
    ASSERT_TRUE(file.ok());
    ASSERT_TRUE((*file)->write_at(bytes, offset).ok());
  }
  // Fails every such call on extents from now on.
  static void fail(os::SystemCall failing, int code) {
    os::set_fault_hook([=](os::SystemCall call, std::string_view path) {
      return os::Fault{call == failing && path.ends_with(".ext") ? code : 0};
    });
  }

  TestLocation location_;
  std::unique_ptr<Engine> engine_ = location_.open();
};

TEST_F(ExtentsTest, AFlippedBitHurtsItsObjectOnly) {
  const std::string bytes = pattern(200'000, 1);
  const Ref bad = *append(*engine_, bytes);
  const Ref good = *append(*engine_, bytes);
  ASSERT_TRUE(put(*engine_, "both", "v", {bad, good}).ok());
  engine_.reset();
  overwrite(bad.extent, bad.offset + 77'777, std::string(1, static_cast<char>(bytes[77'777] ^ 4)));
  engine_ = location_.open();
  for (bool prefer_file : {false, true, true}) {
    EXPECT_EQ(bytes_of(*engine_, bad, prefer_file), describe(Error::kCorrupt));
    EXPECT_TRUE(bytes_of(*engine_, good, prefer_file) == bytes);
  }
  EXPECT_EQ(engine_->metrics().corrupt_reads, 3u);
}

TEST_F(ExtentsTest, ReadersKeepOnlySoManyFilesOpen) {
  engine_.reset();
  auto options = location_.options();
  options.descriptors = 128;  // 16 extents kept open, 32 with those of readers.
  engine_ = std::move(*Engine::open(options));
  const std::string bytes = pattern(store::kMaxRunBytes, 1);
  std::vector<Ref> refs;  // One in each of many extents.
  while (refs.size() < 60) {
    const Ref ref = *append(*engine_, bytes);
    if (refs.empty() || refs.back().extent != ref.extent) refs.push_back(ref);
  }
  std::vector<os::Bytes> kept;
  size_t files = 0;
  for (const Ref& ref : refs) {
    kept.push_back(*RunLoop::run(engine_->read_run(ref, 0, ref.length, true)));
    files += std::holds_alternative<os::FileSlice>(kept.back()) ? 1 : 0;
    EXPECT_TRUE(store::text_of(kept.back()) == bytes);
  }
  EXPECT_GE(files, 16u);
  EXPECT_LE(files, 33u);
  kept.clear();
  const auto again = RunLoop::run(engine_->read_run(refs.front(), 0, refs.front().length, true));
  EXPECT_TRUE(std::holds_alternative<os::FileSlice>(*again)) << "there is room again";
}

TEST_F(ExtentsTest, WhatWasTrustedIsLookedAtAgainOnceTheFileChanged) {
  const std::string bytes = pattern(store::kMaxRunBytes, 1);
  const Ref ref = *append(*engine_, bytes);
  EXPECT_TRUE(bytes_of(*engine_, ref, true) == bytes);
  EXPECT_TRUE(bytes_of(*engine_, ref, true) == bytes);
  EXPECT_EQ(engine_->metrics().trusted_reads, 1u);
  overwrite(ref.extent, ref.offset, "damaged");
  // The file's times are looked at every few milliseconds, so the change shows soon.
  std::string seen;
  for (int i = 0; i < 10'000 && seen != describe(Error::kCorrupt); ++i) {
    seen = bytes_of(*engine_, ref, true);
    std::this_thread::yield();
  }
  EXPECT_EQ(seen, describe(Error::kCorrupt));
  EXPECT_EQ(bytes_of(*engine_, ref, true), describe(Error::kCorrupt));
}

TEST_F(ExtentsTest, TruncatedAndMissingFilesAreCorruptNotFatal) {
  const std::string bytes = pattern(100'000, 1);
  const Ref first = *append(*engine_, bytes);
  const Ref second = *append(*engine_, bytes);
  ASSERT_TRUE(put(*engine_, "a", "v", {first, second}).ok());
  engine_.reset();
  std::filesystem::resize_file(location_.extent_path(second.extent), second.offset + 50'000);
  engine_ = location_.open();
  EXPECT_TRUE(bytes_of(*engine_, first) == bytes);
  EXPECT_EQ(bytes_of(*engine_, second), describe(Error::kCorrupt));
  ASSERT_GT(append(*engine_, bytes)->extent, first.extent) << "not the last one goes missing";
  engine_.reset();
  std::filesystem::remove(location_.extent_path(first.extent));
  engine_ = location_.open();
  EXPECT_EQ(bytes_of(*engine_, first), describe(Error::kCorrupt));
  EXPECT_EQ(get(*engine_, "a").value()->value, "v");
}

TEST_F(ExtentsTest, ReadErrorsAreIoErrors) {
  const Ref ref = *append(*engine_, pattern(1000, 1));
  fail(os::SystemCall::kRead, EIO);
  EXPECT_EQ(bytes_of(*engine_, ref), describe(Error::kIo));
  os::set_fault_hook({});
  EXPECT_TRUE(bytes_of(*engine_, ref) == pattern(1000, 1));
}

TEST_F(ExtentsTest, NoSpaceFailsTheAppendAndNothingElse) {
  const Ref before = *append(*engine_, pattern(1000, 1));
  fail(os::SystemCall::kAllocate, ENOSPC);
  // The open extent still has room for small runs; bulk needs a new one.
  EXPECT_TRUE(append(*engine_, pattern(1000, 2)).ok());
  auto bulk = append(*engine_, pattern(store::kMaxRunBytes, 3));
  ASSERT_FALSE(bulk.ok());
  EXPECT_EQ(bulk.error(), Error::kFull);
  EXPECT_TRUE(put(*engine_, "a", "v", {before}).ok());
  os::set_fault_hook({});
  EXPECT_TRUE(append(*engine_, pattern(store::kMaxRunBytes, 3)).ok());
}

TEST_F(ExtentsTest, SmallerExtentsAreTriedBeforeGivingUp) {
  auto options = location_.options();
  options.extent_bytes = 64 << 20;
  engine_.reset();
  engine_ = std::move(*Engine::open(options));
  std::atomic<int> calls{0};
  os::set_fault_hook([&](os::SystemCall call, std::string_view path) {
    const bool allocating = call == os::SystemCall::kAllocate && path.ends_with(".ext");
    return os::Fault{allocating && ++calls < 3 ? ENOSPC : 0};
  });
  auto ref = append(*engine_, pattern(1000, 1));
  ASSERT_TRUE(ref.ok());
  EXPECT_EQ(std::filesystem::file_size(location_.extent_path(ref->extent)), 4u << 20);
}

TEST_F(ExtentsTest, AfterAFailedWriteOthersGoElsewhere) {
  fail(os::SystemCall::kWrite, EIO);
  EXPECT_EQ(append(*engine_, "x").error(), Error::kIo);
  os::set_fault_hook({});
  auto ref = append(*engine_, pattern(1000, 1));
  ASSERT_TRUE(ref.ok());
  EXPECT_TRUE(put(*engine_, "a", "v", {*ref}).ok());
  EXPECT_TRUE(bytes_of(*engine_, *ref) == pattern(1000, 1));
}

TEST_F(ExtentsTest, AFailedSyncIsFinalForWhatItShouldHaveCovered) {
  const Ref durable = *append(*engine_, "durable");
  ASSERT_TRUE(put(*engine_, "durable", "v", {durable}).ok());
  const Ref doubtful = *append(*engine_, "doubtful");
  fail(os::SystemCall::kSync, EIO);
  EXPECT_EQ(put(*engine_, "doubtful", "v", {doubtful}).error(), Error::kIo);
  os::set_fault_hook({});
  // The kernel would call the next sync a success; the bytes may be gone all the same.
  EXPECT_EQ(put(*engine_, "doubtful", "v", {doubtful}).error(), Error::kIo);
  EXPECT_EQ(get(*engine_, "doubtful").value(), nullptr);
  EXPECT_TRUE(put(*engine_, "again", "v", {durable}).ok());
  const Ref fresh = *append(*engine_, "fresh");
  EXPECT_NE(fresh.extent, doubtful.extent);
  EXPECT_TRUE(put(*engine_, "fresh", "v", {fresh}).ok());
  EXPECT_EQ(engine_->metrics().failed_commits, 2u);
}

TEST_F(ExtentsTest, CommitsWithoutBytesDoNotWaitForExtents) {
  ASSERT_TRUE(append(*engine_, "bytes").ok());
  fail(os::SystemCall::kSync, EIO);
  EXPECT_TRUE(put(*engine_, "a", "v").ok());
}

TEST_F(ExtentsTest, IdsAreNeverUsedAgainAndOldExtentsNotAppendedTo) {
  const Ref first = *append(*engine_, "first");
  ASSERT_TRUE(put(*engine_, "a", "v", {first}).ok());
  engine_.reset();
  // A clean close gives back what was reserved: the header's page and the run's.
  EXPECT_EQ(std::filesystem::file_size(location_.extent_path(first.extent)), 2 * kPageBytes);
  engine_ = location_.open();
  const Ref second = *append(*engine_, "second");
  EXPECT_GT(second.extent, first.extent);
  EXPECT_EQ(bytes_of(*engine_, first), "first");
}

TEST_F(ExtentsTest, ConcurrentAppendsDoNotOverlap) {
  std::vector<std::thread> threads;
  std::mutex mutex;
  std::vector<std::pair<Ref, uint64_t>> refs;
  for (uint64_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (uint64_t i = 0; i < 40; ++i) {
        const uint64_t seed = t * 1000 + i;
        const Ref ref = *append(*engine_, pattern(1 + seed * 37 % 60'000, seed));
        EXPECT_TRUE(put(*engine_, std::to_string(seed), "v", {ref}).ok());
        std::lock_guard lock(mutex);
        refs.emplace_back(ref, seed);
      }
    });
  }
  for (auto& thread : threads) thread.join();
  for (const auto& [ref, seed] : refs) {
    EXPECT_TRUE(bytes_of(*engine_, ref) == pattern(ref.length, seed)) << seed;
  }
}

TEST(ExtentName, GoesBothWays) {
  EXPECT_EQ(extent_name(0x1f), "000000000000001f.ext");
  EXPECT_EQ(extent_id("000000000000001f.ext"), 0x1fu);
  for (const char* bad : {"1f.ext", "000000000000001g.ext", "000000000000001f", "lost+found", ""}) {
    EXPECT_FALSE(extent_id(bad).has_value()) << bad;
  }
}

}  // namespace
}  // namespace kyanite::engine
