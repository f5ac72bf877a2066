// Reads the head of an HTTP/1.x request from bytes, as they arrive. Strict wherever two readers
// could disagree about where a message ends: line ends are CRLF, header lines do not continue, and
// the body's framing is given once and plainly.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "http/limits.h"
#include "http/message.h"

namespace kyanite::http {

enum class Framing { kNone, kLength, kChunked };

struct Head {
  Request request;        // Views into the parsed bytes; body, peer and secure are left alone.
  bool http_1_0 = false;  // else 1.1
  Framing framing = Framing::kNone;
  uint64_t content_length = 0;   // with kLength; at least 1
  bool keep_alive = false;       // The peer wants to send more requests.
  bool expect_continue = false;  // The peer waits for "100 Continue" before it sends the body.
  size_t bytes = 0;              // Length of the head, from the first byte to the empty line's end.
};

// What to answer to a head that cannot be served. The connection must be closed: where the next
// request begins is unknown.
struct HeadError {
  int status = 400;
  std::string_view reason;
};

class HeadParser {
 public:
  enum class State { kMore, kDone, kError };

  // `bytes` is everything received since the request began: each call passes what the last one
  // passed, at the same address, and more. Each byte is looked at once, however it is split.
  State parse(std::string_view bytes);

  // After kDone, until reset().
  Head& head() { return head_; }
  // After kError.
  const HeadError& error() const { return error_; }

  // Begins a new request, or the same again after its bytes have moved.
  void reset();

 private:
  State fail(int status, std::string_view reason);
  State check_unfinished_line(std::string_view bytes);
  State too_long();
  State take_request_line(std::string_view line);
  State take_target(std::string_view target);
  State take_version(std::string_view version);
  State take_header_line(std::string_view line);
  State take_framing_header(std::string_view name, std::string_view value);
  State take_connection(std::string_view value);
  State take_content_length(std::string_view value);
  State finish(size_t head_bytes);
  size_t line_limit() const;

  Head head_;
  HeadError error_;
  State state_ = State::kMore;
  size_t line_begin_ = 0;
  size_t scanned_ = 0;
  bool have_request_line_ = false;
  std::string_view authority_;  // from an absolute-form target
  int host_lines_ = 0;
  int transfer_encodings_ = 0;
  bool have_length_ = false;
  bool said_close_ = false;
  bool said_keep_alive_ = false;
};

}  // namespace kyanite::http
