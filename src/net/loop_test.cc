#include "net/loop.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <atomic>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "base/executor.h"
#include "net/socket.h"

namespace kyanite::net {
namespace {

// A loop on a thread of its own.
class RunningLoop {
 public:
  RunningLoop() : thread_([this] { loop.run(); }) {}
  ~RunningLoop() {
    loop.stop();
    thread_.join();
  }
  Loop loop;

 private:
  std::thread thread_;
};

// Receives one byte, as connections do: tries, and waits after EAGAIN.
Task<Wake> receive_byte(Loop& loop, Socket& socket, int64_t wait_ms) {
  co_await loop.turn();
  while (true) {
    char byte;
    if (recv(socket.descriptor(), &byte, 1, 0) == 1) co_return Wake::kReady;
    socket.would_block(Direction::kRead);
    const Wake wake = co_await socket.wait(Direction::kRead, loop.now_ms() + wait_ms);
    if (wake != Wake::kReady) co_return wake;
  }
}

// Runs a task that moves to the loop, and waits here for its result.
template <class T>
T wait_for(Task<T> task) {
  std::atomic<bool> done{false};
  std::optional<T> result;
  [](Task<T> inner, std::optional<T>& out, std::atomic<bool>& flag) -> Detached {
    out.emplace(co_await std::move(inner));
    flag = true;
    flag.notify_one();
  }(std::move(task), result, done);
  done.wait(false);
  return std::move(*result);
}

struct SocketPair {
  SocketPair() {
    int ends[2];
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
    near = Descriptor(ends[0]);
    far = Descriptor(ends[1]);
  }
  Descriptor near;
  Descriptor far;
};

Task<bool> destroy(Loop& loop, std::unique_ptr<Socket>& socket) {
  co_await loop.turn();
  socket.reset();
  co_return true;
}

TEST(Loop, KnowsWhetherSomebodyWaitsForIt) {
  RunningLoop running;
  SocketPair pair;
  auto socket = std::make_unique<Socket>(running.loop, std::move(pair.near));
  const auto observe = [&]() -> Task<std::vector<bool>> {
    co_await running.loop.turn();
    std::vector<bool> awaited = {running.loop.is_awaited()};
    // Somebody reads from a socket on this loop, and then has something to read.
    bool received = false;
    [](Loop& loop, Socket& from, bool& flag) -> Detached {
      flag = co_await receive_byte(loop, from, 60'000) == Wake::kReady;
    }(running.loop, *socket, received);
    awaited.push_back(running.loop.is_awaited());  // It has not begun.
    co_await running.loop.turn();
    awaited.push_back(running.loop.is_awaited());
    EXPECT_EQ(send(pair.far.number(), "x", 1, 0), 1);
    awaited.push_back(running.loop.is_awaited());
    co_await running.loop.turn();
    EXPECT_TRUE(received);
    awaited.push_back(running.loop.is_awaited());
    // Somebody comes from another thread.
    bool arrived = false;
    std::thread([&] {
      [](Loop& loop, bool& flag) -> Detached {
        co_await loop.turn();
        flag = true;
      }(running.loop, arrived);
    }).join();
    awaited.push_back(running.loop.is_awaited());
    co_await running.loop.turn();
    co_await running.loop.turn();
    EXPECT_TRUE(arrived);
    co_return awaited;
  };
  EXPECT_EQ(wait_for(observe()), (std::vector<bool>{false, true, false, true, false, true}));
  EXPECT_TRUE(wait_for(destroy(running.loop, socket)));
}

TEST(Loop, PostsFromManyThreadsAllArrive) {
  constexpr int kThreads = 4;
  constexpr int kPosts = 5'000;
  int count = 0;  // Changed on the loop only.
  RunningLoop running;
  const auto hop = [](Loop& loop, int& counter) -> Detached {
    co_await loop.turn();
    ++counter;
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      for (int j = 0; j < kPosts; ++j) hop(running.loop, count);
    });
  }
  for (auto& thread : threads) thread.join();
  const auto read_count = [](Loop& loop, int& counter) -> Task<int> {
    co_await loop.turn();
    co_return counter;
  };
  EXPECT_EQ(wait_for(read_count(running.loop, count)), kThreads * kPosts);
}

TEST(Loop, IsTheCurrentExecutor) {
  RunningLoop running;
  const auto ask = [](Loop& loop) -> Task<Executor*> {
    co_await loop.turn();
    co_return Executor::current();
  };
  EXPECT_EQ(wait_for(ask(running.loop)), &running.loop);
  EXPECT_EQ(Executor::current(), nullptr);
}

TEST(Loop, ComesBackFromAWorker) {
  RunningLoop running;
  Workers workers(1);
  const auto cross = [](Loop& loop, Workers& pool) -> Task<bool> {
    co_await loop.turn();
    const auto here = std::this_thread::get_id();
    const auto there = co_await pool.run([] { return std::this_thread::get_id(); });
    co_return here != there&& here == std::this_thread::get_id();
  };
  EXPECT_TRUE(wait_for(cross(running.loop, workers)));
}

TEST(Loop, SleepsAtLeastThatLong) {
  RunningLoop running;
  const auto nap = [](Loop& loop) -> Task<int64_t> {
    co_await loop.turn();
    const int64_t begin = loop.now_ms();
    co_await loop.sleep_until(begin + 60);
    co_return loop.now_ms() - begin;
  };
  EXPECT_GE(wait_for(nap(running.loop)), 60);
}

TEST(Socket, WakesWhenBytesArriveTimesOutAndIsInterrupted) {
  RunningLoop running;
  SocketPair pair;
  auto socket = std::make_unique<Socket>(running.loop, std::move(pair.near));
  EXPECT_EQ(wait_for(receive_byte(running.loop, *socket, 60)), Wake::kTimedOut);

  std::thread sender([&] { EXPECT_EQ(send(pair.far.number(), "x", 1, 0), 1); });
  EXPECT_EQ(wait_for(receive_byte(running.loop, *socket, 60'000)), Wake::kReady);
  sender.join();

  const auto interrupt = [](Loop& loop, Socket& target) -> Detached {
    co_await loop.turn();
    target.interrupt();
  };
  std::thread interrupter([&] { interrupt(running.loop, *socket); });
  EXPECT_EQ(wait_for(receive_byte(running.loop, *socket, 60'000)), Wake::kInterrupted);
  interrupter.join();
  EXPECT_TRUE(wait_for(destroy(running.loop, socket)));
}

TEST(Socket, AnEndSeenWithTheLastBytesIsNotForgotten) {
  RunningLoop running;
  SocketPair pair;
  EXPECT_EQ(send(pair.far.number(), "x", 1, 0), 1);
  EXPECT_EQ(shutdown(pair.far.number(), SHUT_WR), 0);
  auto socket = std::make_unique<Socket>(running.loop, std::move(pair.near));
  const auto after_short_read = [](Loop& loop, Socket& target) -> Task<bool> {
    co_await loop.turn();  // By now the loop has seen both.
    target.drained();
    co_return target.may_try(Direction::kRead);
  };
  EXPECT_TRUE(wait_for(after_short_read(running.loop, *socket)));
  EXPECT_TRUE(wait_for(destroy(running.loop, socket)));
}

}  // namespace
}  // namespace kyanite::net
