#include "queue/sweeper.h"

#include <algorithm>

#include "lifetime/directory.h"
#include "queue/records.h"
#include "queue/test_support.h"

namespace kyanite::queue {
namespace {

class SweeperTest : public testing::Test {
 protected:
  SweeperTest() {
    test.around.accounts = auth::Accounts({{"account", {}}, {"another", {}}});
    test.create();
  }
  size_t stored() {
    size_t found = 0;
    auto counted =
        RunLoop::run(test.around.memory.read([&](const store::View& view) -> store::Result<void> {
          for (auto cursor = view.scan({"", ""}); cursor->valid(); cursor->next()) {
            const auto family = store::Key::from_bytes(std::string(cursor->key())).family();
            if (family == 'R' || family == 'H' || family == kTexts) ++found;
          }
          return {};
        }));
    EXPECT_TRUE(counted);
    return found;
  }
  // Sweeps until the end is reached.
  uint64_t sweep_all() {
    uint64_t removed = 0;
    for (bool around = false; !around;) {
      auto swept = RunLoop::run(
          sweeper.sweep(test.around.memory, test.around.accounts, test.around.clock.now()));
      EXPECT_TRUE(swept);
      EXPECT_LE(swept->looked_at, Sweeper::kMostLookedAt);
      removed += swept->removed;
      around = swept->around;
    }
    return removed;
  }

  TestService test;
  Sweeper sweeper{test.service.indexes()};
};

TEST_F(SweeperTest, RemovesTheExpiredAndNothingElse) {
  test.put("short", "messagettl=10");
  test.put(std::string(kMaxInlineText + 1, 'x'), "messagettl=10");
  test.put("taken", "messagettl=10");
  test.get("numofmessages=32&visibilitytimeout=100");
  test.put("long", "messagettl=100");
  test.put("forever", "messagettl=-1");
  EXPECT_EQ(stored(), 6u);
  EXPECT_EQ(sweep_all(), 0u);
  test.around.clock.advance_seconds(10);
  EXPECT_EQ(sweep_all(), 3u);
  EXPECT_EQ(stored(), 2u);
  EXPECT_EQ(test.get("numofmessages=32").messages().size(), 2u);
}

TEST_F(SweeperTest, GoesOnWhereItStopped) {
  for (uint64_t i = 0; i < Sweeper::kMostLookedAt + 500; ++i) test.put("x");
  test.put("last", "messagettl=700000");
  test.send({"PUT", "more"});
  const std::string body = TestService::document("x");
  test.send({"POST", "more/messages", "messagettl=1", body});
  test.around.clock.advance_seconds(1);
  EXPECT_EQ(sweep_all(), 1u);
}

TEST_F(SweeperTest, TendingCleansUpAfterClearedAndDeletedQueues) {
  for (int i = 0; i < 10; ++i) test.put("x");
  test.send({"DELETE", "jobs/messages"});
  test.put("y");
  test.send({"DELETE", "jobs"});
  EXPECT_EQ(stored(), 11u);
  RunLoop::run(test.service.tend(test.around.context));
  EXPECT_EQ(stored(), 0u);
}

}  // namespace
}  // namespace kyanite::queue
