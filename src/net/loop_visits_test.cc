#include "net/loop_visits.h"

#include <gtest/gtest.h>

#include <memory>
#include <semaphore>
#include <thread>
#include <vector>

#include "net/test_peer.h"

namespace kyanite::net {
namespace {

// Holds up the thread of a loop until it is let go.
class Obstacle {
 public:
  void put_on(Loop& loop) {
    block(loop);
    reached_.acquire();
  }
  void remove() { gone_.release(); }

 private:
  Detached block(Loop& loop) {
    co_await loop.turn();
    reached_.release();
    gone_.acquire();
  }

  std::binary_semaphore reached_{0};
  std::binary_semaphore gone_{0};
};

class LoopVisitsTest : public testing::Test {
 protected:
  LoopVisitsTest() {
    for (auto& loop : loops_) {
      visits_.add(*loop);
      threads_.emplace_back([&loop] { loop->run(); });
    }
  }
  ~LoopVisitsTest() override {
    for (auto& loop : loops_) loop->stop();
    for (auto& thread : threads_) thread.join();
  }

  // Asked on the first loop.
  bool all_turn(std::chrono::milliseconds longest) {
    std::binary_semaphore done{0};
    bool turn = false;
    [](LoopVisitsTest& self, std::chrono::milliseconds most, bool& out,
       std::binary_semaphore& end) -> Detached {
      Loop& here = *self.loops_[0];
      co_await here.turn();
      out = co_await self.visits_.all_turn(here, most);
      end.release();
    }(*this, longest, turn, done);
    done.acquire();
    return turn;
  }

  std::vector<std::unique_ptr<Loop>> loops_ = [] {
    std::vector<std::unique_ptr<Loop>> loops;
    for (int i = 0; i < 3; ++i) loops.push_back(std::make_unique<Loop>());
    return loops;
  }();
  LoopVisits visits_;
  std::vector<std::thread> threads_;
};

constexpr std::chrono::milliseconds kShort{20};
constexpr std::chrono::milliseconds kLong{30'000};

TEST_F(LoopVisitsTest, OneLoopThatHangsIsNoticedAndForgiven) {
  EXPECT_TRUE(all_turn(kLong));
  Obstacle obstacle;
  obstacle.put_on(*loops_[2]);
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(all_turn(kShort));
  obstacle.remove();
  EXPECT_TRUE(all_turn(kLong));
}

TEST_F(LoopVisitsTest, WhoDoesNotWaitLooksAgainLater) {
  Obstacle obstacle;
  obstacle.put_on(*loops_[1]);
  const auto early = visits_.send();
  const auto late = visits_.send();
  EXPECT_FALSE(visits_.is_back(early));
  obstacle.remove();
  // One visitor serves both.
  EXPECT_TRUE(eventually([&] { return visits_.is_back(early) && visits_.is_back(late); }));
  const auto next = visits_.send();
  EXPECT_TRUE(eventually([&] { return visits_.is_back(next); }));
}

}  // namespace
}  // namespace kyanite::net
