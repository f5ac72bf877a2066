// One line per request: when, what, for whom, how it ended, how long it took. Queries are written
// without signatures.
#pragma once

#include <chrono>
#include <string_view>

#include "http/message.h"
#include "service/call.h"

namespace kyanite::front {

class RequestLog {
 public:
  using Instant = std::chrono::steady_clock::time_point;
  using Span = std::chrono::steady_clock::duration;

  explicit RequestLog(bool enabled) : enabled_(enabled) {}

  Instant begin() const { return std::chrono::steady_clock::now(); }
  // Returns how long the request took up to now: until its reply was ready to be sent.
  Span write(const service::Call& call, const http::Reply& reply, Instant began) const;

 private:
  const bool enabled_;
};

}  // namespace kyanite::front
