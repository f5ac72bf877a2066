#include "wire/multipart.h"

#include "base/bytes.h"
#include "http/chars.h"
#include "http/limits.h"

namespace kyanite::wire {

namespace {
constexpr size_t kMaxBoundary = 70;
constexpr size_t kMaxHeaderLines = 100;  // of one part

// Takes the next line off the text, without its end. A last line needs no end.
std::string_view take_line(std::string_view& text) {
  const size_t end = text.find('\n');
  std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

std::string_view without_last_line_end(std::string_view text) {
  if (text.ends_with('\n')) text.remove_suffix(1);
  if (text.ends_with('\r')) text.remove_suffix(1);
  return text;
}

// Takes header lines up to and with the empty one, which may be missing when nothing follows. What
// the head of a request may not hold, these may not hold either: a value is echoed, signed and
// logged like any other.
bool take_headers(std::string_view& text, http::Headers& headers) {
  const size_t whole = text.size();
  while (!text.empty()) {
    const std::string_view line = take_line(text);
    if (line.empty()) return true;
    const size_t colon = line.find(':');
    if (colon == std::string_view::npos || headers.size() == kMaxHeaderLines) return false;
    const std::string_view name = trim(line.substr(0, colon));
    if (!http::is_token(name) || http::has_control(line)) return false;
    if (whole - text.size() > http::kMaxHeadBytes) return false;
    headers.add(name, trim(line.substr(colon + 1)));
  }
  return true;
}

// A boundary line: "--boundary" (a part follows) or "--boundary--" (the end), perhaps with blanks
// behind.
enum class Line { kOther, kDelimiter, kClose };
Line classify(std::string_view line, std::string_view boundary) {
  if (!line.starts_with("--") || !line.substr(2).starts_with(boundary)) return Line::kOther;
  const std::string_view rest = trim(line.substr(2 + boundary.size()));
  if (rest.empty()) return Line::kDelimiter;
  return rest == "--" ? Line::kClose : Line::kOther;
}
}  // namespace

std::optional<std::string_view> multipart_boundary(std::string_view content_type) {
  const size_t semicolon = content_type.find(';');
  if (semicolon == std::string_view::npos ||
      !equals_ignoring_case(trim(content_type.substr(0, semicolon)), "multipart/mixed")) {
    return {};
  }
  std::string_view rest = content_type.substr(semicolon);
  while (!rest.empty()) {
    rest.remove_prefix(1);
    const size_t end = rest.find(';');
    const std::string_view parameter = trim(rest.substr(0, end));
    rest = end == std::string_view::npos ? std::string_view() : rest.substr(end);
    const size_t equals = parameter.find('=');
    if (equals == std::string_view::npos ||
        !equals_ignoring_case(trim(parameter.substr(0, equals)), "boundary")) {
      continue;
    }
    std::string_view boundary = trim(parameter.substr(equals + 1));
    if (boundary.size() >= 2 && boundary.front() == '"' && boundary.back() == '"')
      boundary = boundary.substr(1, boundary.size() - 2);
    if (boundary.empty() || boundary.size() > kMaxBoundary) return {};
    return boundary;
  }
  return {};
}

std::optional<std::vector<Part>> parse_multipart(std::string_view body, std::string_view boundary,
                                                 size_t most) {
  std::vector<Part> parts;
  const char* content_begin = nullptr;  // of the part being read; null before the first boundary
  while (!body.empty()) {
    const char* line_begin = body.data();
    const Line line = classify(take_line(body), boundary);
    if (line == Line::kOther) continue;
    if (content_begin != nullptr) {
      std::string_view text(content_begin, static_cast<size_t>(line_begin - content_begin));
      text = without_last_line_end(text);
      Part part;
      if (parts.size() == most || !take_headers(text, part.headers)) return {};
      part.content = text;
      parts.push_back(std::move(part));
    }
    if (line == Line::kClose) {
      if (content_begin == nullptr) return {};
      return parts;
    }
    content_begin = body.data();
  }
  return {};
}

std::optional<EmbeddedRequest> parse_embedded_request(std::string_view text) {
  // Some clients put an empty line more than needed in front.
  while (text.starts_with("\r\n") || text.starts_with('\n')) take_line(text);
  EmbeddedRequest request;
  const std::string_view line = take_line(text);
  const size_t first = line.find(' ');
  const size_t last = line.rfind(' ');
  if (first == std::string_view::npos || first == 0 || last == first) return {};
  if (line.size() > http::kMaxTargetBytes || http::has_control(line)) return {};
  if (!line.substr(last + 1).starts_with("HTTP/1.")) return {};
  request.method = line.substr(0, first);
  request.url = trim(line.substr(first + 1, last - first - 1));
  if (request.url.empty() || !take_headers(text, request.headers)) return {};
  request.content = text;
  return request;
}

std::string_view strip_origin(std::string_view url) {
  const size_t scheme = url.find("://");
  if (scheme == std::string_view::npos || url.front() == '/') return url;
  const size_t path = url.find('/', scheme + 3);
  return path == std::string_view::npos ? std::string_view("/") : url.substr(path);
}

void MultipartWriter::begin_part() { out_.append("--").append(boundary_).append("\r\n"); }

void MultipartWriter::part(std::string_view content_type) {
  begin_part();
  out_.append("Content-Type: ").append(content_type).append("\r\n\r\n");
}

void MultipartWriter::reply(int status, std::string_view reason, std::string_view head,
                            std::string_view body, std::string_view content_id) {
  begin_part();
  out_.append("Content-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n");
  if (!content_id.empty()) out_.append("Content-ID: ").append(content_id).append("\r\n");
  out_.append("\r\nHTTP/1.1 ");
  append_uint(out_, static_cast<uint64_t>(status));
  out_.append(" ").append(reason).append("\r\n");
  out_.append(head).append("\r\n").append(body).append("\r\n");
}

void MultipartWriter::close() { out_.append("--").append(boundary_).append("--\r\n"); }

}  // namespace kyanite::wire
