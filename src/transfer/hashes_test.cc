#include "transfer/hashes.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/executor.h"
#include "base/started.h"

namespace kyanite::transfer {
namespace {

TEST(Hashes, OfZerosAreThoseOfTheBytes) {
  Workers workers(1);
  for (const bool with_md5 : {false, true}) {
    Hashes walked(with_md5);
    Hashes told(with_md5);
    const std::string zeros(700'001, '\0');
    for (Hashes* each : {&walked, &told}) RunLoop::run(each->update(workers, "before"));
    RunLoop::run(walked.update(workers, zeros));
    EXPECT_TRUE(RunLoop::run(told.update_zeros(workers, zeros.size(), {})));
    EXPECT_EQ(walked.crc64(), told.crc64());
    EXPECT_EQ(walked.md5(), told.md5());
  }
}

TEST(Hashes, OfZerosEndWithTheDeadline) {
  Workers workers(1);
  ManualClock clock(Time::from_unix_seconds(1'700'000'000));
  Hashes hashes(true);
  EXPECT_FALSE(RunLoop::run(hashes.update_zeros(workers, UINT64_MAX, Deadline(clock, 0))));
}

// One worker for many bodies: most wait, and are hashed several at a time.
TEST(Hashes, OfBodiesThatWaitTogetherAreThoseOfEach) {
  constexpr size_t kBodies = 7;
  Workers workers(1);
  std::vector<std::unique_ptr<Hashes>> together;
  std::vector<std::vector<Buffer>> chunks(kBodies);
  for (size_t i = 0; i < kBodies; ++i) {
    together.push_back(std::make_unique<Hashes>(i != 3));
    for (size_t size : {size_t{100'000}, size_t{100'000}, 1000 * i, 7 * i})
      chunks[i].push_back(Buffer::copy_of(std::string(size, static_cast<char>('a' + i))));
    chunks[i].resize(1 + i % 4);
  }
  const auto all = [&]() -> Task<bool> {
    std::vector<std::unique_ptr<Started<bool>>> updates;
    for (size_t i = 0; i < kBodies; ++i) {
      const auto update = [](Workers& by, Hashes& hashes, std::vector<Buffer>& of) -> Task<bool> {
        co_await hashes.update_all(by, of);
        co_return true;
      };
      updates.push_back(std::make_unique<Started<bool>>(update(workers, *together[i], chunks[i])));
    }
    for (auto& update : updates) co_await update->join();
    co_return true;
  };
  ASSERT_TRUE(RunLoop::run(all()));
  for (size_t i = 0; i < kBodies; ++i) {
    Hashes alone(i != 3);
    for (const Buffer& chunk : chunks[i]) RunLoop::run(alone.update(workers, chunk.view()));
    EXPECT_EQ(together[i]->crc64(), alone.crc64()) << i;
    EXPECT_EQ(together[i]->md5(), alone.md5()) << i;
  }
}

// What follows is told before what came first is hashed, of several bodies and beyond a turn's
// steps.
TEST(Hashes, OfABodyThatGoesOnAreThoseOfAllInOrder) {
  constexpr size_t kBodies = 3;
  Workers workers(2);
  std::vector<std::unique_ptr<Hashes>> ahead;
  std::vector<std::vector<std::vector<Buffer>>> parts(kBodies);
  for (size_t i = 0; i < kBodies; ++i) {
    ahead.push_back(std::make_unique<Hashes>(true));
    for (size_t part = 0; part < 12; ++part) {
      parts[i].emplace_back();
      const size_t chunks = part == 11 ? 1 : 1 + (part + i) % 4;
      for (size_t chunk = 0; chunk < chunks; ++chunk) {
        const size_t size = part == 11 ? 100 : 250'000 + 77 * chunk;
        const char letter = static_cast<char>('a' + (i * 7 + part * 3 + chunk) % 26);
        parts[i].back().push_back(Buffer::copy_of(std::string(size, letter)));
      }
    }
  }
  const auto all = [&]() -> Task<bool> {
    const auto update = [](Workers& by, Hashes& hashes, std::vector<Buffer>& of) -> Task<bool> {
      co_await hashes.update_all(by, of);
      co_return true;
    };
    std::vector<std::unique_ptr<Started<bool>>> updates;
    for (size_t part = 0; part < 12; ++part) {
      for (size_t i = 0; i < kBodies; ++i) {
        updates.push_back(
            std::make_unique<Started<bool>>(update(workers, *ahead[i], parts[i][part])));
      }
    }
    for (auto& each : updates) co_await each->join();
    co_return true;
  };
  ASSERT_TRUE(RunLoop::run(all()));
  for (size_t i = 0; i < kBodies; ++i) {
    Hashes alone(true);
    for (const auto& part : parts[i])
      for (const Buffer& chunk : part) RunLoop::run(alone.update(workers, chunk.view()));
    EXPECT_EQ(ahead[i]->crc64(), alone.crc64()) << i;
    EXPECT_EQ(ahead[i]->md5(), alone.md5()) << i;
  }
}

}  // namespace
}  // namespace kyanite::transfer
