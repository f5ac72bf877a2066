#include "server/metrics.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "base/budget.h"
#include "base/clock.h"
#include "base/log.h"
#include "drive/commands.h"

namespace kyanite::server {

namespace {

uint64_t resident_bytes() {
  unsigned long total = 0;
  unsigned long resident = 0;
  if (FILE* file = std::fopen("/proc/self/statm", "re")) {
    if (std::fscanf(file, "%lu %lu", &total, &resident) != 2) resident = 0;
    std::fclose(file);
  }
  return resident * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

uint64_t open_files() {
  std::error_code error;
  uint64_t count = 0;
  for (std::filesystem::directory_iterator it("/proc/self/fd", error), end; !error && it != end;
       it.increment(error)) {
    ++count;
  }
  return count;
}

const int64_t kProcessStart = SystemClock().now().unix_seconds();

void append_type(std::string& out, std::string_view name, MetricKind kind) {
  out.append("# TYPE ").append(name);
  out.append(kind == MetricKind::kCounter ? " counter\n" : " gauge\n");
}

std::string seconds_text(double seconds) {
  char text[40];
  std::snprintf(text, sizeof text, "%.6f", seconds);
  return text;
}

}  // namespace

void append_metric(std::string& out, std::string_view name, MetricKind kind,
                   std::string_view value) {
  append_type(out, name, kind);
  out.append(name).append(" ").append(value).append("\n");
}

void append_metric(std::string& out, std::string_view name, MetricKind kind, uint64_t value) {
  append_metric(out, name, kind, std::string_view(std::to_string(value)));
}

void append_metric(std::string& out, std::string_view name, MetricKind kind, double value) {
  append_metric(out, name, kind, std::string_view(seconds_text(value)));
}

void append_process_metrics(std::string& out) {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto micros = (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1'000'000 +
                      usage.ru_utime.tv_usec + usage.ru_stime.tv_usec;
  append_metric(out, "process_cpu_seconds_total", MetricKind::kCounter,
                static_cast<double>(micros) / 1e6);
  append_metric(out, "process_resident_memory_bytes", MetricKind::kGauge, resident_bytes());
  append_metric(out, "process_open_fds", MetricKind::kGauge, open_files());
  append_metric(out, "process_start_time_seconds", MetricKind::kGauge,
                static_cast<uint64_t>(kProcessStart));
  append_metric(out, "kyanite_body_memory_bytes", MetricKind::kGauge, body_memory().used());
  append_metric(out, "kyanite_body_memory_limit_bytes", MetricKind::kGauge, body_memory().total());
  append_metric(out, "kyanite_body_memory_refusals_total", MetricKind::kCounter,
                body_memory().refused());
  append_metric(out, "kyanite_log_lines_dropped_total", MetricKind::kCounter, log_lines_dropped());
}

void append_net_metrics(std::string& out, const net::Metrics& metrics) {
  append_metric(out, "kyanite_connections_open", MetricKind::kGauge, metrics.connections_open);
  append_metric(out, "kyanite_connections_accepted_total", MetricKind::kCounter,
                metrics.connections_accepted);
  append_metric(out, "kyanite_connections_refused_total", MetricKind::kCounter,
                metrics.connections_refused);
  append_metric(out, "kyanite_connections_yielded_total", MetricKind::kCounter,
                metrics.connections_yielded);
  append_metric(out, "kyanite_connections_limit", MetricKind::kGauge, metrics.connections_limit);
  append_metric(out, "kyanite_http_requests_total", MetricKind::kCounter, metrics.requests);
  append_metric(out, "kyanite_received_bytes_total", MetricKind::kCounter, metrics.bytes_in);
  append_metric(out, "kyanite_sent_bytes_total", MetricKind::kCounter, metrics.bytes_out);
}

void append_client_metrics(std::string& out, const net::ClientMetrics& metrics) {
  append_metric(out, "kyanite_fetches_open", MetricKind::kGauge, metrics.fetches_open);
  append_metric(out, "kyanite_fetches_refused_total", MetricKind::kCounter,
                metrics.fetches_refused);
}

void append_certificate_metric(std::string& out, const net::TlsContext* tls) {
  const int64_t ends = tls != nullptr ? tls->certificate_ends().unix_seconds() : 0;
  append_metric(out, "kyanite_certificate_ends_seconds", MetricKind::kGauge,
                static_cast<uint64_t>(std::max<int64_t>(0, ends)));
}

void append_engine_metrics(std::string& out, const engine::Metrics& metrics) {
  const auto counter = [&](std::string_view name, auto value) {
    append_metric(out, name, MetricKind::kCounter, value);
  };
  const auto gauge = [&](std::string_view name, auto value) {
    append_metric(out, name, MetricKind::kGauge, value);
  };
  counter("kyanite_engine_commits_total", metrics.commits);
  counter("kyanite_engine_commit_conflicts_total", metrics.conflicts);
  counter("kyanite_engine_failed_commits_total", metrics.failed_commits);
  counter("kyanite_engine_synced_batches_total", metrics.batches);
  counter("kyanite_engine_synced_write_seconds_total", metrics.write_seconds);
  counter("kyanite_engine_repairs_total", metrics.repairs);
  counter("kyanite_engine_record_cache_hits_total", metrics.cache_hits);
  counter("kyanite_engine_record_cache_misses_total", metrics.cache_misses);
  counter("kyanite_engine_appended_runs_total", metrics.appended_runs);
  counter("kyanite_engine_appended_bytes_total", metrics.appended_bytes);
  counter("kyanite_engine_extent_reads_total", metrics.reads);
  counter("kyanite_engine_extent_trusted_reads_total", metrics.trusted_reads);
  counter("kyanite_engine_corrupt_reads_total", metrics.corrupt_reads);
  counter("kyanite_engine_sweeps_total", metrics.sweeps);
  counter("kyanite_engine_reclaimed_bytes_total", metrics.reclaimed_bytes);
  gauge("kyanite_engine_waiting_commits", metrics.waiting_commits);
  gauge("kyanite_engine_waiting_appends", metrics.waiting_appends);
  gauge("kyanite_engine_waiting_reads", metrics.waiting_reads);
  gauge("kyanite_engine_waiting_scans", metrics.waiting_scans);
  gauge("kyanite_engine_record_cache_bytes", metrics.cache_bytes);
  gauge("kyanite_engine_extents", metrics.extents);
  gauge("kyanite_engine_extent_live_bytes", metrics.live_bytes);
  gauge("kyanite_engine_extent_dead_bytes", metrics.dead_bytes);
  gauge("kyanite_engine_sweep_extents_left", metrics.sweep_extents_left);
  gauge("kyanite_engine_last_sweep_seconds", metrics.last_sweep_seconds);
}

void append_smb_metrics(std::string& out, const drive::Drive& drive) {
  const drive::Metrics& metrics = drive.metrics;
  const auto each = [&](std::string_view name, std::string_view more, auto value_of) {
    for (size_t i = 0; i < metrics.commands.size(); ++i) {
      const auto* row = drive::find_command(static_cast<smb::Command>(i));
      const std::string value = value_of(metrics.commands[i]);
      if (value.empty()) continue;  // Nobody has sent it.
      out.append(name).append("{command=\"").append(row->name).append("\"").append(more);
      out.append("} ").append(value) += '\n';
    }
  };
  using Row = drive::Metrics::Row;
  const auto count = [&](std::atomic<uint64_t> Row::*member) {
    return [member](const Row& row) {
      const bool any = row.succeeded.load() + row.refused.load() > 0;
      return any ? std::to_string((row.*member).load()) : std::string();
    };
  };
  append_type(out, "kyanite_smb_requests_total", MetricKind::kCounter);
  each("kyanite_smb_requests_total", ",outcome=\"done\"", count(&Row::succeeded));
  each("kyanite_smb_requests_total", ",outcome=\"refused\"", count(&Row::refused));
  append_type(out, "kyanite_smb_request_seconds_total", MetricKind::kCounter);
  each("kyanite_smb_request_seconds_total", "", [](const Row& row) {
    const bool any = row.succeeded.load() + row.refused.load() > 0;
    return any ? seconds_text(static_cast<double>(row.micros.load()) * 1e-6) : std::string();
  });
  append_type(out, "kyanite_smb_received_bytes_total", MetricKind::kCounter);
  each("kyanite_smb_received_bytes_total", "", count(&Row::received));
  append_type(out, "kyanite_smb_sent_bytes_total", MetricKind::kCounter);
  each("kyanite_smb_sent_bytes_total", "", count(&Row::sent));
  append_metric(out, "kyanite_smb_connections_open", MetricKind::kGauge,
                metrics.connections.load());
  append_metric(out, "kyanite_smb_sessions", MetricKind::kGauge,
                uint64_t{drive.sessions.established()});
  append_metric(out, "kyanite_smb_trees", MetricKind::kGauge, metrics.trees.load());
  append_metric(out, "kyanite_smb_opens", MetricKind::kGauge, metrics.opens.load());
  append_metric(out, "kyanite_smb_waiting_requests", MetricKind::kGauge, metrics.waiting.load());
  append_metric(out, "kyanite_smb_failed_logons_total", MetricKind::kCounter,
                drive.brake.failures());
}

void append_job_metrics(std::string& out, const std::vector<jobs::Status>& jobs) {
  const auto each = [&](std::string_view name, MetricKind kind, auto value_of) {
    append_type(out, name, kind);
    for (const auto& job : jobs)
      out.append(name).append("{job=\"").append(job.name).append("\"} ").append(value_of(job)) +=
          '\n';
  };
  const auto count = [&](std::string_view name, MetricKind kind, uint64_t jobs::Status::*value) {
    each(name, kind, [&](const jobs::Status& job) { return std::to_string(job.*value); });
  };
  count("kyanite_job_steps_total", MetricKind::kCounter, &jobs::Status::steps);
  count("kyanite_job_rounds_total", MetricKind::kCounter, &jobs::Status::rounds);
  count("kyanite_job_looked_total", MetricKind::kCounter, &jobs::Status::looked);
  count("kyanite_job_changed_total", MetricKind::kCounter, &jobs::Status::changed);
  count("kyanite_job_failures_total", MetricKind::kCounter, &jobs::Status::failures);
  each("kyanite_job_seconds_total", MetricKind::kCounter,
       [](const jobs::Status& job) { return seconds_text(job.seconds); });
  count("kyanite_job_open_rounds", MetricKind::kGauge, &jobs::Status::open_rounds);
  each("kyanite_job_last_end_seconds", MetricKind::kGauge, [](const jobs::Status& job) {
    return std::to_string(job.last_end.set() ? job.last_end.unix_seconds() : 0);
  });
}

}  // namespace kyanite::server
