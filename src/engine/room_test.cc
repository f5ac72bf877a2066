#include "engine/room.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <filesystem>

#include "engine/pin.h"
#include "engine/sweep.h"
#include "engine/test_location.h"
#include "os/fault.h"

namespace kyanite::engine {
namespace {

using store::Error;
using store::pattern;
using store::record_of;

constexpr uint64_t kMiB = uint64_t{1} << 20;

// A commit that finds `before` at the key of that name, and puts `after` there.
store::Commit change(const std::string& name, store::RecordPtr before, store::RecordPtr after) {
  return {{{test_key(name), std::move(before)}}, {{test_key(name), std::move(after)}}};
}

bool is_full(const store::Result<void>& result) {
  return !result.ok() && result.error() == Error::kFull;
}

TEST(Frees, WhatTakesSomethingAwayAndAddsLittle) {
  const auto small = record_of(std::string(100, 'x'));
  const auto large = record_of(std::string(5'000, 'x'));
  EXPECT_TRUE(frees(change("a", small, nullptr)));
  EXPECT_TRUE(frees({{}, {{test_key("a"), nullptr}}})) << "as erase does";
  EXPECT_TRUE(frees(change("a", large, large))) << "marked as deleted";
  auto moved = change("a", large, nullptr);
  moved.put(test_key("b"), large);
  EXPECT_TRUE(frees(moved)) << "kept elsewhere for a while";
  auto buried = change("a", small, nullptr);
  buried.put(test_key("b"), small);
  EXPECT_TRUE(frees(buried));

  EXPECT_FALSE(frees(change("a", nullptr, small))) << "new";
  EXPECT_FALSE(frees({{}, {{test_key("a"), small}}})) << "nobody knows what was there";
  EXPECT_FALSE(frees(change("a", small, large))) << "grows";
  EXPECT_FALSE(frees({{{test_key("a"), large}}, {{test_key("b"), small}}})) << "leaves all there";
}

// A disk of some size: the reserve and what `used` says are on it.
class RoomTest : public testing::Test {
 protected:
  uint64_t reserve() const {
    std::error_code none;
    const auto size = std::filesystem::file_size(location_.path() + "/reserve", none);
    return none ? 0 : size;
  }
  Room::Measure measure() {
    return [this]() -> os::Result<uint64_t> {
      const uint64_t taken = used_ + reserve();
      return taken > disk_ ? 0 : disk_ - taken;
    };
  }
  Options options() {
    auto options = location_.options();
    options.reserve_bytes = 32 * kMiB;
    options.free_bytes = measure();
    return options;
  }
  // Waits until the engine has looked at the disk.
  static bool soon(const std::function<bool()>& true_of_it) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (!true_of_it()) {
      if (std::chrono::steady_clock::now() > deadline) return false;
    }
    return true;
  }
  void TearDown() override { os::set_fault_hook({}); }

  TestLocation location_;
  std::atomic<uint64_t> disk_{1024 * kMiB};
  std::atomic<uint64_t> used_{0};
};

TEST_F(RoomTest, TheReserveIsKeptGivenUpAndMadeAnew) {
  Room room(location_.path(), 32 * kMiB, measure());
  room.look();
  EXPECT_EQ(reserve(), 32 * kMiB);
  EXPECT_TRUE(room.plenty());
  EXPECT_TRUE(room.make(900 * kMiB));
  EXPECT_EQ(reserve(), 32 * kMiB);
  used_ = 984 * kMiB;  // 8 MiB are left.
  EXPECT_TRUE(soon([&] { return room.look(), !room.plenty(); }));
  EXPECT_EQ(reserve(), 32 * kMiB);
  used_ = 991 * kMiB;  // Next to nothing is.
  EXPECT_TRUE(soon([&] { return room.look(), reserve() == 0; }));
  EXPECT_FALSE(room.plenty());
  used_ = 990 * kMiB;  // More than a little, but what is above goes to the reserve first.
  EXPECT_TRUE(soon([&] { return room.look(), reserve() == 2 * kMiB; }));
  EXPECT_FALSE(room.plenty());
  used_ = 500 * kMiB;
  EXPECT_TRUE(soon([&] { return room.look(), room.plenty(); }));
  EXPECT_EQ(reserve(), 32 * kMiB);
}

TEST_F(RoomTest, NoInstantIsKeptOnAFullDisk) {
  auto engine = Engine::open(options());
  ASSERT_TRUE(engine.ok()) << engine.error();
  used_ = 984 * kMiB;  // 8 MiB are left beside the reserve.
  const auto refused = [&] {
    auto pin = (*engine)->pin();
    return !pin && pin.error().find("the disk is full") != std::string::npos;
  };
  EXPECT_TRUE(soon(refused));
  EXPECT_FALSE(std::filesystem::exists(location_.path() + "/pinned"));
  used_ = 0;
  EXPECT_TRUE(soon([&] { return (*engine)->pin().ok(); }));
}

TEST_F(RoomTest, AReserveThatIsThereIsFoundAgain) {
  Room(location_.path(), 32 * kMiB, measure()).look();
  used_ = 992 * kMiB;
  Room room(location_.path(), 32 * kMiB, measure());
  room.look();
  EXPECT_FALSE(room.make(100 * kMiB));
  EXPECT_EQ(reserve(), 0u);
  EXPECT_TRUE(room.make(32 * kMiB));
}

TEST_F(RoomTest, OnAFullDiskDeletionsAreTaken) {
  auto engine = std::move(*Engine::open(options()));
  const auto value = record_of("value");
  for (const char* name : {"a", "b", "c"}) ASSERT_TRUE(put(*engine, name, "value").ok());
  used_ = 984 * kMiB;
  EXPECT_TRUE(soon([&] { return is_full(put(*engine, "new", "v")); }));
  EXPECT_EQ(append(*engine, "bytes").error(), Error::kFull);
  EXPECT_TRUE(RunLoop::run(engine->commit(change("a", value, nullptr))).ok());
  EXPECT_TRUE(RunLoop::run(engine->commit(change("b", value, record_of("deleted")))).ok());
  EXPECT_EQ(RunLoop::run(engine->commit(change("b", value, nullptr))).error(), Error::kConflict);
  EXPECT_EQ(*RunLoop::run(engine->erase(store::Range::space(1), 1)), 1u);
  used_ = 0;
  EXPECT_TRUE(soon([&] { return put(*engine, "new", "v").ok(); }));
  EXPECT_TRUE(append(*engine, "bytes").ok());
}

TEST_F(RoomTest, TheReserveServesDeletionsWhereTheDiskIsFullToTheLastByte) {
  auto engine = std::move(*Engine::open(options()));
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(put(*engine, std::to_string(i), "value").ok());
  const auto fill = [&] {
    used_ = 1024 * kMiB;
    os::set_fault_hook([&](os::SystemCall call, std::string_view path) {
      const bool grows = call == os::SystemCall::kWrite && path.ends_with(".log");
      return os::Fault{grows && reserve() != 0 ? ENOSPC : 0};
    });
    disk_ = 1024 * kMiB + reserve();
  };
  fill();
  EXPECT_TRUE(soon([&] { return remove(*engine, "0").ok(); }));
  EXPECT_TRUE(is_full(put(*engine, "new", "v")));
  // And after a start.
  os::set_fault_hook({});
  used_ = 0;
  EXPECT_TRUE(soon([&] { return put(*engine, "new", "v").ok(); }));
  fill();
  engine.reset();
  auto opened = Engine::open(options());
  ASSERT_TRUE(opened.ok()) << opened.error();
  EXPECT_TRUE(soon([&] { return remove(**opened, "1").ok(); }));
  EXPECT_EQ(get(**opened, "0").value(), nullptr);
  EXPECT_EQ(get(**opened, "1").value(), nullptr);
  EXPECT_NE(get(**opened, "2").value(), nullptr);
}

TEST_F(RoomTest, AStartWithoutAnyRoomIsRefused) {
  location_.open();
  disk_ = 0;
  auto refused = Engine::open(options());
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().find("is full"), std::string::npos) << refused.error();
}

TEST_F(RoomTest, ASweepOfAFullDiskTakesWhatWasLastAppendedTo) {
  auto engine = std::move(*Engine::open(options()));
  {
    const auto hold = engine->hold();
    const auto ref = append(*engine, pattern(200'000, 1));
    ASSERT_TRUE(put(*engine, "a", "v", {*ref}).ok());
  }
  ASSERT_TRUE(remove(*engine, "a").ok());
  EXPECT_EQ(engine->sweep_now()->reclaimed_bytes, 0u) << "it may be appended to";
  used_ = 984 * kMiB;
  EXPECT_TRUE(soon([&] { return !put(*engine, "new", "v").ok(); }));
  EXPECT_GT(engine->sweep_now()->reclaimed_bytes, 190'000u);
}

}  // namespace
}  // namespace kyanite::engine
