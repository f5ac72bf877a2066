// What the tests of this folder share: a server with a handler that can do everything a handler may
// do, and a blocking client that shows every byte.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/tcp.h>
#include <openssl/ssl.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <memory>
#include <new>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "base/bytes.h"
#include "base/executor.h"
#include "base/mutex.h"
#include "base/sanitized.h"
#include "net/server.h"

namespace kyanite::net {

// Waits until the condition holds; false after a time that no working server needs.
template <class Condition>
bool eventually(Condition condition) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

// Large bodies repeat this block, so that every byte can be checked at its offset.
inline const std::string& pattern() {
  static const std::string block = [] {
    std::string bytes(1024 * 1024, '\0');
    for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i * 31 + (i >> 8));
    return bytes;
  }();
  return block;
}
inline bool matches_pattern(std::string_view bytes, uint64_t offset) {
  while (!bytes.empty()) {
    const size_t at = static_cast<size_t>(offset % pattern().size());
    const size_t count = std::min(bytes.size(), pattern().size() - at);
    if (std::memcmp(bytes.data(), pattern().data() + at, count) != 0) return false;
    bytes.remove_prefix(count);
    offset += count;
  }
  return true;
}

// `total` bytes of the pattern in blocks of `step`, then the end, or a failure.
class PatternStream final : public http::BodyStream {
 public:
  PatternStream(uint64_t total, size_t step, bool fails)
      : total_(total), step_(step), fails_(fails) {}
  Task<Result<os::Bytes, http::StreamError>> next() override {
    Buffer block(step_);
    while (block.size() < step_ && sent_ < total_) {
      const size_t at = static_cast<size_t>(sent_ % pattern().size());
      const auto count = static_cast<size_t>(std::min<uint64_t>(
          std::min(step_ - block.size(), pattern().size() - at), total_ - sent_));
      block.append(std::string_view(pattern()).substr(at, count));
      sent_ += count;
    }
    if (block.empty() && fails_) co_return http::StreamError::kFailed;
    co_return os::Bytes(std::move(block));
  }

 private:
  const uint64_t total_;
  const size_t step_;
  const bool fails_;
  uint64_t sent_ = 0;
};

// The pattern once, from a file, in two slices.
class FileStream final : public http::BodyStream {
 public:
  explicit FileStream(std::shared_ptr<const os::File> file) : file_(std::move(file)) {}
  Task<Result<os::Bytes, http::StreamError>> next() override {
    const uint64_t length = slices_++ < 2 ? pattern().size() / 2 : 0;
    co_return os::Bytes(os::FileSlice{file_, (slices_ - 1) * (pattern().size() / 2), length});
  }

 private:
  std::shared_ptr<const os::File> file_;
  uint64_t slices_ = 0;
};

// The path says what to do: /hello, /echo, /count, /ignore, /gate, /throw, /headers, /whole/N,
// /stream/N, /counted/N, /small/N, /failing/N, /short/N, /long/N, /file, /file-chunked,
// /file-short, /204.
class TestHandler final : public http::Handler {
 public:
  TestHandler() {
    const int descriptor = memfd_create("kyanite-test", MFD_CLOEXEC);
    EXPECT_EQ(write(descriptor, pattern().data(), pattern().size()),
              static_cast<ssize_t>(pattern().size()));
    file_ = std::make_shared<os::File>(descriptor, "memfd");
  }

  Task<http::Reply> serve(http::Request& request) override {
    note_thread();
    const std::string_view path = request.path;
    http::Reply reply(200);
    if (path == "/echo" || path == "/count") co_return co_await read_body(request, path == "/echo");
    if (path == "/gate") {
      waiting_at_gate = true;
      co_await gate;
    }
    if (path == "/throw") throw std::bad_alloc();
    if (path == "/204") co_return http::Reply(204);
    if (path == "/headers") {
      reply.body = std::string(request.peer) + (request.secure ? " secure" : " plain");
      co_return reply;
    }
    if (path.starts_with("/file")) co_return file_reply(path);
    const size_t number_at = path.find('/', 1);
    if (number_at != std::string_view::npos) {
      co_return stream_reply(path.substr(1, number_at - 1),
                             *parse_uint(path.substr(number_at + 1)));
    }
    reply.body = std::string(path.substr(1));
    co_return reply;
  }

  Pending<bool> gate;
  std::atomic<bool> waiting_at_gate{false};
  std::atomic<int> disconnects{0};
  size_t threads_seen() {
    MutexLock lock(mutex_);
    return threads_.size();
  }

 private:
  Task<http::Reply> read_body(http::Request& request, bool echo) {
    http::Reply reply(200);
    std::string text;
    uint64_t count = 0;
    bool intact = true;
    while (true) {
      auto block = co_await request.body->next();
      if (!block) {
        if (block.error() == http::BodyError::kDisconnected) ++disconnects;
        co_return http::Reply(block.error() == http::BodyError::kTimeout ? 408 : 400);
      }
      if (block->empty()) break;
      if (echo) {
        text.append(block->view());
      } else {
        intact &= matches_pattern(block->view(), count);
      }
      count += block->size();
    }
    reply.body = echo ? std::move(text) : std::to_string(count) + (intact ? " intact" : " damaged");
    co_return reply;
  }

  http::Reply file_reply(std::string_view path) {
    http::Reply reply(200);
    reply.body = std::make_unique<FileStream>(file_);
    if (path == "/file") reply.stream_length = pattern().size();
    if (path == "/file-short") {
      auto empty = std::make_shared<os::File>(memfd_create("empty", MFD_CLOEXEC), "memfd");
      reply.body = std::make_unique<FileStream>(empty);
      reply.stream_length = pattern().size();
    }
    return reply;
  }

  static http::Reply stream_reply(std::string_view kind, uint64_t bytes) {
    http::Reply reply(200);
    if (kind == "whole") {
      reply.body = std::string(bytes, 'w');
      return reply;
    }
    reply.body = std::make_unique<PatternStream>(bytes, kind == "small" ? 10 : kChunkBytes,
                                                 kind == "failing");
    if (kind == "counted") reply.stream_length = bytes;
    if (kind == "short") reply.stream_length = bytes + 1;
    if (kind == "long") reply.stream_length = bytes - 1;
    return reply;
  }

  void note_thread() {
    MutexLock lock(mutex_);
    threads_.insert(std::this_thread::get_id());
  }

  std::shared_ptr<const os::File> file_;
  Mutex mutex_;
  std::set<std::thread::id> threads_ GUARDED_BY(mutex_);
};

struct Answer {
  int status = 0;
  std::string head;  // With its empty line.
  std::string body;

  bool has(std::string_view line) const {
    return head.find("\r\n" + std::string(line) + "\r\n") != std::string::npos;
  }
};

// A blocking client, plain or TLS. Every receive ends after a while, so that a stuck server fails
// the test.
class TestPeer {
 public:
  // `from`: another address of this machine to come from.
  explicit TestPeer(uint16_t port, SSL_CTX* tls = nullptr, const char* from = "127.0.0.1") {
    socket_ = Descriptor(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const timeval patience{30, 0};
    setsockopt(socket_.number(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    setsockopt(socket_.number(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    const int on = 1;
    setsockopt(socket_.number(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    inet_pton(AF_INET, from, &address.sin_addr);
    bind(socket_.number(), reinterpret_cast<sockaddr*>(&address), sizeof address);
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connected_ =
        connect(socket_.number(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
    if (tls == nullptr || !connected_) return;
    session_.reset(SSL_new(tls));
    SSL_set_fd(session_.get(), socket_.number());
    connected_ = SSL_connect(session_.get()) == 1;
  }

  bool connected() const { return connected_; }
  int descriptor() const { return socket_.number(); }
  SSL* session() const { return session_.get(); }

  bool send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t sent =
          session_ ? SSL_write(session_.get(), bytes.data(), static_cast<int>(bytes.size()))
                   : ::send(socket_.number(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      bytes.remove_prefix(static_cast<size_t>(sent));
    }
    return true;
  }

  // Bytes received, 0 at the end, negative when the connection broke or nothing came.
  ssize_t receive(char* to, size_t room) {
    return session_ ? SSL_read(session_.get(), to, static_cast<int>(room))
                    : recv(socket_.number(), to, room, 0);
  }

  // The next reply, by its framing; status 0 when the connection ends before it is whole.
  Answer answer(bool to_head = false) {
    Answer out;
    size_t end;
    while ((end = unread_.find("\r\n\r\n")) == std::string::npos) {
      if (!receive_more()) return {};
    }
    out.head = take(end + 4);
    out.status = std::stoi(out.head.substr(9, 3));
    if (to_head || out.status < 200 || out.status == 204 || out.status == 304) return out;
    const size_t length_at = out.head.find("Content-Length: ");
    bool whole = true;
    if (length_at != std::string::npos) {
      whole = take_exactly(std::stoull(out.head.substr(length_at + 16)), out.body);
    } else if (out.has("Transfer-Encoding: chunked")) {
      whole = take_chunks(out.body);
    } else {
      while (receive_more()) continue;
      out.body = take(unread_.size());
      whole = ended_;
    }
    return whole ? out : Answer{};
  }

  // True when the server has ended the connection in order and nothing is left to read.
  bool ended() { return unread_.empty() && !receive_more() && ended_; }
  // True when no more comes, in order or not.
  bool gone() { return unread_.empty() && !receive_more() && !timed_out_; }

  void stop_sending() { shutdown(socket_.number(), SHUT_WR); }
  void disconnect() { socket_ = Descriptor(); }

 private:
  struct FreeSession {
    void operator()(SSL* session) const { SSL_free(session); }
  };

  bool receive_more() {
    char block[16 * 1024];
    const ssize_t got = receive(block, sizeof block);
    if (got > 0) unread_.append(block, static_cast<size_t>(got));
    ended_ = got == 0;
    timed_out_ = got < 0 && errno == EAGAIN;
    return got > 0;
  }
  std::string take(size_t count) {
    std::string out = unread_.substr(0, count);
    unread_.erase(0, count);
    return out;
  }
  bool take_exactly(uint64_t count, std::string& out) {
    while (unread_.size() < count) {
      if (!receive_more()) return false;
    }
    out += take(count);
    return true;
  }
  bool take_chunks(std::string& out) {
    while (true) {
      size_t line_end;
      while ((line_end = unread_.find("\r\n")) == std::string::npos) {
        if (!receive_more()) return false;
      }
      const uint64_t size = std::stoull(take(line_end + 2), nullptr, 16);
      std::string chunk;
      if (!take_exactly(size + 2, chunk)) return false;
      out.append(chunk, 0, size);
      if (size == 0) return true;
    }
  }

  Descriptor socket_;
  std::unique_ptr<SSL, FreeSession> session_;
  bool connected_ = false;
  bool ended_ = false;
  bool timed_out_ = false;
  std::string unread_;
};

// A running server on a port of the kernel's choice.
struct TestServer {
  explicit TestServer(Options options = one_thread(), const TlsContext* tls = nullptr)
      : server(options) {
    auto endpoint = server.listen("127.0.0.1", 0, handler, tls);
    EXPECT_TRUE(endpoint.ok());
    port = endpoint->port;
    server.start();
  }
  static Options one_thread() {
    Options options;
    options.threads = 1;
    return options;
  }

  TestHandler handler;
  Server server;
  uint16_t port = 0;
};

inline std::string get(std::string_view path, std::string_view more_headers = "") {
  return "GET " + std::string(path) + " HTTP/1.1\r\nHost: h\r\n" + std::string(more_headers) +
         "\r\n";
}
inline std::string put(std::string_view path, std::string_view body,
                       std::string_view more_headers = "") {
  return "PUT " + std::string(path) + " HTTP/1.1\r\nHost: h\r\n" + std::string(more_headers) +
         "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + std::string(body);
}

}  // namespace kyanite::net
