#include "server/job_table.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include "wire/date.h"

namespace kyanite::server {

namespace {

constexpr size_t kColumns = 10;
using Line = std::array<std::string, kColumns>;

std::string_view word(jobs::Status::State state) {
  switch (state) {
    case jobs::Status::State::kResting:
      return "resting";
    case jobs::Status::State::kInRound:
      return "in a round";
    case jobs::Status::State::kRunning:
      return "running";
    case jobs::Status::State::kFailing:
      return "failing";
  }
  return "";
}

std::string duration_text(double seconds) {
  char text[40];
  std::snprintf(text, sizeof text, "%.3f", seconds);
  return text;
}

std::string date_text(Time time) { return time.set() ? wire::iso_date(time).str() : "-"; }

// How much of a round is done, as far as the rounds before tell.
std::string progress(const jobs::Status& job) {
  if (job.open_rounds == 0) return "-";
  std::string text = std::to_string(job.open_looked);
  if (job.usual_looked > 0) text += " of about " + std::to_string(job.usual_looked);
  return text;
}

Line line_of(const jobs::Status& job) {
  std::string failure = "-";
  if (job.last_failure.set()) failure = date_text(job.last_failure) + " " + job.last_failure_text;
  return {job.name,
          std::string(word(job.state)),
          date_text(job.last_end),
          progress(job),
          std::to_string(job.rounds),
          std::to_string(job.steps),
          std::to_string(job.looked),
          std::to_string(job.changed),
          duration_text(job.seconds),
          std::to_string(job.failures) + (job.failures > 0 ? " (" + failure + ")" : "")};
}

}  // namespace

std::string job_table(const std::vector<jobs::Status>& jobs) {
  std::vector<Line> lines{{"job", "state", "last round ended", "progress", "rounds", "steps",
                           "looked at", "changed", "seconds", "failures"}};
  for (const auto& job : jobs) lines.push_back(line_of(job));
  std::array<size_t, kColumns> widths{};
  for (const auto& line : lines) {
    for (size_t i = 0; i < kColumns; ++i) widths[i] = std::max(widths[i], line[i].size());
  }
  std::string text;
  for (const auto& line : lines) {
    for (size_t i = 0; i + 1 < kColumns; ++i)
      text.append(line[i]).append(widths[i] + 2 - line[i].size(), ' ');
    text.append(line.back()).push_back('\n');
  }
  return text;
}

jobs::Status sweep_status(const engine::Metrics& metrics) {
  jobs::Status status;
  status.name = "sweep";
  status.rounds = status.steps = metrics.sweeps;
  status.looked = metrics.extents;
  status.seconds = metrics.last_sweep_seconds;
  if (metrics.sweep_extents_left == 0) return status;
  status.state = jobs::Status::State::kRunning;
  status.open_rounds = 1;
  status.usual_looked = std::max(metrics.extents, metrics.sweep_extents_left);
  status.open_looked = status.usual_looked - metrics.sweep_extents_left;
  return status;
}

}  // namespace kyanite::server
