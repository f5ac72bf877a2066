#include "server/job_table.h"

#include <gtest/gtest.h>

#include "server/metrics.h"

namespace kyanite::server {
namespace {

jobs::Status failing() {
  jobs::Status job;
  job.name = "job";
  job.state = jobs::Status::State::kFailing;
  job.steps = 1;
  job.rounds = 2;
  job.looked = 3;
  job.changed = 4;
  job.failures = 5;
  job.seconds = 0.5;
  job.open_rounds = 6;
  job.open_looked = 70;
  job.usual_looked = 800;
  job.last_end = Time::from_unix_seconds(1'700'000'000);
  job.last_failure = Time::from_unix_seconds(1'700'000'001);
  job.last_failure_text = "the device failed; again in 2 s";
  return job;
}

TEST(JobTable, HasALineForEachJob) {
  jobs::Status fresh;
  fresh.name = "a longer name";
  EXPECT_EQ(job_table({failing(), fresh}),
            "job            state    last round ended              progress         rounds  steps  "
            "looked at  changed  seconds  failures\n"
            "job            failing  2023-11-14T22:13:20.0000000Z  70 of about 800  2       1      "
            "3          4        0.500    5 (2023-11-14T22:13:21.0000000Z the device failed; again "
            "in 2 s)\n"
            "a longer name  resting  -                             -                0       0      "
            "0          0        0.000    0\n");
}

TEST(JobTable, ShowsTheSweepInTheSameWords) {
  engine::Metrics metrics;
  metrics.sweeps = 3;
  metrics.extents = 10;
  metrics.last_sweep_seconds = 1.5;
  EXPECT_EQ(sweep_status(metrics).state, jobs::Status::State::kResting);
  metrics.sweep_extents_left = 4;
  const auto status = sweep_status(metrics);
  EXPECT_EQ(status.state, jobs::Status::State::kRunning);
  EXPECT_EQ(status.rounds, 3U);
  EXPECT_EQ(status.open_looked, 6U);
  EXPECT_EQ(status.usual_looked, 10U);
}

TEST(JobMetrics, CarryTheirValuesAFamilyAtATime) {
  std::string text;
  jobs::Status other;
  other.name = "other";
  append_job_metrics(text, {failing(), other});
  for (auto lines :
       {"# TYPE kyanite_job_steps_total counter\nkyanite_job_steps_total{job=\"job\"} 1\n"
        "kyanite_job_steps_total{job=\"other\"} 0\n",
        "kyanite_job_rounds_total{job=\"job\"} 2\n", "kyanite_job_looked_total{job=\"job\"} 3\n",
        "kyanite_job_changed_total{job=\"job\"} 4\n", "kyanite_job_failures_total{job=\"job\"} 5\n",
        "kyanite_job_seconds_total{job=\"job\"} 0.500000\n",
        "# TYPE kyanite_job_open_rounds gauge\nkyanite_job_open_rounds{job=\"job\"} 6\n",
        "kyanite_job_last_end_seconds{job=\"job\"} 1700000000\n"
        "kyanite_job_last_end_seconds{job=\"other\"} 0\n"}) {
    EXPECT_NE(text.find(lines), std::string::npos) << lines << text;
  }
}

}  // namespace
}  // namespace kyanite::server
