// multipart/mixed, as the batches of the Blob and Table services use it: parts that are HTTP
// requests or replies of their own. Pure; everything parsed is a view into the body.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "http/message.h"

namespace kyanite::wire {

// The boundary parameter of a multipart/mixed Content-Type; nothing when it is another type or the
// boundary is missing, empty or longer than the 70 characters of RFC 2046.
std::optional<std::string_view> multipart_boundary(std::string_view content_type);

struct Part {
  http::Headers headers;
  std::string_view content;
};

// The parts between the boundary lines; lines may end in CRLF or LF. Nothing when the body has no
// first or no closing boundary, a header line is malformed, the headers of a part are longer than
// those of a request may be, or there are more than `most` parts.
// What precedes the first and follows the closing boundary is ignored.
std::optional<std::vector<Part>> parse_multipart(std::string_view body, std::string_view boundary,
                                                 size_t most);

// An application/http part: a request line, headers, a body.
struct EmbeddedRequest {
  std::string_view method;
  std::string_view url;  // as written: absolute, or a path
  http::Headers headers;
  std::string_view content;
};
std::optional<EmbeddedRequest> parse_embedded_request(std::string_view text);

// The path and query of a URL that may be absolute: "http://host/a?b" and "/a?b" are "/a?b".
std::string_view strip_origin(std::string_view url);

// Writes the parts of one multipart body; nested bodies use one writer each.
class MultipartWriter {
 public:
  MultipartWriter(std::string& out, std::string boundary)
      : out_(out), boundary_(std::move(boundary)) {}

  const std::string& boundary() const { return boundary_; }
  // Begins a part of that type; its content follows in `out`.
  void part(std::string_view content_type);
  // Begins an application/http part with the status line and the headers of a reply
  // ("Name: value\r\n" each), then its body.
  void reply(int status, std::string_view reason, std::string_view head, std::string_view body,
             std::string_view content_id = {});
  void close();

 private:
  void begin_part();

  std::string& out_;
  std::string boundary_;
};

}  // namespace kyanite::wire
