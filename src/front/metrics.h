// Counters per operation: how many requests, by status class and error code, how long they took and
// how many bytes they carried. Counting takes no lock and no allocation on the usual path.
// docs/METRICS.md describes what is written.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/mutex.h"
#include "http/message.h"
#include "service/call.h"
#include "service/operation.h"

namespace kyanite::front {

class Metrics {
 public:
  // `operations` is the service's table; its rows are what call.operation points into.
  Metrics(std::string_view service, std::span<const service::Operation> operations);

  // Bodies of unknown length are counted as they are sent: the replies' streams must not outlive
  // this.
  void count(const service::Call& call, http::Reply& reply,
             std::chrono::steady_clock::duration took);
  // Appends Prometheus text of all of them, a family at a time, as the format wants it.
  static void write(std::string& out, std::span<const Metrics* const> services);

 private:
  // Upper bounds in microseconds; the last bucket is open.
  static constexpr std::array<uint32_t, 12> kBounds = {
      50, 100, 250, 500, 1'000, 2'500, 5'000, 10'000, 50'000, 250'000, 1'000'000, 10'000'000};
  struct Row {
    std::array<std::atomic<uint64_t>, 6> by_class{};  // index: status / 100
    std::array<std::atomic<uint64_t>, kBounds.size() + 1> buckets{};
    std::atomic<uint64_t> micros{0};
    std::atomic<uint64_t> received{0};  // Bytes of bodies.
    std::atomic<uint64_t> sent{0};
  };

  std::string labels(size_t index) const;
  void write_requests(std::string& out) const;
  void write_seconds(std::string& out) const;
  void write_received(std::string& out) const;
  void write_sent(std::string& out) const;
  void write_errors(std::string& out) const;

  std::string service_;
  std::span<const service::Operation> operations_;
  std::unique_ptr<Row[]> rows_;  // one more than operations: requests that never reached one
  mutable Mutex errors_mutex_;
  // By operation and error code, whose texts are static.
  std::map<std::pair<size_t, std::string_view>, uint64_t> errors_ GUARDED_BY(errors_mutex_);
};

}  // namespace kyanite::front
