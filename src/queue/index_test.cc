#include "queue/index.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace kyanite::queue {
namespace {

constexpr Time kNow{1'000'000};
constexpr Time kLater{2'000'000};

Position at(int64_t ticks, uint64_t id = 0) { return {{ticks}, {0, id}}; }
MessagePlace ready(int64_t ticks, uint64_t id = 0) { return {Lane::kReady, at(ticks, id)}; }
MessagePlace hidden(int64_t ticks, uint64_t id = 0) { return {Lane::kHidden, at(ticks, id)}; }

// An index that knows the store is empty.
class IndexTest : public testing::Test {
 protected:
  IndexTest() {
    for (const Lane lane : kLanes) load(lane, {}, Position::last());
  }
  void load(Lane lane, const std::vector<Position>& found, const Position& until) {
    const Position from = index.begin_count(lane);
    index.abandon_load(lane);
    ASSERT_TRUE(index.begin_load({lane, from}));
    finish(lane, found, until);
  }
  void finish(Lane lane, const std::vector<Position>& found, const Position& until) {
    std::vector<Window::Known> known;
    for (const Position& position : found) known.push_back({position, kLater});
    index.finish_load(lane, known, until, 0);
  }
  std::vector<MessagePlace> claim(size_t most, Time now = kNow) {
    return index.claim(now, most).places;
  }

  Index index;
};

TEST_F(IndexTest, HandsOutTheEarliestOfBothLanes) {
  index.added(ready(30), kLater);
  index.added(hidden(20), kLater);
  index.added(ready(10), kLater);
  EXPECT_EQ(claim(2), (std::vector<MessagePlace>{ready(10), hidden(20)}));
  EXPECT_EQ(claim(2), (std::vector<MessagePlace>{ready(30)}));
  EXPECT_EQ(claim(2), (std::vector<MessagePlace>{}));
}

TEST_F(IndexTest, HidesWhatIsNotVisibleYet) {
  index.added(hidden(kNow.ticks + 1), kLater);
  EXPECT_TRUE(claim(1).empty());
  EXPECT_EQ(claim(1, {kNow.ticks + 1}).size(), 1u);
}

TEST_F(IndexTest, PassesOverWhatHasExpired) {
  index.added(ready(1), kNow);
  index.added(ready(2), {kNow.ticks + 1});
  EXPECT_EQ(index.count(kNow), 1u);
  EXPECT_EQ(claim(2), (std::vector<MessagePlace>{ready(2)}));
}

TEST_F(IndexTest, UnclaimedIsEveryonesAgain) {
  index.added(ready(1), kLater);
  EXPECT_EQ(claim(1).size(), 1u);
  EXPECT_TRUE(claim(1).empty());
  index.unclaim(ready(1));
  EXPECT_EQ(claim(1).size(), 1u);
}

TEST_F(IndexTest, RemovedWhileClaimedDoesNotComeBack) {
  index.added(ready(1), kLater);
  EXPECT_EQ(claim(1).size(), 1u);
  index.removed(ready(1));
  index.unclaim(ready(1));
  EXPECT_TRUE(claim(1).empty());
  EXPECT_EQ(index.count(kNow), 0u);
}

TEST_F(IndexTest, PeekTakesNothing) {
  index.added(ready(1), kLater);
  EXPECT_EQ(index.peek(kNow, 5).places.size(), 1u);
  EXPECT_EQ(index.peek(kNow, 5).places.size(), 1u);
}

TEST(FreshIndex, MustBeLoaded) {
  Index index;
  const auto visible = index.claim(kNow, 1);
  ASSERT_TRUE(visible.unknown);
  EXPECT_EQ(visible.unknown->from, Position::first());
  EXPECT_EQ(index.count(kNow), std::nullopt);
}

TEST_F(IndexTest, AsksForTheLaneThatMightComeFirst) {
  index.forget();
  load(Lane::kReady, {at(10), at(50)}, at(60));
  load(Lane::kHidden, {}, at(30));
  // 10 comes before anything unknown; 50 does not.
  const auto visible = index.claim(kNow, 2);
  EXPECT_EQ(visible.places, (std::vector<MessagePlace>{ready(10)}));
  ASSERT_TRUE(visible.unknown);
  EXPECT_EQ(visible.unknown->lane, Lane::kHidden);
  EXPECT_EQ(visible.unknown->from, at(30));
}

TEST_F(IndexTest, NothingToLoadWhenTheUnknownIsInTheFuture) {
  index.forget();
  load(Lane::kReady, {}, Position::last());
  load(Lane::kHidden, {}, at(kNow.ticks + 1));
  EXPECT_FALSE(index.claim(kNow, 1).unknown);
}

TEST_F(IndexTest, OnlyOneOfThoseWhoNeedItLoads) {
  index.forget();
  const auto unknown = *index.claim(kNow, 1).unknown;
  ASSERT_TRUE(index.begin_load(unknown));
  finish(unknown.lane, {at(5)}, at(10));
  EXPECT_FALSE(index.begin_load(unknown));
}

// What is committed while a load reads may be in what it finds or not.
struct DuringLoadCase {
  const char* name;
  void (*change)(Index&);
  std::vector<Position> found;
  std::vector<MessagePlace> expected;
};
class DuringLoad : public IndexTest, public testing::WithParamInterface<DuringLoadCase> {};

TEST_P(DuringLoad, IsMerged) {
  index.forget();
  load(Lane::kHidden, {}, Position::last());
  ASSERT_TRUE(index.begin_load({Lane::kReady, Position::first()}));
  GetParam().change(index);
  finish(Lane::kReady, GetParam().found, Position::last());
  EXPECT_EQ(claim(10), GetParam().expected);
}
INSTANTIATE_TEST_SUITE_P(
    Index, DuringLoad,
    testing::Values(
        DuringLoadCase{
            "AddedUnseen", [](Index& index) { index.added(ready(7), kLater); }, {}, {ready(7)}},
        DuringLoadCase{
            "AddedSeen", [](Index& index) { index.added(ready(7), kLater); }, {at(7)}, {ready(7)}},
        DuringLoadCase{"RemovedSeen", [](Index& index) { index.removed(ready(7)); }, {at(7)}, {}},
        DuringLoadCase{"RemovedUnseen", [](Index& index) { index.removed(ready(7)); }, {}, {}},
        DuringLoadCase{"Moved",
                       [](Index& index) { index.moved(ready(7), hidden(9), kLater); },
                       {at(7), at(8)},
                       {ready(8), hidden(9)}},
        DuringLoadCase{"AddedAndRemoved",
                       [](Index& index) {
                         index.added(ready(7), kLater);
                         index.removed(ready(7));
                       },
                       {at(7)},
                       {}}),
    [](const auto& each) { return each.param.name; });

TEST_F(IndexTest, SaysInTimeThatItRunsLow) {
  EXPECT_FALSE(index.running_low(kNow)) << "all is known";
  index.forget();
  load(Lane::kHidden, {}, Position::last());
  std::vector<Position> found;
  for (size_t i = 1; i <= Window::kLow; ++i) found.push_back(at(static_cast<int64_t>(i)));
  load(Lane::kReady, found, at(5000));
  EXPECT_FALSE(index.running_low(kNow));
  claim(1);
  const auto low = index.running_low(kNow);
  ASSERT_TRUE(low);
  EXPECT_EQ(low->from, at(5000));
  ASSERT_TRUE(index.begin_load(*low));
  EXPECT_FALSE(index.running_low(kNow)) << "someone is loading";
  finish(Lane::kReady, {}, at(kNow.ticks + 1));
  EXPECT_FALSE(index.running_low(kNow)) << "the rest is in the future";
}

TEST_F(IndexTest, ForgettingEndsALoad) {
  index.forget();
  const auto unknown = *index.claim(kNow, 1).unknown;
  ASSERT_TRUE(index.begin_load(unknown));
  index.forget();
  finish(unknown.lane, {at(5)}, Position::last());
  EXPECT_TRUE(index.claim(kNow, 1).unknown);
}

TEST_F(IndexTest, KeepsOnlyTheFirstAndCountsAll) {
  const int64_t total = static_cast<int64_t>(Window::kCapacity) + 100;
  for (int64_t i = 1; i <= total; ++i) index.added(ready(i), kLater);
  EXPECT_EQ(index.size(), Window::kCapacity);
  EXPECT_EQ(index.count(kNow), static_cast<uint64_t>(total));
  EXPECT_EQ(claim(Window::kCapacity).size(), Window::kCapacity);
  const auto visible = index.claim(kNow, 1);
  ASSERT_TRUE(visible.unknown);
  EXPECT_EQ(visible.unknown->from, at(static_cast<int64_t>(Window::kCapacity) + 1));
}

TEST_F(IndexTest, CountsBeyondTheWindow) {
  index.forget();
  load(Lane::kHidden, {}, Position::last());
  load(Lane::kReady, {at(1), at(2)}, at(10));
  EXPECT_EQ(index.count(kNow), std::nullopt);
  index.begin_count(Lane::kReady);
  index.added(ready(50), kLater);
  index.finish_count(Lane::kReady, 1000);
  EXPECT_EQ(index.count(kNow), 1003u);
  index.removed(ready(50));
  EXPECT_EQ(index.count(kNow), 1002u);
  load(Lane::kReady, {at(10), at(11), at(12)}, at(20));
  EXPECT_EQ(index.count(kNow), 1002u);
}

// Against a plain set: whatever is committed, claimed, loaded, forgotten in whatever order, claims
// give exactly the first messages that nobody has claimed.
TEST(IndexWalk, AgreesWithAPlainSet) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    Index index;
    std::set<Position> stored[2];
    std::set<Position> claimed[2];
    const auto lane_set = [](auto& sets, Lane lane) -> auto& {
      return sets[lane == Lane::kReady ? 0 : 1];
    };
    const auto load = [&](const Index::Unknown& unknown) {
      ASSERT_TRUE(index.begin_load(unknown));
      std::vector<Window::Known> found;
      Position until = Position::last();
      const auto& set = lane_set(stored, unknown.lane);
      for (auto each = set.lower_bound(unknown.from); each != set.end(); ++each) {
        if (found.size() == 3) {
          until = *each;
          break;
        }
        found.push_back({*each, kLater});
      }
      index.finish_load(unknown.lane, found, until, 0);
    };
    uint64_t next_id = 1;
    for (int step = 0; step < 3000; ++step) {
      const Lane lane = kLanes[random() % 2];
      auto& lane_stored = lane_set(stored, lane);
      auto& lane_claimed = lane_set(claimed, lane);
      switch (random() % 8) {
        case 0:
        case 1: {
          const Position position = at(static_cast<int64_t>(random() % 500), next_id++);
          lane_stored.insert(position);
          index.added({lane, position}, kLater);
          break;
        }
        case 2:
          if (lane_stored.empty()) break;
          index.removed({lane, *lane_stored.begin()});
          lane_claimed.erase(*lane_stored.begin());
          lane_stored.erase(lane_stored.begin());
          break;
        case 3:
          if (lane_claimed.empty()) break;
          index.unclaim({lane, *lane_claimed.begin()});
          lane_claimed.erase(lane_claimed.begin());
          break;
        case 4:
          if (random() % 20 == 0) index.forget();
          break;
        default: {
          auto visible = index.claim(kNow, 1);
          while (visible.unknown) {
            load(*visible.unknown);
            visible = index.claim(kNow, 1);
          }
          std::optional<MessagePlace> expected;
          for (const Lane each : kLanes) {
            for (const Position& position : lane_set(stored, each)) {
              if (lane_set(claimed, each).contains(position)) continue;
              if (!expected || position < expected->position)
                expected = MessagePlace{each, position};
              break;
            }
          }
          ASSERT_EQ(visible.places.size(), expected ? 1u : 0u);
          if (!expected) break;
          ASSERT_EQ(visible.places[0].position, expected->position);
          lane_set(claimed, visible.places[0].lane).insert(expected->position);
        }
      }
    }
  }
}

}  // namespace
}  // namespace kyanite::queue
