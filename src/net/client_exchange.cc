#include "net/client_exchange.h"

#include <sys/uio.h>

#include <span>
#include <utility>

#include "base/check.h"

namespace kyanite::net {

using http::FetchError;
using Lines = http::Fetcher::Lines;

namespace {

// Bytes that a request line cannot carry as they are.
std::string escape(std::string_view target) {
  static constexpr char kDigits[] = "0123456789ABCDEF";
  std::string out;
  for (const char c : target) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x80) {
      out += c;
    } else {
      out += {'%', kDigits[byte >> 4], kDigits[byte & 15]};
    }
  }
  return out;
}

void append_line(std::string& out, std::string_view name, std::string_view value) {
  out.append(name).append(": ").append(value).append("\r\n");
}

}  // namespace

std::string request_head(const Asked& asked, const http::Url& url, const Lines& headers,
                         const Lines& credentials) {
  std::string head(asked.method);
  head.append(" ").append(escape(url.target())).append(" HTTP/1.1\r\n");
  append_line(head, "Host", url.authority());
  append_line(head, "User-Agent", "kyanite");
  append_line(head, "Accept", "*/*");
  append_line(head, "Accept-Encoding", "identity");
  append_line(head, "Connection", "close");
  if (asked.body) append_line(head, "Content-Length", std::to_string(asked.body->size()));
  for (const Lines* lines : {&headers, &credentials}) {
    for (const auto& [name, value] : *lines) append_line(head, name, value);
  }
  return head + "\r\n";
}

FetchError ClientExchange::failed(FetchError::Kind kind, std::string what) const {
  if (stopped) return {FetchError::kBusy, "This server stops."};
  if (late) return {FetchError::kTimeout, "The copy source takes too long."};
  return {kind, std::move(what)};
}

Task<Fetch<void>> ClientExchange::send(std::string_view request, std::string_view sent_body) {
  if (!co_await connection.handshake()) {
    co_return failed(FetchError::kUnreachable,
                     "The copy source cannot be connected to, or its certificate is not trusted.");
  }
  iovec pieces[] = {{const_cast<char*>(request.data()), request.size()},
                    {const_cast<char*>(sent_body.data()), sent_body.size()}};
  const std::span<iovec> sent(pieces, sent_body.empty() ? 1 : 2);
  if (!co_await connection.write_all(sent))
    co_return failed(FetchError::kUnreachable, "The copy source cannot be connected to.");
  co_return {};
}

Task<Fetch<void>> ClientExchange::receive_head() {
  const int64_t until = connection.now_ms() + connection.shard().timeouts.head.count();
  while (true) {
    if (const auto end = http::find_head_end(inbox.unread())) {
      head_text = inbox.unread().substr(0, *end);
      inbox.consume(*end);
      auto parsed = http::parse_reply_head(head_text);
      if (!parsed)
        co_return failed(FetchError::kBadReply, "The copy source sent a malformed reply.");
      if (parsed->status < 200) continue;  // The real one follows.
      head = std::move(*parsed);
      break;
    }
    if (inbox.unread().size() >= http::kMaxHeadBytes)
      co_return failed(FetchError::kBadReply, "The copy source sent too many headers.");
    if (inbox.room() == 0) inbox.make_room();
    const Progress progress = inbox.receive(connection);
    if (progress.step == Progress::kMoved) continue;
    if (progress.step == Progress::kEnd || progress.step == Progress::kFailed)
      co_return failed(FetchError::kUnreachable, "The copy source closed the connection.");
    const Wake wake = co_await connection.wait(progress.step, until);
    if (wake == Wake::kTimedOut)
      co_return failed(FetchError::kTimeout, "The copy source did not answer in time.");
    if (wake != Wake::kReady)
      co_return failed(FetchError::kUnreachable, "The copy source closed the connection.");
  }
  http::Head framing;
  framing.framing = head.framing;
  framing.content_length = head.content_length;
  if (inbox.room() == 0) inbox.make_room();
  body.emplace(connection, inbox, framing);
  co_return {};
}

Task<Fetch<Buffer>> ClientExchange::next() {
  const auto error = [this](http::BodyError why) {
    switch (why) {
      case http::BodyError::kTimeout:
        return failed(FetchError::kTimeout, "The copy source stopped sending.");
      case http::BodyError::kMalformed:
        return failed(FetchError::kBadReply, "The copy source sent a malformed body.");
      case http::BodyError::kDisconnected:
        return failed(FetchError::kCutShort, "The copy source broke off.");
    }
    CHECK(false);
  };
  if (!head.until_close) {
    auto chunk = co_await body->next();
    if (!chunk) co_return error(chunk.error());
    co_return std::move(*chunk);
  }
  Buffer out(kChunkBytes);
  const std::string_view early = inbox.unread();
  out.append(early);
  inbox.consume(early.size());
  while (!ended && out.room() > 0) {
    const Progress progress = connection.read_some(out.data() + out.size(), out.room());
    if (progress.step == Progress::kMoved) {
      out.resize(out.size() + progress.bytes);
    } else if (progress.step == Progress::kEnd) {
      ended = true;
    } else if (progress.step == Progress::kFailed) {
      co_return error(http::BodyError::kDisconnected);
    } else {
      const int64_t until = connection.now_ms() + connection.shard().timeouts.body.count();
      const Wake wake = co_await connection.wait(progress.step, until);
      if (wake != Wake::kReady) {
        co_return error(wake == Wake::kTimedOut ? http::BodyError::kTimeout
                                                : http::BodyError::kDisconnected);
      }
    }
  }
  co_return out;
}

}  // namespace kyanite::net
