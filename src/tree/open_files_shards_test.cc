// The open-file table under threads whose files lie in many shards. Meant for ThreadSanitizer, too.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "tree/open_files_test_support.h"

namespace kyanite::tree {
namespace {

constexpr uint64_t kDirectories = 8;
constexpr uint64_t kFilesEach = 16;

uint64_t directory_id(uint64_t directory) { return (directory + 1) * 0x9E3779B97F4A7C15u; }
uint64_t file_id(uint64_t directory, uint64_t file) {
  return (directory * kFilesEach + file + 1) * 0xD1342543DE82EF95u;
}
FileOpen open_of(uint64_t directory, uint64_t file) {
  FileOpen request = file_open(kReadAccess, kFullAccess);
  request.file = {kShare, file_id(directory, file)};
  request.ancestors = {0, directory_id(directory)};
  return request;
}

TEST(OpenFileShards, ListsAcrossThemInOrder) {
  OpenFiles table;
  std::vector<HandleId> opened;
  for (uint64_t d = 0; d < kDirectories; ++d) {
    for (uint64_t f = 0; f < kFilesEach; ++f) opened.push_back(must_open(table, open_of(d, f)));
  }
  EXPECT_TRUE(std::is_sorted(opened.begin(), opened.end()));
  std::vector<HandleId> listed;
  for (HandleId after = 0;;) {
    const auto page = table.list(kRootKey, true, after, 7);
    if (page.empty()) break;
    EXPECT_LE(page.size(), 7u);
    for (const Handle& handle : page) listed.push_back(handle.id);
    after = listed.back();
  }
  EXPECT_EQ(listed, opened);
  const FileKey directory{kShare, directory_id(3)};
  EXPECT_EQ(table.list(directory, true, 0, 1000).size(), kFilesEach);
  EXPECT_TRUE(table.list(directory, false, 0, 1000).empty());
  EXPECT_EQ(table.force_close_all(directory, true), kFilesEach);
  EXPECT_TRUE(table.list(directory, true, 0, 1000).empty());
  EXPECT_EQ(table.list(kRootKey, true, 0, 1000).size(), (kDirectories - 1) * kFilesEach);
  table.force_close_share(kShare);
  EXPECT_TRUE(table.list(kRootKey, true, 0, 1000).empty());
}

TEST(OpenFileShards, NothingIsOpenBelowADirectoryThatMoves) {
  OpenFiles table;
  std::array<std::atomic<int>, kDirectories> open{};
  std::atomic<int> moved = 0;
  std::atomic<bool> overlapped = false;
  constexpr uint64_t kRounds = 1000;
  const auto work = [&](uint64_t seed) -> Task<void> {
    for (uint64_t i = 0; i < kRounds; ++i) {
      const uint64_t d = (seed + i * 5) % kDirectories;
      auto handle = co_await table.open(open_of(d, (seed * 3 + i) % kFilesEach));
      if (!handle) continue;
      ++open[d];
      std::this_thread::yield();
      if (i % 64 == 0) table.list({kShare, directory_id(d)}, true, 0, 100);
      --open[d];
      if (!table.close(*handle).ok()) overlapped = true;
    }
  };
  const auto move = [&](uint64_t seed) {
    for (uint64_t i = 0; i < kRounds; ++i) {
      const uint64_t d = (seed + i * 3) % kDirectories;
      auto admission = table.admit_directory_rename({kShare, directory_id(d)});
      if (!admission) continue;
      ++moved;
      for (int look = 0; look < 10; ++look) {
        if (open[d] != 0) overlapped = true;
        std::this_thread::yield();
      }
    }
  };
  std::vector<std::thread> threads;
  for (uint64_t i = 0; i < 3; ++i) threads.emplace_back([&, i] { RunLoop::run(work(i)); });
  for (uint64_t i = 0; i < 2; ++i) threads.emplace_back([&, i] { move(i); });
  for (auto& thread : threads) thread.join();
  EXPECT_FALSE(overlapped);
  EXPECT_GT(moved, 0);
  EXPECT_TRUE(table.list(kRootKey, true, 0, 1).empty());
  for (uint64_t d = 0; d < kDirectories; ++d)
    EXPECT_TRUE(table.admit_directory_rename({kShare, directory_id(d)}).ok());
}

// Closing, moving an open file and closing by force at once: everything is counted once.
TEST(OpenFileShards, HandlesAreCountedWhereTheyAre) {
  OpenFiles table;
  constexpr uint64_t kRounds = 500;
  const auto come_and_go = [&](uint64_t file) -> Task<void> {
    for (uint64_t i = 0; i < kRounds; ++i) {
      auto handle = co_await table.open(open_of(i % kDirectories, file));
      if (handle) (void)table.close(*handle).ok();  // Perhaps closed by force before.
    }
  };
  const auto move = [&](uint64_t file) {
    for (uint64_t i = 0; i < kRounds; ++i) {
      const FileKey key{kShare, file_id(i % kDirectories, file)};
      auto admission = table.admit(key, FileOperation::kRenameFile);
      if (admission) admission->renamed({0, directory_id((i + 1) % kDirectories)}, "moved");
    }
  };
  const auto force = [&]() -> Task<void> {
    for (uint64_t i = 0; i < kRounds / 10; ++i)
      table.force_close_all({kShare, directory_id(i % kDirectories)}, true);
    co_return;
  };
  std::vector<std::thread> threads;
  for (uint64_t i = 0; i < 2; ++i) {
    threads.emplace_back([&, i] { RunLoop::run(come_and_go(i)); });
    threads.emplace_back([&, i] { move(i); });
  }
  threads.emplace_back([&] { RunLoop::run(force()); });
  for (auto& thread : threads) thread.join();
  EXPECT_TRUE(table.list(kRootKey, true, 0, 1).empty());
  for (uint64_t d = 0; d < kDirectories; ++d)
    EXPECT_TRUE(table.admit_directory_rename({kShare, directory_id(d)}).ok());
}

}  // namespace
}  // namespace kyanite::tree
