#include "queue/expired_messages.h"

#include "jobs/schedule.h"
#include "jobs/test_support.h"
#include "queue/records.h"
#include "queue/test_support.h"

namespace kyanite::queue {
namespace {

class ExpiredMessages : public testing::Test {
 protected:
  ExpiredMessages() {
    test.around.accounts.replace({{"account", {}}, {"another", {}}});
    test.create();
  }
  size_t stored() {
    size_t found = 0;
    for (const auto& [key, record] : test.around.memory.everything()) {
      const auto family = key.family();
      if (family == 'R' || family == 'H' || family == kTexts) ++found;
    }
    return found;
  }
  // A whole round; how many messages went.
  uint64_t remove_expired() {
    return RunLoop::run(jobs::run_round(job, test.around.memory, test.around.clock));
  }

  TestService test;
  jobs::Job job = remove_expired_job(test.service.indexes());
};

TEST_F(ExpiredMessages, RemovesTheExpiredAndNothingElse) {
  test.put("short", "messagettl=10");
  test.put(std::string(kMaxInlineText + 1, 'x'), "messagettl=10");
  test.put("taken", "messagettl=10");
  test.get("numofmessages=32&visibilitytimeout=100");
  test.put("long", "messagettl=100");
  test.put("forever", "messagettl=-1");
  EXPECT_EQ(stored(), 6u);
  EXPECT_EQ(remove_expired(), 0u);
  test.around.clock.advance_seconds(10);
  EXPECT_EQ(remove_expired(), 3u);
  EXPECT_EQ(stored(), 2u);
  EXPECT_EQ(test.get("numofmessages=32").messages().size(), 2u);
}

TEST_F(ExpiredMessages, GoesOnWhereItStopped) {
  job.budget.looks = 20;
  for (int i = 0; i < 50; ++i) test.put("x");
  test.put("last", "messagettl=700000");
  test.send({"PUT", "more"});
  const std::string body = TestService::document("x");
  test.send({"POST", "more/messages", "messagettl=1", body});
  test.around.clock.advance_seconds(1);
  EXPECT_EQ(remove_expired(), 1u);
}

TEST_F(ExpiredMessages, ClearedAndDeletedQueuesAreCleaned) {
  for (int i = 0; i < 10; ++i) test.put("x");
  test.send({"DELETE", "jobs/messages"});
  test.put("y");
  test.send({"DELETE", "jobs"});
  EXPECT_EQ(stored(), 11u);
  jobs::Schedule schedule(test.around.memory, test.around.clock, {"account"});
  schedule.add(test.service.make_jobs(test.around.context));
  RunLoop::run(schedule.run_due());
  EXPECT_EQ(stored(), 0u);
}

}  // namespace
}  // namespace kyanite::queue
