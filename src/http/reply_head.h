// Reads the head of a reply that another server sent. As strict as the parser of requests wherever
// two readers could disagree about where the message ends.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "http/message.h"
#include "http/parser.h"

namespace kyanite::http {

struct ReplyHead {
  int status = 0;
  Headers headers;  // Views into the parsed text.
  Framing framing = Framing::kNone;
  uint64_t content_length = 0;  // with kLength; at least 1
  bool until_close = false;     // The body ends with the connection.
};

// The length of the head at the front of `bytes`, its empty line included; nothing while that has
// not arrived.
std::optional<size_t> find_head_end(std::string_view bytes);

// `text` is a whole head, to a GET. Nothing when it is malformed.
std::optional<ReplyHead> parse_reply_head(std::string_view text);

}  // namespace kyanite::http
