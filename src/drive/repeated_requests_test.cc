// Requests that come again because their answer was lost.
#include <gtest/gtest.h>

#include "drive/app_instances.h"
#include "drive/channel_order.h"
#include "drive/lock_sequences.h"
#include "drive/named_creates.h"

namespace kyanite::drive {
namespace {

TEST(LockSequences, KnowWhatIsDone) {
  LockSequences sequences;
  sequences.done(1, 5);
  EXPECT_FALSE(sequences.is_done(1, 5)) << "nothing comes again on a connection that stays";
  sequences.enable();
  EXPECT_FALSE(sequences.is_done(1, 0));
  sequences.begin(1);
  sequences.done(1, 0);
  EXPECT_TRUE(sequences.is_done(1, 0));
  EXPECT_FALSE(sequences.is_done(1, 1));
  EXPECT_FALSE(sequences.is_done(2, 0)) << "each bucket counts by itself";
  // What has begun and failed is not done, nor is what was done before it.
  sequences.begin(1);
  EXPECT_FALSE(sequences.is_done(1, 0));
  // Index 0 and those beyond the last are no buckets.
  for (const uint32_t index : {0u, LockSequences::kBuckets + 1, 0xFFFFFFFu}) {
    sequences.begin(index);
    sequences.done(index, 3);
    EXPECT_FALSE(sequences.is_done(index, 3));
  }
  sequences.done(LockSequences::kBuckets, 15);
  EXPECT_TRUE(sequences.is_done(LockSequences::kBuckets, 15));
}

TEST(ChannelOrder, RefusesWhatIsLate) {
  ChannelOrder order(5);
  bool may_change = false;
  const auto enter = [&](uint16_t sequence, bool again = false) {
    order.leave(order.enter(sequence, again, may_change));
    return may_change;
  };
  EXPECT_TRUE(enter(5));
  EXPECT_FALSE(enter(4));
  EXPECT_TRUE(enter(6));
  EXPECT_FALSE(enter(5)) << "a connection was lost since";
  EXPECT_TRUE(enter(6 + 0x7FFF));
  EXPECT_FALSE(enter(5)) << "that far ahead is behind";
  EXPECT_TRUE(enter(0)) << "numbers begin again";
}

TEST(ChannelOrder, WhoComesBackCountsAnew) {
  ChannelOrder order(5);
  bool may_change = false;
  const auto before = order.enter(5, false, may_change);
  EXPECT_TRUE(may_change);
  order.begin_anew(0);
  const auto again = order.enter(0, true, may_change);
  EXPECT_FALSE(may_change) << "the first may still be served";
  order.leave(before);
  order.leave(again);
  order.enter(0, true, may_change);
  EXPECT_TRUE(may_change);
}

TEST(ChannelOrder, WhatIsSentAgainWaitsForWhatWasSentBefore) {
  ChannelOrder order;
  bool may_change = false;
  const auto before = order.enter(0, false, may_change);
  EXPECT_TRUE(may_change);
  order.leave(order.enter(1, true, may_change));
  EXPECT_FALSE(may_change) << "the first is still served";
  order.leave(order.enter(1, false, may_change));
  EXPECT_TRUE(may_change) << "this one is new";
  order.leave(before);
  order.leave(order.enter(1, true, may_change));
  EXPECT_TRUE(may_change);
}

TEST(AppInstances, AreKnownOnOtherMachines) {
  AppInstances programs;
  smb::Guid program{}, here{}, there{};
  program.fill('p');
  here.fill('h');
  there.fill('t');
  programs.add(program, {here, 1});
  programs.add(program, {there, 2});
  programs.add({}, {there, 3});
  EXPECT_EQ(programs.count(program), 2u);
  EXPECT_EQ(programs.elsewhere(program, here), std::vector<tree::HandleId>{2});
  EXPECT_EQ(programs.elsewhere(program, there), std::vector<tree::HandleId>{1});
  programs.remove(program, 2);
  EXPECT_TRUE(programs.elsewhere(program, here).empty());
}

TEST(NamedCreates, AreKnownWhileServedAndWhileOpen) {
  NamedCreates creates;
  smb::Guid client{};
  smb::Guid request{};
  client.fill('c');
  request.fill('r');
  const NamedCreates::Name name{client, request};
  EXPECT_EQ(creates.begin(name), std::nullopt);
  EXPECT_EQ(creates.begin(name), tree::HandleId{0}) << "it is being served";
  smb::Guid other{};
  EXPECT_EQ(creates.begin({other, request}), std::nullopt) << "names are each client's own";
  creates.end(name, 77);
  EXPECT_EQ(creates.begin(name), tree::HandleId{77});
  creates.end(name, 0);
  EXPECT_EQ(creates.begin(name), std::nullopt);
}

}  // namespace
}  // namespace kyanite::drive
