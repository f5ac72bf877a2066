#include "front/request_log.h"

#include "base/bytes.h"
#include "base/log.h"
#include "front/logged_headers.h"
#include "service/operation.h"
#include "wire/query.h"

namespace kyanite::front {

namespace {

// What a log may show of a query: everything but what would let a reader act as the caller.
std::string safe_query(const wire::Query& query) {
  std::string out;
  for (const auto& [name, value] : query) {
    out += out.empty() ? '?' : '&';
    out += wire::percent_encode(name);
    out += '=';
    out += equals_ignoring_case(name, "sig") ? "REDACTED" : wire::percent_encode(value, "/:");
  }
  return out;
}

// Values are tokens, or quoted where they may hold blanks.
void field(std::string& line, std::string_view name, std::string_view value) {
  line += ' ';
  line += name;
  line += '=';
  line += value.empty() ? "-" : value;
}

}  // namespace

RequestLog::Span RequestLog::write(const service::Call& call, const http::Reply& reply,
                                   Instant began) const {
  const Span took = std::chrono::steady_clock::now() - began;
  if (!enabled_) return took;
  std::string line = "request";
  field(line, "id", call.request_id);
  field(line, "service", wire::name(call.target.service));
  field(line, "method", call.request.method);
  field(line, "path", std::string(call.request.path) + safe_query(call.query));
  line += " operation=\"";
  line += call.operation != nullptr ? call.operation->name : "-";
  line += '"';
  std::string number;
  append_uint(number, static_cast<uint64_t>(reply.status));
  field(line, "status", number);
  field(line, "code", reply.error_code);
  number.clear();
  append_uint(number, static_cast<uint64_t>(
                          std::chrono::duration_cast<std::chrono::microseconds>(took).count()));
  field(line, "us", number);
  field(line, "peer", call.request.peer);
  field(line, "client_id", call.headers().get("x-ms-client-request-id"));
  log_info(line);
  if (with_headers_) write_headers(call, reply);
  return took;
}

void RequestLog::write_headers(const service::Call& call, const http::Reply& reply) const {
  const auto write = [&](std::string_view kind, const std::string& headers) {
    std::string line(kind);
    field(line, "id", call.request_id);
    log(LogLevel::kDebug, line.append(" ").append(headers));
  };
  write("request-headers", logged_headers(call.headers()));
  write("reply-headers", logged_headers(reply.head));
}

}  // namespace kyanite::front
