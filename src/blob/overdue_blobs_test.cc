#include "blob/overdue_blobs.h"

#include <gtest/gtest.h>

#include "blob/test_support.h"
#include "jobs/schedule.h"
#include "jobs/test_support.h"

namespace kyanite::blob {
namespace {

constexpr int64_t kBlockLifeSeconds = 7 * 24 * 3600;

// Containers, each with blobs that have one block and will never get more.
class OverdueBlobs : public testing::Test {
 protected:
  OverdueBlobs() {
    for (const std::string container : {"aaa", "bbb", "ccc"}) {
      EXPECT_EQ(blobs.make_container(container).outcome(), "201");
      for (const std::string blob : {"/1", "/2", "/3"}) {
        blobs.send({"PUT", container + blob, "comp=block&blockid=YQ%3D%3D", {}, "x"});
        EXPECT_EQ(blobs.send(TestService::put(container + blob + "kept")).outcome(), "201");
      }
    }
  }
  size_t count_blocks() {
    size_t count = 0;
    for (const auto& [key, record] : blobs.around.memory.everything()) {
      if ((key.space() >> 63) == 0 && key.family() == kBlocks && !key.row().empty()) ++count;
    }
    return count;
  }

  TestService blobs;
};

TEST_F(OverdueBlobs, AreFoundInPortionsOfAnySize) {
  ASSERT_EQ(count_blocks(), 9U);
  for (const uint64_t looks : {2, 3, 7, 1000}) {
    jobs::Job job = remove_overdue_job();
    job.budget.looks = looks;
    EXPECT_EQ(RunLoop::run(jobs::run_round(job, blobs.around.memory, blobs.around.clock)), 0U);
  }
  blobs.around.clock.advance_seconds(kBlockLifeSeconds);
  jobs::Job job = remove_overdue_job();
  job.budget = {.looks = 3, .changes = 2};
  EXPECT_GE(RunLoop::run(jobs::run_round(job, blobs.around.memory, blobs.around.clock)), 9U);
  EXPECT_EQ(count_blocks(), 0U);
  EXPECT_EQ(blobs.send({"GET", "ccc/3kept"}).outcome(), "200");
}

TEST_F(OverdueBlobs, AreFoundByAServerThatIsRestartedAfterEachStep) {
  blobs.around.clock.advance_seconds(kBlockLifeSeconds);
  size_t restarts = 0;
  for (; count_blocks() > 0; ++restarts) {
    ASSERT_LT(restarts, 100U);
    jobs::Schedule schedule(blobs.around.memory, blobs.around.clock, {"account"});
    std::vector<jobs::Job> jobs(1, remove_overdue_job());
    jobs.front().budget = {.looks = 4, .changes = 1};
    schedule.add(std::move(jobs));
    EXPECT_TRUE(RunLoop::run(schedule.run_one()));
  }
  EXPECT_GE(restarts, 9U);
}

}  // namespace
}  // namespace kyanite::blob
