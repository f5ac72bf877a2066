#include "front/metrics.h"

#include <cstdio>

#include "base/bytes.h"

namespace kyanite::front {

namespace {
void sample(std::string& out, std::string_view name, std::string_view labels, uint64_t value) {
  out.append(name).append("{").append(labels).append("} ");
  append_uint(out, value);
  out += '\n';
}

std::string seconds(uint64_t micros) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6f", static_cast<double>(micros) / 1e6);
  return text;
}
}  // namespace

Metrics::Metrics(std::string_view service, std::span<const service::Operation> operations)
    : service_(service), operations_(operations), rows_(new Row[operations.size() + 1]) {}

void Metrics::count(const service::Call& call, const http::Reply& reply,
                    std::chrono::steady_clock::duration took) {
  const size_t index = call.operation != nullptr
                           ? static_cast<size_t>(call.operation - operations_.data())
                           : operations_.size();
  Row& row = rows_[index];
  const auto micros =
      static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(took).count());
  row.by_class[static_cast<size_t>(reply.status / 100) % row.by_class.size()].fetch_add(
      1, std::memory_order_relaxed);
  size_t bucket = 0;
  while (bucket < kBounds.size() && micros > kBounds[bucket]) ++bucket;
  row.buckets[bucket].fetch_add(1, std::memory_order_relaxed);
  row.micros.fetch_add(micros, std::memory_order_relaxed);
  if (reply.error_code.empty()) return;
  std::lock_guard lock(errors_mutex_);
  ++errors_[reply.error_code];
}

void Metrics::write(std::string& out) const {
  out += "# HELP kyanite_requests_total Requests answered, by operation and status class.\n";
  out += "# TYPE kyanite_requests_total counter\n";
  const auto label = [&](size_t index) {
    const std::string_view id = index < operations_.size() ? operations_[index].id : "none";
    return "service=\"" + service_ + "\",operation=\"" + std::string(id) + "\"";
  };
  for (size_t i = 0; i <= operations_.size(); ++i) {
    for (size_t status = 1; status < rows_[i].by_class.size(); ++status) {
      const uint64_t count = rows_[i].by_class[status].load(std::memory_order_relaxed);
      if (count == 0) continue;
      sample(out, "kyanite_requests_total",
             label(i) + ",status=\"" + std::to_string(status) + "xx\"", count);
    }
  }
  out += "# HELP kyanite_request_seconds Time from a request's head to its reply being ready.\n";
  out += "# TYPE kyanite_request_seconds histogram\n";
  for (size_t i = 0; i <= operations_.size(); ++i) {
    uint64_t total = 0;
    for (const auto& bucket : rows_[i].buckets) total += bucket.load(std::memory_order_relaxed);
    if (total == 0) continue;
    uint64_t below = 0;
    for (size_t bucket = 0; bucket < kBounds.size(); ++bucket) {
      below += rows_[i].buckets[bucket].load(std::memory_order_relaxed);
      sample(out, "kyanite_request_seconds_bucket",
             label(i) + ",le=\"" + seconds(kBounds[bucket]) + "\"", below);
    }
    sample(out, "kyanite_request_seconds_bucket", label(i) + ",le=\"+Inf\"", total);
    out +=
        "kyanite_request_seconds_sum{" + label(i) + "} " + seconds(rows_[i].micros.load()) + "\n";
    sample(out, "kyanite_request_seconds_count", label(i), total);
  }
  out +=
      "# HELP kyanite_errors_total Requests refused, by error code.\n# TYPE kyanite_errors_total "
      "counter\n";
  std::lock_guard lock(errors_mutex_);
  for (const auto& [code, count] : errors_) {
    sample(out, "kyanite_errors_total",
           "service=\"" + service_ + "\",code=\"" + std::string(code) + "\"", count);
  }
}

}  // namespace kyanite::front
