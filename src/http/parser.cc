#include "http/parser.h"

#include <algorithm>
#include <cstring>

#include "base/bytes.h"
#include "base/check.h"
#include "http/chars.h"

namespace kyanite::http {

namespace {
// Method, blanks and version; the longest registered method has 17 letters.
constexpr size_t kMaxMethodBytes = 32;
constexpr size_t kMaxRequestLineBytes = kMaxTargetBytes + kMaxMethodBytes + 12;

// Blanks and fragments never belong into a target. Bytes from 0x80 are let through: some clients
// send UTF-8 unencoded.
bool is_target(std::string_view text) {
  for (const char c : text) {
    const auto byte = static_cast<uint8_t>(c);
    if (byte <= 0x20 || byte == 0x7f || byte == '#') return false;
  }
  return !text.empty();
}

bool is_host(std::string_view text) {
  for (const char c : text) {
    if (!is_token_char(c) && std::string_view(":[]();,=").find(c) == std::string_view::npos)
      return false;
  }
  return true;
}

// Calls use(token) for each element of a comma-separated list.
template <class Use>
void for_each_element(std::string_view list, Use use) {
  while (!list.empty()) {
    const size_t comma = std::min(list.find(','), list.size());
    use(trim(list.substr(0, comma)));
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
}
}  // namespace

void HeadParser::reset() {
  Headers headers = std::move(head_.request.headers);
  headers.clear();
  *this = HeadParser();
  head_.request.headers = std::move(headers);  // Keeps its memory.
}

HeadParser::State HeadParser::fail(int status, std::string_view reason) {
  error_ = {status, reason};
  state_ = State::kError;
  return state_;
}

HeadParser::State HeadParser::parse(std::string_view bytes) {
  CHECK(state_ == State::kMore);
  while (state_ == State::kMore) {
    const void* found = scanned_ == bytes.size()
                            ? nullptr
                            : std::memchr(bytes.data() + scanned_, '\n', bytes.size() - scanned_);
    if (found == nullptr) {
      scanned_ = bytes.size();
      return check_unfinished_line(bytes);
    }
    const auto line_end = static_cast<size_t>(static_cast<const char*>(found) - bytes.data());
    if (line_end >= line_limit()) return too_long();
    std::string_view line = bytes.substr(line_begin_, line_end - line_begin_);
    line_begin_ = scanned_ = line_end + 1;
    if (line.empty() || line.back() != '\r') return fail(400, "a line does not end in CR LF");
    line.remove_suffix(1);
    if (!line.empty()) {
      have_request_line_ ? take_header_line(line) : take_request_line(line);
    } else if (have_request_line_) {
      finish(line_begin_);
    }  // else: empty lines before a request are skipped.
  }
  return state_;
}

// The first position at which the current line's LF is too late.
size_t HeadParser::line_limit() const {
  return have_request_line_ ? kMaxHeadBytes
                            : std::min(kMaxHeadBytes, line_begin_ + kMaxRequestLineBytes);
}

HeadParser::State HeadParser::too_long() {
  if (line_limit() < kMaxHeadBytes) return fail(414, "the request target is too long");
  return fail(431, "the request head is too long");
}

// Refuses early what can never become a request, such as a TLS handshake on a plain port.
HeadParser::State HeadParser::check_unfinished_line(std::string_view bytes) {
  if (!have_request_line_ && line_begin_ < bytes.size()) {
    const char first = bytes[line_begin_];
    if (first != '\r' && !is_token_char(first)) return fail(400, "this is not an HTTP request");
  }
  if (bytes.size() >= line_limit()) return too_long();
  return state_;
}

HeadParser::State HeadParser::take_request_line(std::string_view line) {
  have_request_line_ = true;
  if (!is_token_char(line[0])) return fail(400, "this is not an HTTP request");
  const size_t method_end = std::min(line.find(' '), line.size());
  const size_t target_end = line.rfind(' ');
  const std::string_view method = line.substr(0, method_end);
  if (!is_token(method)) return fail(400, "malformed method");
  if (method.size() > kMaxMethodBytes) return fail(501, "unknown method");
  if (method_end == line.size() || method_end == target_end) {
    return fail(400, "malformed request line");
  }
  head_.request.method = method;
  if (take_version(line.substr(target_end + 1)) == State::kError) return state_;
  return take_target(line.substr(method_end + 1, target_end - method_end - 1));
}

HeadParser::State HeadParser::take_version(std::string_view version) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  if (version.size() != 8 || !version.starts_with("HTTP/") || !is_digit(version[5]) ||
      version[6] != '.' || !is_digit(version[7])) {
    return fail(400, "malformed HTTP version");
  }
  if (version[5] != '1' || version[7] > '1') return fail(505, "only HTTP/1.1 is spoken here");
  head_.http_1_0 = version[7] == '0';
  return state_;
}

HeadParser::State HeadParser::take_target(std::string_view target) {
  if (target.size() > kMaxTargetBytes) return fail(414, "the request target is too long");
  if (!is_target(target)) return fail(400, "malformed request target");
  Request& request = head_.request;
  const bool absolute = target[0] != '/' && target != "*";
  if (absolute) {
    const size_t scheme_end = std::min(target.find("://"), target.size());
    const std::string_view scheme = target.substr(0, scheme_end);
    if (scheme_end == target.size() ||
        (!equals_ignoring_case(scheme, "http") && !equals_ignoring_case(scheme, "https"))) {
      return fail(400, "malformed request target");
    }
    target.remove_prefix(scheme_end + 3);
    const size_t authority_end = std::min(target.find_first_of("/?"), target.size());
    authority_ = target.substr(0, authority_end);
    if (authority_.empty() || !is_host(authority_)) {
      return fail(400, "malformed host in the request target");
    }
    target.remove_prefix(authority_end);
    // "http://host" and "http://host?query" have an empty path, which means the root; there is no
    // byte to point at.
    if (target.empty()) target = "/";
    if (target[0] == '?') return fail(400, "the request target has no path");
  } else if (target == "*" && request.method != "OPTIONS") {
    return fail(400, "malformed request target");
  }
  request.target = target;
  const size_t question = std::min(target.find('?'), target.size());
  request.path = target.substr(0, question);
  request.query = target.substr(std::min(question + 1, target.size()));
  return state_;
}

HeadParser::State HeadParser::take_header_line(std::string_view line) {
  size_t name_end = 0;
  while (name_end < line.size() && is_token_char(line[name_end])) ++name_end;
  // A line that begins with a blank would continue the one before; a blank before the colon hides
  // the name from others.
  if (name_end == 0 || name_end == line.size() || line[name_end] != ':') {
    return fail(400, "malformed header name");
  }
  const std::string_view name = line.substr(0, name_end);
  const std::string_view value = trim(line.substr(name_end + 1));
  if (has_control(value)) return fail(400, "control character in a header");
  if (head_.request.headers.size() == kMaxHeaderLines) return fail(431, "too many header lines");
  head_.request.headers.add(name, value);
  return take_framing_header(name, value);
}

// The few headers that say where the message ends and what becomes of the connection.
HeadParser::State HeadParser::take_framing_header(std::string_view name, std::string_view value) {
  switch (name.size()) {
    case 4:
      if (!equals_ignoring_case(name, "host")) break;
      if (++host_lines_ > 1) return fail(400, "more than one Host header");
      if (!is_host(value)) return fail(400, "malformed Host header");
      break;
    case 6:
      if (!equals_ignoring_case(name, "expect")) break;
      if (!equals_ignoring_case(value, "100-continue")) return fail(417, "unknown expectation");
      head_.expect_continue = true;
      break;
    case 10:
      if (equals_ignoring_case(name, "connection")) return take_connection(value);
      break;
    case 14:
      if (equals_ignoring_case(name, "content-length")) return take_content_length(value);
      break;
    case 17:
      if (!equals_ignoring_case(name, "transfer-encoding")) break;
      if (++transfer_encodings_ > 1) return fail(400, "more than one Transfer-Encoding header");
      if (!equals_ignoring_case(value, "chunked")) return fail(501, "unknown transfer encoding");
      break;
    default:
      break;
  }
  return state_;
}

HeadParser::State HeadParser::take_connection(std::string_view value) {
  for_each_element(value, [this](std::string_view option) {
    if (equals_ignoring_case(option, "close")) said_close_ = true;
    if (equals_ignoring_case(option, "keep-alive")) said_keep_alive_ = true;
  });
  return state_;
}

HeadParser::State HeadParser::take_content_length(std::string_view value) {
  const auto length = parse_uint(value);
  if (!length || *length > kMaxBodyBytes) return fail(400, "malformed Content-Length");
  if (have_length_ && *length != head_.content_length) {
    return fail(400, "contradicting Content-Length headers");
  }
  have_length_ = true;
  head_.content_length = *length;
  return state_;
}

HeadParser::State HeadParser::finish(size_t head_bytes) {
  const bool chunked = transfer_encodings_ > 0;
  if (chunked && have_length_) return fail(400, "Content-Length with Transfer-Encoding");
  if (chunked && head_.http_1_0) return fail(400, "Transfer-Encoding in HTTP/1.0");
  if (!head_.http_1_0 && host_lines_ == 0) return fail(400, "missing Host header");
  if (!authority_.empty()) head_.request.headers.set("Host", authority_);
  head_.framing = chunked                    ? Framing::kChunked
                  : head_.content_length > 0 ? Framing::kLength
                                             : Framing::kNone;
  if (head_.http_1_0 || head_.framing == Framing::kNone) head_.expect_continue = false;
  head_.keep_alive = !said_close_ && (!head_.http_1_0 || said_keep_alive_);
  head_.bytes = head_bytes;
  state_ = State::kDone;
  return state_;
}

}  // namespace kyanite::http
