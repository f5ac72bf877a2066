#include "base/budget.h"

#include <gtest/gtest.h>

#include <optional>
#include <thread>
#include <vector>

namespace kyanite {
namespace {

TEST(Budget, OneAloneGetsAHalfAndNotAByteMore) {
  Budget budget(1000);
  Budget::Part part(budget, "peer", "account");
  EXPECT_TRUE(part.resize(500));
  EXPECT_FALSE(part.resize(501));
  EXPECT_EQ(part.bytes(), 500u);
  EXPECT_EQ(budget.used(), 500u);
  EXPECT_EQ(budget.refused(), 1u);
  EXPECT_TRUE(part.resize(0));
  EXPECT_EQ(budget.used(), 0u);
}

TEST(Budget, ThereIsAlwaysSomethingForOneMore) {
  Budget budget(1000);
  Budget::Part first(budget, "first"), second(budget, "second"), third(budget, "third");
  EXPECT_TRUE(first.resize(500));
  EXPECT_TRUE(second.resize(250));
  EXPECT_FALSE(second.resize(251));
  EXPECT_TRUE(third.resize(125));
  EXPECT_FALSE(first.resize(501));  // Who has most is refused first.
  EXPECT_TRUE(first.resize(100));   // Less is always possible.
  EXPECT_TRUE(second.resize(260));
}

TEST(Budget, ManyPartsOfOnePeerCountTogether) {
  Budget budget(1000);
  Budget::Part part(budget, "peer", "account");
  ASSERT_TRUE(part.resize(400));
  Budget::Part same(budget, "peer", "other");
  EXPECT_FALSE(same.resize(101));
  EXPECT_TRUE(same.resize(100));
  Budget::Part other(budget, "elsewhere", "account");
  EXPECT_TRUE(other.resize(200));
}

TEST(Budget, AllPeersOfOneAccountLeaveSomethingToOtherAccounts) {
  Budget budget(1000);
  Budget::Part first(budget, "first", "account"), second(budget, "second", "account");
  Budget::Part third(budget, "third", "account"), fourth(budget, "fourth", "account");
  Budget::Part other(budget, "fourth", "other");
  ASSERT_TRUE(first.resize(500));
  ASSERT_TRUE(second.resize(250));
  EXPECT_FALSE(third.resize(126)) << "three quarters and an eighth";
  EXPECT_TRUE(third.resize(125)) << "the others do not shut it out";
  EXPECT_FALSE(fourth.resize(1));
  EXPECT_TRUE(other.resize(62));
}

TEST(Budget, VeryLittleIsGivenAsLongAsAQuarterIsFree) {
  constexpr uint64_t kTotal = 4096 * 1000;
  Budget budget(kTotal);
  Budget::Part much(budget, "peer", "account"), little(budget, "peer", "account");
  ASSERT_TRUE(much.resize(kTotal / 2));
  EXPECT_FALSE(little.resize(1001));
  EXPECT_TRUE(little.resize(1000));
  EXPECT_FALSE(little.resize(1001));
  Budget::Part other(budget, "other"), last(budget, "peer", "account");
  ASSERT_TRUE(other.resize(kTotal / 4 - 1000));
  EXPECT_FALSE(last.resize(1000));
  EXPECT_TRUE(other.resize(kTotal / 4 - 2000));
  EXPECT_TRUE(last.resize(1000));
}

TEST(Budget, AFirstThingIsGivenAsLongAsThreeEighthsAreFree) {
  Budget budget(1000);
  Budget::Part much(budget, "peer", "account"), first(budget, "peer", "account");
  ASSERT_TRUE(much.resize(500));
  EXPECT_FALSE(first.resize(10));
  EXPECT_TRUE(first.resize(100, Budget::Asked::kFirst));
  EXPECT_FALSE(first.resize(101));
  Budget::Part last(budget, "peer", "account");
  EXPECT_FALSE(last.resize(26, Budget::Asked::kFirst));
  EXPECT_TRUE(last.resize(25, Budget::Asked::kFirst));
}

TEST(Budget, ManyWhoHoldOneThingEachLeaveVeryLittleToOthers) {
  constexpr uint64_t kTotal = 4096 * 1000;
  Budget budget(kTotal);
  std::vector<Budget::Part> parts;
  const auto take = [&](uint64_t bytes, Budget::Asked asked) {
    return parts.emplace_back(budget, "peer", "account").resize(bytes, asked);
  };
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(take(kTotal / 8, Budget::Asked::kFirst)) << i;
  EXPECT_FALSE(take(kTotal / 8, Budget::Asked::kFirst));
  EXPECT_FALSE(take(2000, Budget::Asked::kMore));
  EXPECT_TRUE(take(1000, Budget::Asked::kMore));
}

TEST(Budget, APeerIsAWholeIpv6Network) {
  Budget budget(1000);
  Budget::Part one(budget, "2001:db8::1"), other(budget, "2001:db8::2");
  EXPECT_TRUE(one.resize(400));
  EXPECT_FALSE(other.resize(101));
}

TEST(Budget, WhatEndsGivesBack) {
  Budget budget(1000);
  std::optional<Budget::Part> part(std::in_place, budget, "peer");
  ASSERT_TRUE(part->resize(500));
  Budget::Part moved = std::move(*part);
  part.reset();
  EXPECT_EQ(budget.used(), 500u);
  moved = Budget::Part();
  EXPECT_EQ(budget.used(), 0u);
}

TEST(Budget, ASmallerTotalTakesNothingAway) {
  Budget budget(1000);
  Budget::Part part(budget, "peer");
  ASSERT_TRUE(part.resize(500));
  budget.set_total(10);
  EXPECT_FALSE(part.resize(501));
  EXPECT_TRUE(part.resize(499));
}

TEST(Budget, HoldsAmongManyThreads) {
  Budget budget(1000);
  std::vector<std::thread> threads;
  for (const char* peer : {"a", "b", "c", "d"}) {
    threads.emplace_back([&budget, peer] {
      for (uint64_t i = 0; i < 2000; ++i) {
        Budget::Part part(budget, peer, "account");
        const bool held = part.resize(i % 400);
        EXPECT_TRUE(!held || budget.used() <= 1000u);
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(budget.used(), 0u);
}

TEST(Budget, BodiesOfThisProcessHaveOne) {
  EXPECT_GT(body_memory().total(), 0u);
  EXPECT_LE(body_memory().total(), 512u * 1024 * 1024);
}

}  // namespace
}  // namespace kyanite
