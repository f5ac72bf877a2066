#include "base/random.h"

#include <gtest/gtest.h>

#include <set>
#include <thread>
#include <vector>

namespace kyanite {
namespace {

TEST(Random, GivesAsManyBytesAsAsked) {
  for (size_t count : {0, 1, 255, 256, 257, 1000, 100000})
    EXPECT_EQ(random_bytes(count).size(), count);
}

TEST(Random, EveryByteValueTurnsUp) {
  const std::string bytes = random_bytes(1 << 16);
  EXPECT_EQ(std::set<char>(bytes.begin(), bytes.end()).size(), 256u);
}

TEST(Random, UuidsHaveVersionFourAndTheirForm) {
  for (int i = 0; i < 1000; ++i) {
    const std::string uuid = random_uuid();
    ASSERT_EQ(uuid.size(), 36u);
    for (size_t at = 0; at < uuid.size(); ++at) {
      const bool dash = at == 8 || at == 13 || at == 18 || at == 23;
      ASSERT_TRUE(dash ? uuid[at] == '-'
                       : std::string_view("0123456789abcdef").find(uuid[at]) != std::string::npos)
          << uuid;
    }
    EXPECT_EQ(uuid[14], '4') << uuid;
    EXPECT_NE(std::string_view("89ab").find(uuid[19]), std::string::npos) << uuid;
  }
}

TEST(Random, ThreadsDoNotRepeatEachOther) {
  constexpr size_t kThreads = 4;
  constexpr size_t kEach = 5000;
  std::vector<std::vector<uint64_t>> drawn(kThreads);
  std::vector<std::thread> threads;
  for (auto& mine : drawn) {
    threads.emplace_back([&mine] {
      for (size_t i = 0; i < kEach; ++i) mine.push_back(random_u64());
    });
  }
  for (auto& thread : threads) thread.join();
  std::set<uint64_t> all;
  for (const auto& mine : drawn) all.insert(mine.begin(), mine.end());
  EXPECT_EQ(all.size(), kThreads * kEach);
}

}  // namespace
}  // namespace kyanite
