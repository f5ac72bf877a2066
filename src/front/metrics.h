// Counters per operation: how many requests, by status class and error code, and how long they
// took. Counting takes no lock and no allocation on the usual path.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>

#include "http/message.h"
#include "service/call.h"
#include "service/operation.h"

namespace kyanite::front {

class Metrics {
 public:
  // `operations` is the service's table; its rows are what call.operation points into.
  Metrics(std::string_view service, std::span<const service::Operation> operations);

  void count(const service::Call& call, const http::Reply& reply,
             std::chrono::steady_clock::duration took);
  // Appends Prometheus text.
  void write(std::string& out) const;

 private:
  // Upper bounds in microseconds; the last bucket is open.
  static constexpr std::array<uint32_t, 12> kBounds = {
      50, 100, 250, 500, 1'000, 2'500, 5'000, 10'000, 50'000, 250'000, 1'000'000, 10'000'000};
  struct Row {
    std::array<std::atomic<uint64_t>, 6> by_class{};  // index: status / 100
    std::array<std::atomic<uint64_t>, kBounds.size() + 1> buckets{};
    std::atomic<uint64_t> micros{0};
  };

  std::string service_;
  std::span<const service::Operation> operations_;
  std::unique_ptr<Row[]> rows_;  // one more than operations: requests that never reached one
  mutable std::mutex errors_mutex_;
  std::map<std::string_view, uint64_t> errors_;  // by error code, whose texts are static
};

}  // namespace kyanite::front
