#include "http/reply_head.h"

#include "base/bytes.h"
#include "http/chars.h"

namespace kyanite::http {

namespace {

constexpr std::string_view kLineEnd = "\r\n";

// Takes a line off the front; the text ends with an empty one.
std::string_view take_line(std::string_view& text) {
  const size_t end = text.find(kLineEnd);
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end + kLineEnd.size());
  return line;
}

// "HTTP/1.1 200 OK"
std::optional<int> parse_status_line(std::string_view line) {
  if (line.size() < 12 || line.substr(0, 7) != "HTTP/1." || line[8] != ' ') return {};
  if (line[7] != '0' && line[7] != '1') return {};
  if (line.size() > 12 && line[12] != ' ') return {};
  const auto status = parse_uint(line.substr(9, 3));
  if (!status || *status < 100 || has_control(line)) return {};
  return static_cast<int>(*status);
}

// False when the framing is contradictory or unknown.
bool decide_framing(ReplyHead& head) {
  const bool chunked = head.headers.has("Transfer-Encoding");
  const size_t lengths = head.headers.count("Content-Length");
  if (chunked && (lengths > 0 || head.headers.count("Transfer-Encoding") > 1 ||
                  !equals_ignoring_case(head.headers.get("Transfer-Encoding"), "chunked"))) {
    return false;
  }
  if (lengths > 1) return false;
  if (has_no_body(head.status)) return true;
  if (chunked) {
    head.framing = Framing::kChunked;
  } else if (lengths == 1) {
    const auto length = parse_uint(head.headers.get("Content-Length"));
    if (!length || *length > kMaxBodyBytes) return false;
    head.content_length = *length;
    if (*length > 0) head.framing = Framing::kLength;
  } else {
    head.until_close = true;
  }
  return true;
}

}  // namespace

std::optional<size_t> find_head_end(std::string_view bytes) {
  constexpr std::string_view kEnd = "\r\n\r\n";
  const size_t at = bytes.find(kEnd);
  if (at == std::string_view::npos) return {};
  return at + kEnd.size();
}

std::optional<ReplyHead> parse_reply_head(std::string_view text) {
  if (find_head_end(text) != text.size()) return {};
  ReplyHead head;
  const auto status = parse_status_line(take_line(text));
  if (!status) return {};
  head.status = *status;
  while (true) {
    const std::string_view line = take_line(text);
    if (line.empty()) break;
    const size_t colon = line.find(':');
    if (colon == std::string_view::npos || !is_token(line.substr(0, colon))) return {};
    const std::string_view value = trim(line.substr(colon + 1));
    if (has_control(value) || head.headers.size() == kMaxHeaderLines) return {};
    head.headers.add(line.substr(0, colon), value);
  }
  if (!decide_framing(head)) return {};
  return head;
}

}  // namespace kyanite::http
