#include "tree/held_locks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

namespace kyanite::tree {
namespace {

constexpr uint64_t kLargest = std::numeric_limits<uint64_t>::max();

// The rules as they are said, lock by lock.
class Naive {
 public:
  bool conflicts(HandleId holder, const RangeLock& asked) const {
    return std::any_of(held_.begin(), held_.end(), [&](const Held& held) {
      if (!held.lock.exclusive && !asked.exclusive) return false;
      if (held.holder == holder && held.lock.exclusive && !asked.exclusive) return false;
      return overlap(held.lock.range, asked.range);
    });
  }
  bool forbid(HandleId holder, const ByteRange& range, bool write) const {
    return std::any_of(held_.begin(), held_.end(), [&](const Held& held) {
      const bool own = held.holder == holder;
      const bool forbids = write ? !own || !held.lock.exclusive : !own && held.lock.exclusive;
      return forbids && overlap(held.lock.range, range);
    });
  }
  void add(HandleId holder, const RangeLock& lock) { held_.push_back({holder, lock}); }
  bool remove(HandleId holder, const ByteRange& range) {
    for (const bool exclusive : {true, false}) {
      const auto found = std::find_if(held_.begin(), held_.end(), [&](const Held& held) {
        return held.holder == holder && held.lock.range == range &&
               held.lock.exclusive == exclusive;
      });
      if (found == held_.end()) continue;
      held_.erase(found);
      return true;
    }
    return false;
  }
  void remove_all(HandleId holder) {
    std::erase_if(held_, [&](const Held& held) { return held.holder == holder; });
  }
  size_t size() const { return held_.size(); }
  ByteRange any_range(uint64_t number) const {
    return held_.empty() ? ByteRange() : held_[number % held_.size()].lock.range;
  }

 private:
  struct Held {
    HandleId holder;
    RangeLock lock;
  };
  static uint64_t last_byte(const ByteRange& range) {
    return range.length - 1 > kLargest - range.offset ? kLargest : range.offset + range.length - 1;
  }
  static bool overlap(const ByteRange& a, const ByteRange& b) {
    if (a.length == 0 && b.length == 0) return false;
    if (a.length == 0) return b.offset < a.offset && a.offset <= last_byte(b);
    if (b.length == 0) return overlap(b, a);
    return a.offset <= last_byte(b) && b.offset <= last_byte(a);
  }

  std::vector<Held> held_;
};

// Places of `many` bytes, at the beginning of the file and at the largest offsets.
ByteRange random_range(std::mt19937_64& random, uint64_t many) {
  const uint64_t offset = random() % many;
  const uint64_t length = random() % (random() % 20 == 0 ? many : 4);
  return {random() % 8 == 0 ? kLargest - offset : offset, random() % 50 == 0 ? kLargest : length};
}

void compare(uint64_t seed, uint64_t many, size_t most) {
  SCOPED_TRACE(testing::Message() << "seed " << seed << ", " << many << " places");
  std::mt19937_64 random(seed);
  HeldLocks locks;
  Naive naive;
  const auto someone = [&] { return 1 + random() % 3; };
  for (int step = 0; step < 4000; ++step) {
    const HandleId holder = someone();
    const RangeLock asked{random_range(random, many), random() % 3 == 0};
    const bool conflicts = naive.conflicts(holder, asked);
    ASSERT_EQ(locks.conflicts(holder, asked), conflicts) << step;
    for (const bool write : {false, true}) {
      if (asked.range.length == 0) continue;
      ASSERT_EQ(locks.forbid(holder, asked.range, write), naive.forbid(holder, asked.range, write));
      ASSERT_EQ(locks.forbid(0, asked.range, write), naive.forbid(0, asked.range, write));
    }
    if (!conflicts && naive.size() < most) {
      locks.add(holder, asked);
      naive.add(holder, asked);
    }
    if (random() % 3 == 0 || naive.size() == most) {
      const HandleId other = someone();
      const ByteRange range = naive.any_range(random());
      ASSERT_EQ(locks.remove(other, range), naive.remove(other, range)) << step;
    }
    if (random() % 1000 == 0) {
      const HandleId leaving = someone();
      locks.remove_all(leaving);
      naive.remove_all(leaving);
    }
    ASSERT_EQ(locks.size(), naive.size()) << step;
  }
}

TEST(HeldLocks, DoAsTheRulesSay) {
  for (uint64_t seed = 1; seed <= 8; ++seed) compare(seed, 30, 40);      // Everything meets.
  for (uint64_t seed = 1; seed <= 2; ++seed) compare(seed, 6'000, 600);  // In several blocks.
}

// Few of many are left here and there: what remains is found all the same.
TEST(HeldLocks, AreFoundAfterMostAreGone) {
  HeldLocks locks;
  constexpr uint64_t kMany = 8192;
  for (uint64_t i = 0; i < kMany; ++i) locks.add(1 + i % 2, {{i * 10, 5}, true});
  for (uint64_t i = 0; i < kMany; ++i) {
    if (i % 100 == 0) continue;
    ASSERT_TRUE(locks.remove(1 + i % 2, ByteRange{i * 10, 5})) << i;
  }
  EXPECT_EQ(locks.size(), (kMany + 99) / 100);
  for (uint64_t i = 0; i < kMany; ++i)
    ASSERT_EQ(locks.conflicts(3, {{i * 10 + 4, 1}, false}), i % 100 == 0) << i;
  locks.remove_all(1);
  EXPECT_TRUE(locks.empty());
}

TEST(HeldLocks, OfTwoOfTheSameRangeTheExclusiveOneGoesFirst) {
  HeldLocks locks;
  locks.add(1, {{0, 10}, true});
  ASSERT_FALSE(locks.conflicts(1, {{0, 10}, false}));
  locks.add(1, {{0, 10}, false});
  EXPECT_TRUE(locks.conflicts(2, {{0, 10}, false}));
  EXPECT_TRUE(locks.remove(1, ByteRange{0, 10}));
  EXPECT_FALSE(locks.conflicts(2, {{0, 10}, false}));
  EXPECT_TRUE(locks.conflicts(2, {{0, 10}, true}));
  EXPECT_TRUE(locks.remove(1, ByteRange{0, 10}));
  EXPECT_FALSE(locks.remove(1, ByteRange{0, 10}));
}

}  // namespace
}  // namespace kyanite::tree
