// A request and a reply as the rest of the server sees them: no sockets, no Azure. Bodies stream
// both ways, one chunk in memory at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/buffer.h"
#include "base/result.h"
#include "base/task.h"
#include "os/file.h"

namespace kyanite::http {

struct Header {
  std::string_view name;
  std::string_view value;  // Without surrounding blanks.
};

// Header lines in the order received. Names compare ignoring case.
class Headers {
 public:
  void add(std::string_view name, std::string_view value) {
    lines_.push_back({name, value});
    marks_ |= mark(name);
  }
  // Gives the first line of that name this value, or adds one.
  void set(std::string_view name, std::string_view value);
  void clear() {
    lines_.clear();
    marks_ = 0;
  }
  // The first line of that name. Absent and empty differ.
  std::optional<std::string_view> find(std::string_view name) const {
    if ((marks_ & mark(name)) == 0) return {};
    return search(name);
  }
  // The value or "".
  std::string_view get(std::string_view name) const {
    return find(name).value_or(std::string_view());
  }
  bool has(std::string_view name) const { return find(name).has_value(); }
  size_t count(std::string_view name) const;
  auto begin() const { return lines_.begin(); }
  auto end() const { return lines_.end(); }
  size_t size() const { return lines_.size(); }

 private:
  // A request looks for dozens of headers, most of them absent: one bit a name tells most of those.
  static uint64_t mark(std::string_view name) {
    const auto last = static_cast<unsigned char>(name.empty() ? 0 : name.back() | 0x20);
    return uint64_t{1} << ((name.size() * 7 + last) & 63);
  }
  std::optional<std::string_view> search(std::string_view name) const;

  std::vector<Header> lines_;
  uint64_t marks_ = 0;
};

enum class BodyError {
  kDisconnected,  // The peer went away.
  kTimeout,       // The peer sent too slowly.
  kMalformed,     // Bad chunked framing.
};

// The body of a request, pulled by whoever needs it; unread, it stays in the socket and the peer
// waits.
class BodyReader {
 public:
  virtual ~BodyReader() = default;
  // The next bytes, at most kChunkBytes and full chunks as long as there are any; an empty Buffer
  // at the end, and again when called after it.
  virtual Task<Result<Buffer, BodyError>> next() = 0;
  // Declared by Content-Length; nothing when chunked.
  virtual std::optional<uint64_t> length() const = 0;
};

// All views point into the connection's buffer and live as long as the request.
struct Request {
  std::string_view method;  // as sent
  std::string_view target;  // as sent: path and query, still percent-encoded
  std::string_view path;    // the part of target before '?'
  std::string_view query;   // the part after '?', without it
  Headers headers;
  BodyReader* body = nullptr;  // Never null while being served.
  std::string_view peer;       // numeric IP address
  bool secure = false;         // came over TLS
};

enum class StreamError {
  kFailed,  // The source failed midway; the connection is cut so that the peer cannot mistake it
            // for the end.
};

// A reply body that is produced while it is sent.
class BodyStream {
 public:
  virtual ~BodyStream() = default;
  // The next bytes; an empty Buffer at the end.
  virtual Task<Result<os::Bytes, StreamError>> next() = 0;
};

// Replies of these kinds end with their head (RFC 9112, 6.3).
inline bool has_no_body(int status) { return status < 200 || status == 204 || status == 304; }

struct Reply {
  int status = 200;
  // "Name: value\r\n" for each line. Content-Length, Transfer-Encoding, Connection and Date are the
  // connection's business.
  std::string head;

  // The body: none, a string, bytes kept alive by a shared owner, or a stream.
  struct Shared {
    std::shared_ptr<const void> owner;
    std::string_view bytes;
  };
  std::variant<std::monostate, std::string, Shared, std::unique_ptr<BodyStream>> body;
  // For streams: the exact length; without it the body is sent chunked. A reply to HEAD announces a
  // length by this and sends no body.
  std::optional<uint64_t> stream_length;

  // What the status line says beside the number; null: what is usual for it.
  std::unique_ptr<const std::string> reason;

  // For the log and metrics; not sent.
  std::string_view error_code;
  bool close = false;  // Close the connection after this reply.

  Reply() = default;
  explicit Reply(int code) : status(code) {}

  // Control characters in the value become blanks: no value, wherever it came from, can begin a
  // line of its own.
  Reply& header(std::string_view name, std::string_view value);
  Reply& header(std::string_view name, uint64_t value);
  bool has_header(std::string_view name) const;
  // Takes the first line of a text as the reason, at most so much of it. What is not printable
  // ASCII becomes a question mark.
  static constexpr size_t kMaxReasonBytes = 200;
  Reply& because(std::string_view text);
};

// Serves one request. Called on the connection's event loop; must not block it.
class Handler {
 public:
  virtual ~Handler() = default;
  virtual Task<Reply> serve(Request& request) = 0;
};

}  // namespace kyanite::http
