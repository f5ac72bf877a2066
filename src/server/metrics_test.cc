#include "server/metrics.h"

#include <gtest/gtest.h>

namespace kyanite::server {
namespace {

TEST(Metrics, ProcessMetricsAreWellFormedAndNotZero) {
  std::string text;
  append_process_metrics(text);
  for (auto name : {"process_cpu_seconds_total", "process_resident_memory_bytes",
                    "process_open_fds", "process_start_time_seconds"}) {
    const size_t at = text.find("\n" + std::string(name) + " ");
    ASSERT_NE(at, std::string::npos) << name;
    EXPECT_GT(std::stod(text.substr(at + std::string_view(name).size() + 2)), 0) << name;
  }
}

TEST(Metrics, NetMetricsCarryTheirValues) {
  std::string text;
  append_net_metrics(text, {.connections_open = 1,
                            .connections_accepted = 2,
                            .connections_refused = 3,
                            .requests = 4,
                            .bytes_in = 5,
                            .bytes_out = 6});
  for (auto line : {"kyanite_connections_open 1\n", "kyanite_connections_accepted_total 2\n",
                    "kyanite_connections_refused_total 3\n", "kyanite_http_requests_total 4\n",
                    "kyanite_received_bytes_total 5\n", "kyanite_sent_bytes_total 6\n"}) {
    EXPECT_NE(text.find(line), std::string::npos) << line << text;
  }
}

TEST(Metrics, EngineMetricsCarryTheirValues) {
  engine::Metrics metrics;
  metrics.commits = 7;
  metrics.write_seconds = 0.25;
  metrics.corrupt_reads = 8;
  metrics.live_bytes = 9;
  std::string text;
  append_engine_metrics(text, metrics);
  for (auto line :
       {"kyanite_engine_commits_total 7\n", "# TYPE kyanite_engine_commits_total counter\n",
        "kyanite_engine_synced_write_seconds_total 0.250000\n",
        "kyanite_engine_corrupt_reads_total 8\n", "kyanite_engine_extent_live_bytes 9\n",
        "# TYPE kyanite_engine_extent_live_bytes gauge\n"}) {
    EXPECT_NE(text.find(line), std::string::npos) << line << text;
  }
}

}  // namespace
}  // namespace kyanite::server
