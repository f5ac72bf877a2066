// Replies as bytes: the head, and how the body that follows is delimited.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "http/message.h"
#include "http/parser.h"

namespace kyanite::http {

// How the end of a reply is told to the peer.
struct BodyPlan {
  enum Delimiter {
    kNothing,     // The status has no body and no length: 1xx, 204, 304.
    kLength,      // Content-Length: `length`.
    kChunked,     // Transfer-Encoding: chunked.
    kConnection,  // Ends when the connection does; for HTTP/1.0.
  };
  Delimiter delimiter = kNothing;
  uint64_t length = 0;
  bool send = false;  // There is a body to send: not to HEAD, not for an empty one.
};
BodyPlan plan_body(const Reply& reply, const Head& head);

// The bytes of a reply's body that are in memory already; empty for streams.
std::string_view body_in_memory(const Reply& reply);

// Appends status line, Date, Server, framing and connection headers, the reply's own lines and the
// empty line.
void append_head(std::string& out, const Reply& reply, const BodyPlan& plan, const Head& head,
                 bool keep_alive);

// Appends the size line of a chunk, and what follows the last one.
void append_chunk_line(std::string& out, uint64_t size);
inline constexpr std::string_view kChunkEnd = "\r\n";
inline constexpr std::string_view kLastChunk = "0\r\n\r\n";

inline constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";

// A whole reply to a head that could not be read; the connection closes after it.
std::string refusal(const HeadError& error);

// "Not Found" for 404.
std::string_view reason_phrase(int status);
// What the status line of this reply says beside the number.
std::string_view reason_of(const Reply& reply);

// "Sun, 06 Nov 1994 08:49:37 GMT"
std::string format_date(int64_t unix_seconds);

}  // namespace kyanite::http
