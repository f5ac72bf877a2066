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

void family(std::string& out, std::string_view name, std::string_view type, std::string_view help) {
  out.append("# HELP ").append(name).append(" ").append(help);
  out.append("\n# TYPE ").append(name).append(" ").append(type).append("\n");
}

// As announced: a body in chunks counts as none.
uint64_t request_bytes(const http::Request& request) {
  return request.body != nullptr ? request.body->length().value_or(0) : 0;
}

uint64_t reply_bytes(const http::Request& request, const http::Reply& reply) {
  if (const auto* text = std::get_if<std::string>(&reply.body)) return text->size();
  if (const auto* shared = std::get_if<http::Reply::Shared>(&reply.body))
    return shared->bytes.size();
  return request.method == "HEAD" ? 0 : reply.stream_length.value_or(0);
}

// A body whose length is known only once it was sent is counted on its way.
class CountedStream final : public http::BodyStream {
 public:
  CountedStream(std::unique_ptr<http::BodyStream> stream, std::atomic<uint64_t>& sent)
      : stream_(std::move(stream)), sent_(sent) {}

  Task<Result<os::Bytes, http::StreamError>> next() override {
    auto bytes = co_await stream_->next();
    if (bytes) sent_.fetch_add(os::size_of(*bytes), std::memory_order_relaxed);
    co_return bytes;
  }

 private:
  const std::unique_ptr<http::BodyStream> stream_;
  std::atomic<uint64_t>& sent_;
};

void add(std::atomic<uint64_t>& counter, uint64_t count) {
  if (count > 0) counter.fetch_add(count, std::memory_order_relaxed);
}
}  // namespace

Metrics::Metrics(std::string_view service, std::span<const service::Operation> operations)
    : service_(service), operations_(operations), rows_(new Row[operations.size() + 1]) {}

void Metrics::count(const service::Call& call, http::Reply& reply,
                    std::chrono::steady_clock::duration took) {
  const size_t index = call.operation != nullptr
                           ? static_cast<size_t>(call.operation - operations_.data())
                           : operations_.size();
  Row& row = rows_[index];
  const auto micros =
      static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(took).count());
  add(row.by_class[static_cast<size_t>(reply.status / 100) % row.by_class.size()], 1);
  size_t bucket = 0;
  while (bucket < kBounds.size() && micros > kBounds[bucket]) ++bucket;
  add(row.buckets[bucket], 1);
  add(row.micros, micros);
  add(row.received, request_bytes(call.request));
  add(row.sent, reply_bytes(call.request, reply));
  auto* stream = std::get_if<std::unique_ptr<http::BodyStream>>(&reply.body);
  if (stream != nullptr && !reply.stream_length)
    *stream = std::make_unique<CountedStream>(std::move(*stream), row.sent);
  if (reply.error_code.empty()) return;
  MutexLock lock(errors_mutex_);
  ++errors_[{index, reply.error_code}];
}

std::string Metrics::labels(size_t index) const {
  const std::string_view id = index < operations_.size() ? operations_[index].id : "none";
  return "service=\"" + service_ + "\",operation=\"" + std::string(id) + "\"";
}

void Metrics::write_requests(std::string& out) const {
  for (size_t i = 0; i <= operations_.size(); ++i) {
    for (size_t status = 1; status < rows_[i].by_class.size(); ++status) {
      const uint64_t count = rows_[i].by_class[status].load(std::memory_order_relaxed);
      if (count == 0) continue;
      sample(out, "kyanite_requests_total",
             labels(i) + ",status=\"" + std::to_string(status) + "xx\"", count);
    }
  }
}

void Metrics::write_seconds(std::string& out) const {
  for (size_t i = 0; i <= operations_.size(); ++i) {
    uint64_t total = 0;
    for (const auto& bucket : rows_[i].buckets) total += bucket.load(std::memory_order_relaxed);
    if (total == 0) continue;
    uint64_t below = 0;
    for (size_t bucket = 0; bucket < kBounds.size(); ++bucket) {
      below += rows_[i].buckets[bucket].load(std::memory_order_relaxed);
      sample(out, "kyanite_request_seconds_bucket",
             labels(i) + ",le=\"" + seconds(kBounds[bucket]) + "\"", below);
    }
    sample(out, "kyanite_request_seconds_bucket", labels(i) + ",le=\"+Inf\"", total);
    out +=
        "kyanite_request_seconds_sum{" + labels(i) + "} " + seconds(rows_[i].micros.load()) + "\n";
    sample(out, "kyanite_request_seconds_count", labels(i), total);
  }
}

void Metrics::write_received(std::string& out) const {
  for (size_t i = 0; i <= operations_.size(); ++i) {
    if (const uint64_t bytes = rows_[i].received.load(std::memory_order_relaxed); bytes > 0)
      sample(out, "kyanite_request_body_bytes_total", labels(i), bytes);
  }
}

void Metrics::write_sent(std::string& out) const {
  for (size_t i = 0; i <= operations_.size(); ++i) {
    if (const uint64_t bytes = rows_[i].sent.load(std::memory_order_relaxed); bytes > 0)
      sample(out, "kyanite_reply_body_bytes_total", labels(i), bytes);
  }
}

void Metrics::write_errors(std::string& out) const {
  MutexLock lock(errors_mutex_);
  for (const auto& [what, count] : errors_) {
    sample(out, "kyanite_errors_total",
           labels(what.first) + ",code=\"" + std::string(what.second) + "\"", count);
  }
}

void Metrics::write(std::string& out, std::span<const Metrics* const> services) {
  family(out, "kyanite_requests_total", "counter",
         "Requests answered, by operation and status class.");
  for (const Metrics* metrics : services) metrics->write_requests(out);
  family(out, "kyanite_request_seconds", "histogram",
         "Time from a request's head to its reply being ready.");
  for (const Metrics* metrics : services) metrics->write_seconds(out);
  family(out, "kyanite_request_body_bytes_total", "counter",
         "Bytes of requests' bodies, as announced.");
  for (const Metrics* metrics : services) metrics->write_received(out);
  family(out, "kyanite_reply_body_bytes_total", "counter", "Bytes of replies' bodies.");
  for (const Metrics* metrics : services) metrics->write_sent(out);
  family(out, "kyanite_errors_total", "counter", "Requests refused, by operation and error code.");
  for (const Metrics* metrics : services) metrics->write_errors(out);
}

}  // namespace kyanite::front
