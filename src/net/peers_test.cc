#include "net/peers.h"

#include <gtest/gtest.h>

#include <list>
#include <map>
#include <string>

namespace kyanite::net {
namespace {

class PeersTest : public testing::Test {
 protected:
  Peers::Place& join(const std::string& peer) {
    places_.emplace_back(peers_, peer, nullptr);
    return places_.back();
  }
  Peers::Place* resting(std::string_view newcomer = "new") {
    return peers_.find_resting(newcomer, [](Peers::Place&) { return true; });
  }
  Peers::Place* stalled(std::string_view newcomer, int64_t least_ms) {
    return peers_.find_stalled(newcomer, least_ms, [this](Peers::Place& place) {
      const auto found = waited_ms_.find(&place);
      return found == waited_ms_.end() ? int64_t{-1} : found->second;
    });
  }

  Peers peers_;
  std::list<Peers::Place> places_;
  std::map<Peers::Place*, int64_t> waited_ms_;
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
  places_.pop_front();
  EXPECT_EQ(peers_.count("a"), 1u);
  EXPECT_EQ(peers_.count("b"), 1u);
  places_.clear();
  EXPECT_EQ(peers_.count("a"), 0u);
  EXPECT_EQ(resting(), nullptr);
}

TEST_F(PeersTest, ThePeerWithMostYieldsWhatHasRestedLongest) {
  join("b");
  Peers::Place& first = join("a");
  Peers::Place& second = join("a");
  join("a");
  EXPECT_EQ(resting(), &first);
  first.begin_request();
  EXPECT_EQ(resting(), &second);
  first.end_request();
  EXPECT_EQ(resting(), &second);
}

TEST_F(PeersTest, APeerWithNothingAtRestIsPassedOver) {
  Peers::Place& only = join("b");
  for (int i = 0; i < 3; ++i) join("a").begin_request();
  EXPECT_EQ(resting(), &only);
  only.begin_request();
  EXPECT_EQ(resting(), nullptr);
}

TEST_F(PeersTest, WhoHasNoMoreThanTheNewcomerKeepsIt) {
  Peers::Place& of_a = join("a");
  Peers::Place& of_b = join("b");
  EXPECT_EQ(resting("a"), &of_a);
  EXPECT_EQ(resting("b"), &of_b);
  join("a").begin_request();
  of_a.begin_request();
  EXPECT_EQ(resting("a"), nullptr);
  of_a.end_request();
  EXPECT_EQ(resting("b"), &of_a);
}

TEST_F(PeersTest, OnlyThoseYieldThatMay) {
  Peers::Place& first = join("a");
  Peers::Place& second = join("a");
  EXPECT_EQ(peers_.find_resting("new", [&](Peers::Place& place) { return &place != &first; }),
            &second);
}

TEST_F(PeersTest, TheGreediestYieldsARequestThatStalls) {
  Peers::Place* busy[4];
  for (auto& place : busy) {
    place = &join("a");
    place->begin_request();
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
