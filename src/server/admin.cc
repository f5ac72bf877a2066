#include "server/admin.h"

#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>

#include "base/bytes.h"
#include "base/clock.h"

namespace kyanite::server {

namespace {

http::Reply text_reply(int status, std::string body) {
  http::Reply reply(status);
  reply.header("Content-Type", "text/plain; charset=utf-8");
  reply.body = std::move(body);
  return reply;
}

void append_metric(std::string& out, std::string_view name, std::string_view type,
                   const std::string& value) {
  out.append("# TYPE ").append(name).append(" ").append(type).append("\n");
  out.append(name).append(" ").append(value).append("\n");
}

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

const int64_t process_start = SystemClock().now().unix_seconds();

}  // namespace

http::Reply Admin::answer(std::string_view path) const {
  if (path == "/healthz") {
    const std::string problem = health_();
    return problem.empty() ? text_reply(200, "ok\n") : text_reply(503, problem + "\n");
  }
  if (path == "/metrics") {
    std::string text;
    for (const MetricsSource& source : metrics_) source(text);
    http::Reply reply(200);
    reply.header("Content-Type", "text/plain; version=0.0.4; charset=utf-8");
    reply.body = std::move(text);
    return reply;
  }
  return text_reply(404, "/healthz and /metrics are here\n");
}

Task<http::Reply> Admin::serve(http::Request& request) {
  if (request.method != "GET" && request.method != "HEAD") {
    http::Reply refusal = text_reply(405, "only GET and HEAD\n");
    refusal.header("Allow", "GET, HEAD");
    co_return refusal;
  }
  http::Reply reply = answer(request.path);
  if (request.method == "HEAD") {
    reply.stream_length = std::get<std::string>(reply.body).size();
    reply.body = std::monostate();
  }
  co_return reply;
}

void append_process_metrics(std::string& out) {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto micros = (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1'000'000 +
                      usage.ru_utime.tv_usec + usage.ru_stime.tv_usec;
  char seconds[32];
  std::snprintf(seconds, sizeof seconds, "%.6f", static_cast<double>(micros) / 1e6);
  append_metric(out, "process_cpu_seconds_total", "counter", seconds);
  append_metric(out, "process_resident_memory_bytes", "gauge", std::to_string(resident_bytes()));
  append_metric(out, "process_open_fds", "gauge", std::to_string(open_files()));
  append_metric(out, "process_start_time_seconds", "gauge", std::to_string(process_start));
}

}  // namespace kyanite::server
