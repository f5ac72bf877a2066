#include "net/http_session.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/budget.h"
#include "net/inbox.h"
#include "net/request_body.h"
#include "net/test_peer.h"

namespace kyanite::net {
namespace {

TEST(HttpSession, ServesRequestsOneAfterTheOther) {
  TestServer server;
  TestPeer peer(server.port);
  for (const std::string name : {"one", "two", "three"}) {
    ASSERT_TRUE(peer.send(get("/" + name)));
    const Answer answer = peer.answer();
    EXPECT_EQ(answer.status, 200);
    EXPECT_EQ(answer.body, name);
  }
  EXPECT_EQ(server.server.metrics().requests, 3u);
  EXPECT_EQ(server.server.metrics().connections_accepted, 1u);
  EXPECT_GT(server.server.metrics().bytes_in, 0u);
  EXPECT_GT(server.server.metrics().bytes_out, server.server.metrics().bytes_in);
}

TEST(HttpSession, AnswersPipelinedRequestsInOrder) {
  TestServer server;
  TestPeer peer(server.port);
  constexpr int kRequests = 1000;  // More than one receive holds.
  std::string requests;
  for (int i = 0; i < kRequests; ++i) {
    requests +=
        i % 3 == 0 ? put("/echo", "body " + std::to_string(i)) : get("/" + std::to_string(i));
  }
  std::thread sender([&] { EXPECT_TRUE(peer.send(requests)); });
  for (int i = 0; i < kRequests; ++i) {
    ASSERT_EQ(peer.answer().body, (i % 3 == 0 ? "body " : "") + std::to_string(i));
  }
  sender.join();
}

TEST(HttpSession, ServesARequestSplitAtEveryByte) {
  TestServer server;
  const std::string request =
      "PUT /echo HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n" +
      std::string("3\r\nabc\r\n4\r\ndefg\r\n0\r\n\r\n");
  TestPeer peer(server.port);
  for (size_t split = 1; split < request.size(); ++split) {
    ASSERT_TRUE(peer.send(request.substr(0, split)));
    const uint64_t so_far = (split - 1) * request.size() + split;
    ASSERT_TRUE(eventually([&] { return server.server.metrics().bytes_in >= so_far; }));
    ASSERT_TRUE(peer.send(request.substr(split)));
    ASSERT_EQ(peer.answer().body, "abcdefg") << split;
  }
}

TEST(HttpSession, SendsNoBodyToHead) {
  TestServer server;
  TestPeer peer(server.port);
  for (const std::string path : {"/hello", "/stream/1000", "/counted/1000", "/204"}) {
    ASSERT_TRUE(peer.send("HEAD " + path + " HTTP/1.1\r\nHost: h\r\n\r\n" + get("/next")));
    const Answer head = peer.answer(true);
    EXPECT_EQ(head.has("Content-Length: 1000"), path == "/counted/1000");
    EXPECT_EQ(head.has("Content-Length: 5"), path == "/hello");
    EXPECT_EQ(peer.answer().body, "next") << path;
  }
}

TEST(HttpSession, AsksForTheBodyOnlyWhenTheHandlerWantsIt) {
  TestServer server;
  const std::string head = "Expect: 100-continue\r\nContent-Length: 5\r\n\r\n";
  TestPeer peer(server.port);
  ASSERT_TRUE(peer.send("PUT /echo HTTP/1.1\r\nHost: h\r\n" + head));
  EXPECT_EQ(peer.answer().status, 100);
  ASSERT_TRUE(peer.send("hello" + get("/next")));
  EXPECT_EQ(peer.answer().body, "hello");
  EXPECT_EQ(peer.answer().body, "next");

  ASSERT_TRUE(peer.send("PUT /ignore HTTP/1.1\r\nHost: h\r\n" + head));
  const Answer refused = peer.answer();
  EXPECT_EQ(refused.status, 200);
  EXPECT_TRUE(refused.has("Connection: close"));  // Whether the body still comes cannot be known.
  EXPECT_TRUE(peer.ended());

  TestPeer hasty(server.port);
  ASSERT_TRUE(hasty.send("PUT /echo HTTP/1.1\r\nHost: h\r\n" + head + "hello"));
  EXPECT_EQ(hasty.answer().body, "hello");
}

TEST(HttpSession, ReceivesChunkedBodies) {
  TestServer server;
  TestPeer peer(server.port);
  const size_t large = 3 * kChunkBytes + 17;
  std::string body;
  std::string request = "PUT /echo HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n";
  for (const size_t size : {size_t{1}, size_t{100}, size_t{20'000}, large, size_t{5}}) {
    const std::string chunk = pattern().substr(0, size);
    char line[32];
    snprintf(line, sizeof line, "%zx;ext=1\r\n", chunk.size());
    request += line + chunk + "\r\n";
    body += chunk;
  }
  request += "0\r\nTrailer: ignored\r\n\r\n";
  for (int round = 0; round < 2; ++round) {
    std::thread sender([&] { EXPECT_TRUE(peer.send(request)); });
    EXPECT_TRUE(peer.answer().body == body);
    sender.join();
  }
}

TEST(HttpSession, RefusesBadChunks) {
  TestServer server;
  TestPeer peer(server.port);
  ASSERT_TRUE(peer.send(
      "PUT /echo HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhelloX\r\n"));
  const Answer answer = peer.answer();
  EXPECT_EQ(answer.status, 400);
  EXPECT_TRUE(answer.has("Connection: close"));
  peer.stop_sending();
  EXPECT_TRUE(peer.ended());
}

TEST(HttpSession, StreamsReplies) {
  TestServer server;
  TestPeer peer(server.port);
  for (const std::string path : {"/stream/0", "/stream/1", "/stream/700000", "/counted/700000",
                                 "/counted/1", "/small/50000"}) {
    ASSERT_TRUE(peer.send(get(path)));
    const Answer answer = peer.answer();
    EXPECT_EQ(answer.status, 200);
    EXPECT_EQ(std::to_string(answer.body.size()), path.substr(path.rfind('/') + 1));
    EXPECT_TRUE(matches_pattern(answer.body, 0)) << path;
    EXPECT_EQ(answer.has("Transfer-Encoding: chunked"), path[1] == 's') << path;
  }
}

TEST(HttpSession, SendsFiles) {
  TestServer server;
  TestPeer peer(server.port);
  for (const std::string path : {"/file", "/file-chunked"}) {
    ASSERT_TRUE(peer.send(get(path)));
    const Answer answer = peer.answer();
    EXPECT_EQ(answer.status, 200);
    EXPECT_TRUE(answer.body == pattern()) << path;
  }
}

TEST(HttpSession, AReplyThatCannotBeCompletedBreaksTheConnection) {
  for (const std::string path :
       {"/failing/1000", "/failing/0", "/short/1000", "/long/1000", "/file-short"}) {
    TestServer server;
    TestPeer peer(server.port);
    ASSERT_TRUE(peer.send(get(path)));
    EXPECT_EQ(peer.answer().status, 0) << path;
    TestPeer old(server.port);
    ASSERT_TRUE(old.send("GET " + path + " HTTP/1.0\r\n\r\n"));
    EXPECT_EQ(old.answer().status, 0)
        << path;  // Not even where the end of the connection ends a body.
  }
}

TEST(HttpSession, SpeaksHttp10) {
  TestServer server;
  {
    TestPeer peer(server.port);
    ASSERT_TRUE(peer.send("GET /old HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"));
    const Answer kept = peer.answer();
    EXPECT_EQ(kept.body, "old");
    EXPECT_TRUE(kept.has("Connection: keep-alive"));
    ASSERT_TRUE(peer.send("GET /stream/300000 HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"));
    const Answer streamed = peer.answer();
    EXPECT_EQ(streamed.body.size(), 300'000u);
    EXPECT_TRUE(streamed.has("Connection: close"));
  }
  TestPeer peer(server.port);
  ASSERT_TRUE(peer.send("GET /old HTTP/1.0\r\n\r\n"));
  EXPECT_EQ(peer.answer().body, "old");
  EXPECT_TRUE(peer.ended());
}

TEST(HttpSession, ClosesWhenAsked) {
  TestServer server;
  TestPeer peer(server.port);
  ASSERT_TRUE(peer.send(get("/last", "Connection: close\r\n") + get("/never")));
  EXPECT_TRUE(peer.answer().has("Connection: close"));
  peer.stop_sending();
  EXPECT_TRUE(peer.ended());
  EXPECT_EQ(server.server.metrics().requests, 1u);
}

TEST(HttpSession, RefusesMalformedHeadsAndTheClientCanReadIt) {
  TestServer server;
  const struct {
    std::string bytes;
    int status;
  } rows[] = {
      {"GET / HTTP/1.1\r\n\r\n", 400},
      {"GET / HTTP/3.0\r\n", 505},
      {"\x16\x03\x01\x02", 400},
      {"GET /" + std::string(http::kMaxHeadBytes, 'a'), 414},
      {get("/", "a: " + std::string(http::kMaxHeadBytes, 'a') + "\r\n"), 431},
      {"PUT / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n", 400},
  };
  for (const auto& row : rows) {
    TestPeer peer(server.port);
    // More than the server reads: without a lingering close the reply would be lost.
    ASSERT_TRUE(peer.send(row.bytes + std::string(500'000, 'x')));
    const Answer answer = peer.answer();
    EXPECT_EQ(answer.status, row.status);
    EXPECT_TRUE(answer.has("Connection: close"));
    EXPECT_FALSE(answer.body.empty());
    peer.stop_sending();
    EXPECT_TRUE(peer.ended());
  }
  EXPECT_EQ(server.server.metrics().requests, 0u);
}

TEST(HttpSession, AcceptsTheLargestHead) {
  TestServer server;
  TestPeer peer(server.port);
  for (const std::string framing : {"", "Transfer-Encoding: chunked\r\n"}) {
    const std::string begin = "PUT /echo HTTP/1.1\r\nHost: h\r\n" + framing + "a: ";
    std::string request =
        begin + std::string(http::kMaxHeadBytes - begin.size() - 4, 'a') + "\r\n\r\n";
    ASSERT_EQ(request.size(), http::kMaxHeadBytes);
    if (!framing.empty()) request += "3\r\nabc\r\n0\r\n\r\n";
    ASSERT_TRUE(peer.send(request + get("/next")));
    EXPECT_EQ(peer.answer().body, framing.empty() ? "" : "abc");
    EXPECT_EQ(peer.answer().body, "next");
  }
}

// Heads of every length around the size of the receive block, with a chunked body whose framing
// needs room behind them.
TEST(HttpSession, HeadsAtTheEdgeOfTheReceiveBlock) {
  TestServer server;
  TestPeer peer(server.port);
  for (size_t bytes = Inbox::kUsualBytes - 1100; bytes < Inbox::kUsualBytes + 40; bytes += 19) {
    const std::string begin = "PUT /echo HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\na: ";
    const std::string head = begin + std::string(bytes - begin.size() - 4, 'a') + "\r\n\r\n";
    ASSERT_TRUE(peer.send(head));
    ASSERT_TRUE(peer.send("4\r\nab"));
    ASSERT_TRUE(peer.send("cd\r\n0\r\n\r\n" + get("/next")));
    ASSERT_EQ(peer.answer().body, "abcd") << bytes;
    ASSERT_EQ(peer.answer().body, "next") << bytes;
  }
}

TEST(HttpSession, SkipsASmallUnreadBodyAndClosesOnALargeOne) {
  TestServer server;
  TestPeer peer(server.port);
  const std::string small(RequestBody::kMaxSkippedBytes, 's');
  std::thread sender([&] { EXPECT_TRUE(peer.send(put("/ignore", small) + get("/next"))); });
  EXPECT_EQ(peer.answer().status, 200);
  EXPECT_EQ(peer.answer().body, "next");
  sender.join();

  ASSERT_TRUE(peer.send(
      "PUT /ignore HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n"));
  EXPECT_EQ(peer.answer().status, 200);
  ASSERT_TRUE(peer.send("0\r\n\r\n" + get("/next")));
  EXPECT_EQ(peer.answer().body, "next");

  const std::string large(RequestBody::kMaxSkippedBytes + 1, 'l');
  std::thread large_sender([&] { EXPECT_TRUE(peer.send(put("/ignore", large))); });
  const Answer answer = peer.answer();
  EXPECT_EQ(answer.status, 200);
  EXPECT_TRUE(answer.has("Connection: close"));
  large_sender.join();
  peer.stop_sending();
  EXPECT_TRUE(peer.ended());
}

TEST(HttpSession, TellsTheHandlerWhoCalls) {
  TestServer server;
  TestPeer peer(server.port);
  ASSERT_TRUE(peer.send(get("/headers")));
  EXPECT_EQ(peer.answer().body, "127.0.0.1 plain");
}

TEST(HttpSession, AnExceptionEndsItsConnectionOnly) {
  TestServer server;
  TestPeer other(server.port);
  ASSERT_TRUE(other.send(get("/before")));
  EXPECT_EQ(other.answer().body, "before");
  TestPeer peer(server.port);
  ASSERT_TRUE(peer.send(get("/throw")));
  EXPECT_TRUE(peer.gone());
  ASSERT_TRUE(other.send(get("/after")));
  EXPECT_EQ(other.answer().body, "after");
}

TEST(HttpSession, NoticesADisconnectMidway) {
  TestServer server;
  {
    TestPeer peer(server.port);
    ASSERT_TRUE(peer.send("PUT /count HTTP/1.1\r\nHost: h\r\nContent-Length: 1000000\r\n\r\nabc"));
    peer.stop_sending();
    EXPECT_TRUE(peer.gone());
  }
  EXPECT_EQ(server.handler.disconnects, 1);
  {
    TestPeer peer(server.port);
    ASSERT_TRUE(peer.send(get("/counted/100000000")));
    char byte;
    ASSERT_EQ(peer.receive(&byte, 1), 1);
  }
  EXPECT_TRUE(eventually([&] { return server.server.metrics().connections_open == 0; }));
}

Options impatient(std::chrono::milliseconds Timeouts::*which) {
  Options options = TestServer::one_thread();
  options.timeouts.*which = std::chrono::milliseconds(100);
  return options;
}

TEST(HttpSessionTimeouts, Idle) {
  TestServer server(impatient(&Timeouts::idle));
  TestPeer silent(server.port);
  EXPECT_TRUE(silent.ended());
  TestPeer peer(server.port);
  ASSERT_TRUE(peer.send(get("/once")));
  EXPECT_EQ(peer.answer().body, "once");
  EXPECT_TRUE(peer.ended());
}

TEST(HttpSessionTimeouts, Head) {
  TestServer server(impatient(&Timeouts::head));
  TestPeer peer(server.port);
  ASSERT_TRUE(peer.send("GET / HTTP/1.1\r\nHos"));
  EXPECT_EQ(peer.answer().status, 408);
  peer.stop_sending();
  EXPECT_TRUE(peer.ended());
}

TEST(HttpSessionTimeouts, Body) {
  TestServer server(impatient(&Timeouts::body));
  TestPeer peer(server.port);
  ASSERT_TRUE(peer.send("PUT /count HTTP/1.1\r\nHost: h\r\nContent-Length: 10\r\n\r\nabc"));
  const Answer answer = peer.answer();
  EXPECT_EQ(answer.status, 408);
  EXPECT_TRUE(answer.has("Connection: close"));
}

TEST(HttpSessionTimeouts, Send) {
  TestServer server(impatient(&Timeouts::send));
  uint64_t requests = 0;
  for (const std::string path : {"/counted/100000000", "/stream/100000000"}) {
    TestPeer peer(server.port);
    ASSERT_TRUE(peer.send(get(path)));
    ++requests;
    EXPECT_TRUE(eventually([&] {
      const Metrics metrics = server.server.metrics();
      return metrics.requests == requests && metrics.connections_open == 0;
    }));
    EXPECT_EQ(peer.answer().status, 0);
  }
}

// Byte by byte, each as soon as the last one has arrived: never a time without one, and yet too
// few.
TEST(HttpSessionTimeouts, ABodyThatComesTooSlowly) {
  Options options = impatient(&Timeouts::body);
  options.timeouts.least_rate = 1'000'000;
  TestServer server(options);
  TestPeer peer(server.port);
  ASSERT_TRUE(peer.send("PUT /count HTTP/1.1\r\nHost: h\r\nContent-Length: 1000000\r\n\r\n"));
  std::atomic<bool> ended = false;
  std::thread trickle([&] {
    const auto arrived = [&] { return server.server.metrics().bytes_in; };
    while (!ended) {
      const uint64_t before = arrived();
      if (!peer.send("x")) return;
      EXPECT_TRUE(eventually([&] { return ended || arrived() > before; }));
    }
  });
  EXPECT_EQ(peer.answer().status, 408);
  ended = true;
  trickle.join();
}

TEST(HttpSessionTimeouts, AReplyThatIsTakenTooSlowly) {
  Options options = impatient(&Timeouts::send);
  options.timeouts.least_rate = 1ULL << 40;
  TestServer server(options);
  TestPeer peer(server.port);
  ASSERT_TRUE(peer.send(get("/counted/1000000000")));
  char block[100];
  EXPECT_TRUE(eventually([&] {
    peer.receive(block, sizeof block);
    return server.server.metrics().requests == 1 && server.server.metrics().connections_open == 0;
  }));
}

// Another limit for the memory of bodies, for one test.
class MemoryOf {
 public:
  explicit MemoryOf(uint64_t bytes) : before_(body_memory().total()) {
    body_memory().set_total(bytes);
  }
  ~MemoryOf() { body_memory().set_total(before_); }
  MemoryOf(const MemoryOf&) = delete;
  MemoryOf& operator=(const MemoryOf&) = delete;

 private:
  const uint64_t before_;
};

TEST(HttpSessionMemory, RepliesThatNobodyReadsAreLimited) {
  // The kernel holds a few megabytes of each.
  constexpr uint64_t kBytes = 20'000'000;
  constexpr size_t kPeers = 3;
  const MemoryOf less_than_three(3 * kBytes);
  TestServer server;
  std::vector<std::unique_ptr<TestPeer>> peers;
  for (size_t i = 0; i < kPeers; ++i) {
    peers.push_back(std::make_unique<TestPeer>(server.port));
    ASSERT_TRUE(peers.back()->send(get("/whole/" + std::to_string(kBytes))));
  }
  EXPECT_TRUE(eventually([&] {
    return server.server.metrics().requests == kPeers && body_memory().refused() > 0 &&
           server.server.metrics().connections_open < kPeers;
  }));
  EXPECT_GE(server.server.metrics().connections_open, 1u);
  EXPECT_LE(body_memory().used(), 3 * kBytes / 2);
  peers.clear();
  EXPECT_TRUE(eventually([&] { return body_memory().used() == 0; }));
}

TEST(HttpSessionMemory, FilesTakeNone) {
  const MemoryOf none(0);
  TestServer server;
  TestPeer peer(server.port);
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(peer.send(get("/file")));  // More than the kernel holds.
  ASSERT_TRUE(eventually([&] { return server.server.metrics().bytes_out > 1'000'000; }));
  for (int i = 0; i < 20; ++i) EXPECT_EQ(peer.answer().body.size(), pattern().size());
}

TEST(HttpSessionMemory, LongHeadsAreLimited) {
  const MemoryOf one_head(2 * Inbox::kLargeBytes);
  TestServer server;
  const std::string half = "GET /x HTTP/1.1\r\nHost: h\r\nLong: " + std::string(20'000, 'x');
  TestPeer first(server.port), second(server.port);
  ASSERT_TRUE(first.send(half));
  ASSERT_TRUE(eventually([&] { return body_memory().used() == Inbox::kLargeBytes; }));
  ASSERT_TRUE(second.send(half));
  const Answer refused = second.answer();
  EXPECT_EQ(refused.status, 503);
  EXPECT_TRUE(refused.has("Retry-After: 1"));
  ASSERT_TRUE(first.send("\r\n\r\n"));
  EXPECT_EQ(first.answer().body, "x");
  EXPECT_TRUE(eventually([&] { return body_memory().used() == 0; }));
}

TEST(HttpSessionTimeouts, Linger) {
  TestServer server(impatient(&Timeouts::linger));
  TestPeer peer(server.port);
  ASSERT_TRUE(peer.send("GET / HTTP/1.1\r\n\r\n"));
  EXPECT_EQ(peer.answer().status, 400);
  EXPECT_TRUE(eventually([&] { return server.server.metrics().connections_open == 0; }));
}

}  // namespace
}  // namespace kyanite::net
