#include "net/peers.h"

#include <gtest/gtest.h>

#include <list>
#include <map>
#include <string>

namespace kyanite::net {
namespace {

class PeersTest : public testing::Test {
 protected:
  Peers::Seat& join(const std::string& peer) {
    seats_.emplace_back(peers_, peer, nullptr);
    return seats_.back();
  }
  Peers::Seat* resting(std::string_view newcomer = "new") {
    return peers_.find_resting(newcomer, [](Peers::Seat&) { return true; });
  }
  Peers::Seat* stalled(std::string_view newcomer, int64_t least_ms) {
    return peers_.find_stalled(newcomer, least_ms, [this](Peers::Seat& seat) {
      const auto found = waited_ms_.find(&seat);
      return found == waited_ms_.end() ? int64_t{-1} : found->second;
    });
  }

  Peers peers_;
  std::list<Peers::Seat> seats_;
  std::map<Peers::Seat*, int64_t> waited_ms_;
};

TEST_F(PeersTest, NobodyYieldsWhereNobodyIs) {
  EXPECT_EQ(resting(), nullptr);
  EXPECT_EQ(stalled("a", 0), nullptr);
  EXPECT_EQ(peers_.count("a"), 0u);
}

TEST_F(PeersTest, CountsByPeer) {
  join("a");
  join("a");
  join("b");
  EXPECT_EQ(peers_.count("a"), 2u);
  seats_.pop_front();
  EXPECT_EQ(peers_.count("a"), 1u);
  EXPECT_EQ(peers_.count("b"), 1u);
  seats_.clear();
  EXPECT_EQ(peers_.count("a"), 0u);
  EXPECT_EQ(resting(), nullptr);
}

TEST_F(PeersTest, ThePeerWithMostYieldsWhatHasRestedLongest) {
  join("b");
  Peers::Seat& first = join("a");
  Peers::Seat& second = join("a");
  join("a");
  EXPECT_EQ(resting(), &first);
  first.begin_request();
  EXPECT_EQ(resting(), &second);
  first.end_request();
  EXPECT_EQ(resting(), &second);
}

TEST_F(PeersTest, APeerWithNothingAtRestIsPassedOver) {
  Peers::Seat& only = join("b");
  for (int i = 0; i < 3; ++i) join("a").begin_request();
  EXPECT_EQ(resting(), &only);
  only.begin_request();
  EXPECT_EQ(resting(), nullptr);
}

TEST_F(PeersTest, WhoHasNoMoreThanTheNewcomerKeepsIt) {
  Peers::Seat& of_a = join("a");
  Peers::Seat& of_b = join("b");
  EXPECT_EQ(resting("a"), &of_a);
  EXPECT_EQ(resting("b"), &of_b);
  join("a").begin_request();
  of_a.begin_request();
  EXPECT_EQ(resting("a"), nullptr);
  of_a.end_request();
  EXPECT_EQ(resting("b"), &of_a);
}

TEST_F(PeersTest, OnlyThoseYieldThatMay) {
  Peers::Seat& first = join("a");
  Peers::Seat& second = join("a");
  EXPECT_EQ(peers_.find_resting("new", [&](Peers::Seat& seat) { return &seat != &first; }),
            &second);
}

TEST_F(PeersTest, TheGreediestYieldsARequestThatStalls) {
  Peers::Seat* busy[4];
  for (auto& seat : busy) {
    seat = &join("a");
    seat->begin_request();
  }
  waited_ms_ = {{busy[1], 50}, {busy[2], 100}, {busy[3], 99}};
  EXPECT_EQ(stalled("b", 100), busy[2]);
  EXPECT_EQ(stalled("b", 101), nullptr);
  EXPECT_EQ(stalled("a", 100), nullptr);  // Not to itself.
  join("b");
  EXPECT_EQ(stalled("b", 100), nullptr);  // To two of b, four are not too many.
  join("a");
  EXPECT_EQ(stalled("b", 100), busy[2]);
}

}  // namespace
}  // namespace kyanite::net
