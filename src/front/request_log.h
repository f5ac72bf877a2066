// One line per request: when, what, for whom, how it ended, how long it took. Queries are written
// without signatures. The debug log has two lines more, with the headers of request and reply.
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

  explicit RequestLog(bool enabled, bool with_headers = false)
      : enabled_(enabled), with_headers_(with_headers) {}

  Instant begin() const { return std::chrono::steady_clock::now(); }
  // Returns how long the request took up to now: until its reply was ready to be sent.
  Span write(const service::Call& call, const http::Reply& reply, Instant began) const;

 private:
  void write_headers(const service::Call& call, const http::Reply& reply) const;

  const bool enabled_;
  const bool with_headers_;
};

}  // namespace kyanite::front
