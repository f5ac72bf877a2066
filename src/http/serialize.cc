#include "http/serialize.h"

#include <charconv>
#include <ctime>

#include "base/bytes.h"

namespace kyanite::http {

namespace {
constexpr std::string_view kDays = "SunMonTueWedThuFriSat";
constexpr std::string_view kMonths = "JanFebMarAprMayJunJulAugSepOctNovDec";

void append_two_digits(std::string& out, int value) {
  out.push_back(static_cast<char>('0' + value / 10));
  out.push_back(static_cast<char>('0' + value % 10));
}

// "Date: ...\r\nServer: ...\r\n", made once a second on each thread.
std::string_view date_and_server_lines() {
  thread_local int64_t made_at = -1;
  thread_local std::string lines;
  timespec now{};
  clock_gettime(CLOCK_REALTIME_COARSE, &now);
  if (now.tv_sec != made_at) {
    made_at = now.tv_sec;
    lines = "Date: " + format_date(made_at) + "\r\nServer: Kyanite\r\n";
  }
  return lines;
}
}  // namespace

std::string format_date(int64_t unix_seconds) {
  tm parts{};
  const time_t seconds = unix_seconds;
  gmtime_r(&seconds, &parts);
  std::string out(kDays.substr(static_cast<size_t>(parts.tm_wday) * 3, 3));
  out.append(", ");
  append_two_digits(out, parts.tm_mday);
  out.push_back(' ');
  out.append(kMonths.substr(static_cast<size_t>(parts.tm_mon) * 3, 3));
  out.push_back(' ');
  append_two_digits(out, (parts.tm_year + 1900) / 100);
  append_two_digits(out, (parts.tm_year + 1900) % 100);
  out.push_back(' ');
  append_two_digits(out, parts.tm_hour);
  out.push_back(':');
  append_two_digits(out, parts.tm_min);
  out.push_back(':');
  append_two_digits(out, parts.tm_sec);
  return out.append(" GMT");
}

std::string_view reason_phrase(int status) {
  switch (status) {
    // clang-format off
    case 100: return "Continue";
    case 200: return "OK";
    case 201: return "Created";
    case 202: return "Accepted";
    case 204: return "No Content";
    case 206: return "Partial Content";
    case 207: return "Multi-Status";
    case 304: return "Not Modified";
    case 307: return "Temporary Redirect";
    case 400: return "Bad Request";
    case 401: return "Unauthorized";
    case 403: return "Forbidden";
    case 404: return "Not Found";
    case 405: return "Method Not Allowed";
    case 406: return "Not Acceptable";
    case 408: return "Request Timeout";
    case 409: return "Conflict";
    case 410: return "Gone";
    case 411: return "Length Required";
    case 412: return "Precondition Failed";
    case 413: return "Content Too Large";
    case 414: return "URI Too Long";
    case 415: return "Unsupported Media Type";
    case 416: return "Range Not Satisfiable";
    case 417: return "Expectation Failed";
    case 421: return "Misdirected Request";
    case 429: return "Too Many Requests";
    case 431: return "Request Header Fields Too Large";
    case 500: return "Internal Server Error";
    case 501: return "Not Implemented";
    case 503: return "Service Unavailable";
    case 505: return "HTTP Version Not Supported";
    case 507: return "Insufficient Storage";
    default: return "Unknown";
      // clang-format on
  }
}

std::string_view reason_of(const Reply& reply) {
  return reply.reason != nullptr ? std::string_view(*reply.reason) : reason_phrase(reply.status);
}

std::string_view body_in_memory(const Reply& reply) {
  if (const auto* text = std::get_if<std::string>(&reply.body)) return *text;
  if (const auto* shared = std::get_if<Reply::Shared>(&reply.body)) return shared->bytes;
  return {};
}

BodyPlan plan_body(const Reply& reply, const Head& head) {
  if (has_no_body(reply.status)) return {};
  const bool stream = std::holds_alternative<std::unique_ptr<BodyStream>>(reply.body);
  const bool to_head = head.request.method == "HEAD";
  if (stream && !reply.stream_length) {
    return {head.http_1_0 ? BodyPlan::kConnection : BodyPlan::kChunked, 0, !to_head};
  }
  uint64_t length = body_in_memory(reply).size();
  // A reply to HEAD may carry the length alone.
  if (stream || (to_head && reply.stream_length)) length = *reply.stream_length;
  return {BodyPlan::kLength, length, !to_head && length > 0};
}

void append_head(std::string& out, const Reply& reply, const BodyPlan& plan, const Head& head,
                 bool keep_alive) {
  out.append("HTTP/1.1 ");
  append_uint(out, static_cast<uint64_t>(reply.status));
  out.push_back(' ');
  out.append(reason_of(reply)).append("\r\n").append(date_and_server_lines());
  if (plan.delimiter == BodyPlan::kLength) {
    out.append("Content-Length: ");
    append_uint(out, plan.length);
    out.append("\r\n");
  } else if (plan.delimiter == BodyPlan::kChunked) {
    out.append("Transfer-Encoding: chunked\r\n");
  }
  if (!keep_alive) {
    out.append("Connection: close\r\n");
  } else if (head.http_1_0) {
    out.append("Connection: keep-alive\r\n");
  }
  out.append(reply.head).append("\r\n");
}

void append_chunk_line(std::string& out, uint64_t size) {
  char digits[16];
  const auto end = std::to_chars(digits, digits + sizeof digits, size, 16).ptr;
  out.append(digits, end).append("\r\n");
}

std::string refusal(const HeadError& error) {
  Reply reply(error.status);
  reply.header("Content-Type", "text/plain");
  if (error.status == 503) reply.header("Retry-After", "1");
  reply.body = std::string(error.reason) + "\n";
  std::string out;
  Head head;
  append_head(out, reply, plan_body(reply, head), head, false);
  return out.append(body_in_memory(reply));
}

}  // namespace kyanite::http
