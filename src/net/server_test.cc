#include "net/server.h"

#include <gtest/gtest.h>
#include <malloc.h>
#include <netinet/in.h>
#include <sys/resource.h>

#include <semaphore>
#include <string>
#include <vector>

#include "net/listener.h"
#include "net/test_peer.h"

namespace kyanite::net {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(Server, RefusesAPortInUse) {
  for (const int threads : {1, 3}) {
    Options options;
    options.threads = threads;
    TestHandler handler;
    Server first(options);
    const auto endpoint = first.listen("127.0.0.1", 0, handler);
    ASSERT_TRUE(endpoint.ok());
    Server second(options);
    const auto refused = second.listen("127.0.0.1", endpoint->port, handler);
    ASSERT_FALSE(refused.ok());
    const std::string name = "127.0.0.1:" + std::to_string(endpoint->port);
    EXPECT_NE(refused.error().find(name), std::string::npos) << refused.error();
    EXPECT_NE(refused.error().find("in use"), std::string::npos) << refused.error();
  }
}

// Another program of the same user that offers to share its port.
TEST(Server, DoesNotShareAPort) {
  const Descriptor other(socket(AF_INET, SOCK_STREAM, 0));
  const int on = 1;
  ASSERT_EQ(setsockopt(other.number(), SOL_SOCKET, SO_REUSEPORT, &on, sizeof on), 0);
  ASSERT_EQ(setsockopt(other.number(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on), 0);
  auto address = resolve("127.0.0.1", 0);
  ASSERT_TRUE(address.ok());
  Address& there = address->front();
  ASSERT_EQ(bind(other.number(), there.raw(), there.length), 0);
  ASSERT_EQ(listen(other.number(), 1), 0);
  ASSERT_EQ(getsockname(other.number(), there.raw(), &there.length), 0);

  TestHandler handler;
  Server server(TestServer::one_thread());
  EXPECT_FALSE(server.listen("127.0.0.1", there.port(), handler).ok());
}

TEST(Server, ListensAgainAtOnceAfterAStop) {
  uint16_t port = 0;
  for (int round = 0; round < 3; ++round) {
    TestHandler handler;
    Server server(TestServer::one_thread());
    const auto endpoint = server.listen("127.0.0.1", port, handler);
    ASSERT_TRUE(endpoint.ok()) << endpoint.error();
    port = endpoint->port;
    server.start();
    TestPeer peer(port);
    ASSERT_TRUE(peer.send(get("/again")));
    EXPECT_EQ(peer.answer().body, "again");
    server.drain_and_stop(seconds(10));  // Leaves the server's side of the connection in TIME_WAIT.
  }
}

TEST(Server, ResolvesNamesAndReportsBadOnes) {
  TestHandler handler;
  Server server(TestServer::one_thread());
  const auto endpoint = server.listen("localhost", 0, handler);
  ASSERT_TRUE(endpoint.ok()) << endpoint.error();
  EXPECT_NE(endpoint->port, 0);
  EXPECT_TRUE(endpoint->host == "127.0.0.1" || endpoint->host == "::1") << endpoint->host;
  EXPECT_FALSE(server.listen("no such host.invalid", 0, handler).ok());
  const auto foreign =
      server.listen("192.0.2.1", 0, handler);  // A documentation address, not ours.
  ASSERT_FALSE(foreign.ok());
  EXPECT_NE(foreign.error().find("192.0.2.1"), std::string::npos);
  server.start();
}

TEST(Server, WildcardIpv6ServesIpv4AndShowsItAsSuch) {
  TestHandler handler;
  Server server(TestServer::one_thread());
  const auto endpoint = server.listen("::", 0, handler);
  if (!endpoint) GTEST_SKIP() << endpoint.error();
  server.start();
  TestPeer peer(endpoint->port);
  ASSERT_TRUE(peer.send(get("/headers")));
  EXPECT_EQ(peer.answer().body, "127.0.0.1 plain");
}

TEST(Server, SpreadsConnectionsOverItsLoops) {
  Options options;
  options.threads = 2;
  TestServer server(options);
  std::vector<std::unique_ptr<TestPeer>> peers;
  for (int i = 0; i < 64; ++i) {
    peers.push_back(std::make_unique<TestPeer>(server.port));
    ASSERT_TRUE(peers.back()->send(get("/here")));
    EXPECT_EQ(peers.back()->answer().body, "here");
  }
  EXPECT_EQ(server.handler.threads_seen(), 2u);
}

TEST(Server, SeveralListenersShareTheLoops) {
  TestHandler blobs, queues;
  Server server(TestServer::one_thread());
  const auto blob = server.listen("127.0.0.1", 0, blobs);
  const auto queue = server.listen("127.0.0.1", 0, queues);
  ASSERT_TRUE(blob.ok() && queue.ok());
  server.start();
  TestPeer to_blob(blob->port), to_queue(queue->port);
  ASSERT_TRUE(to_blob.send(get("/a")) && to_queue.send(get("/b")));
  EXPECT_EQ(to_blob.answer().body, "a");
  EXPECT_EQ(to_queue.answer().body, "b");
  EXPECT_EQ(blobs.threads_seen(), 1u);
  EXPECT_EQ(queues.threads_seen(), 1u);
}

// A protocol that is not HTTP: sends back each byte, raised by one.
class IncrementProtocol final : public Protocol {
 public:
  Task<void> serve(Connection& connection) override {
    char bytes[64];
    while (true) {
      const Progress progress = connection.read_some(bytes, sizeof bytes);
      if (progress.step == Progress::kWantRead || progress.step == Progress::kWantWrite) {
        const Wake wake =
            co_await connection.wait_idle(progress.step, connection.now_ms() + 60'000);
        if (wake != Wake::kReady) co_return;
        continue;
      }
      if (progress.step != Progress::kMoved) co_return;
      for (size_t i = 0; i < progress.bytes; ++i) ++bytes[i];
      iovec piece{bytes, progress.bytes};
      if (!co_await connection.write_all({&piece, 1})) co_return;
    }
  }
};

TEST(Server, ServesOtherProtocols) {
  IncrementProtocol protocol;
  Server server(TestServer::one_thread());
  const auto endpoint = server.listen("127.0.0.1", 0, protocol);
  ASSERT_TRUE(endpoint.ok());
  server.start();
  TestPeer peer(endpoint->port);
  ASSERT_TRUE(peer.send("HAL"));
  std::string got(3, '\0');
  ASSERT_EQ(recv(peer.descriptor(), got.data(), 3, MSG_WAITALL), 3);
  EXPECT_EQ(got, "IBM");
  server.drain_and_stop(seconds(30));
  EXPECT_TRUE(peer.ended());
}

TEST(ServerStop, FinishesRequestsInFlightAndClosesIdleConnections) {
  TestServer server;
  TestPeer idle(server.port), busy(server.port);
  ASSERT_TRUE(idle.send(get("/a")));
  EXPECT_EQ(idle.answer().body, "a");
  ASSERT_TRUE(busy.send(get("/gate")));
  ASSERT_TRUE(eventually([&] { return server.handler.waiting_at_gate.load(); }));

  std::thread stopper([&] { server.server.drain_and_stop(seconds(60)); });
  EXPECT_TRUE(idle.ended());
  EXPECT_TRUE(eventually([&] { return !TestPeer(server.port).connected(); }));
  server.handler.gate.set(true);
  const Answer answer = busy.answer();
  EXPECT_EQ(answer.body, "gate");
  EXPECT_TRUE(answer.has("Connection: close"));
  EXPECT_TRUE(busy.ended());
  stopper.join();
  EXPECT_EQ(server.server.metrics().connections_open, 0u);
}

TEST(ServerStop, CutsWhatIsLeftAfterTheGrace) {
  TestServer server;
  TestPeer uploading(server.port), downloading(server.port), half_head(server.port);
  ASSERT_TRUE(uploading.send("PUT /count HTTP/1.1\r\nHost: h\r\nContent-Length: 100\r\n\r\nabc"));
  ASSERT_TRUE(downloading.send(get("/counted/1000000000")));
  ASSERT_TRUE(half_head.send("GET / HT"));
  char byte;
  ASSERT_EQ(downloading.receive(&byte, 1), 1);
  ASSERT_TRUE(eventually([&] { return server.server.metrics().requests == 2; }));
  server.server.drain_and_stop(milliseconds(1));
  EXPECT_EQ(server.server.metrics().connections_open, 0u);
  EXPECT_TRUE(uploading.gone());
  EXPECT_TRUE(half_head.gone());
  EXPECT_EQ(downloading.answer().status, 0);
}

// /where says which loop answers, /hang holds it up, /loops asks whether all turn.
class LoopsHandler final : public http::Handler {
 public:
  Task<http::Reply> serve(http::Request& request) override {
    http::Reply reply(200);
    if (request.path == "/hang") {
      hangs.release();
      go_on.acquire();
    }
    if (request.path == "/loops") {
      const bool turn = co_await server->loops_turn(milliseconds(50));
      reply.body = std::string(turn ? "turn" : "hang");
    } else {
      reply.body = std::to_string(reinterpret_cast<uintptr_t>(Executor::current()));
    }
    co_return reply;
  }

  Server* server = nullptr;
  std::binary_semaphore hangs{0};
  std::binary_semaphore go_on{0};
};

TEST(Server, KnowsWhetherEveryLoopTurns) {
  Options options;
  options.threads = 2;
  LoopsHandler handler;
  Server server(options);
  handler.server = &server;
  const auto endpoint = server.listen("127.0.0.1", 0, handler);
  ASSERT_TRUE(endpoint.ok());
  server.start();
  const auto ask = [](TestPeer& peer, std::string_view path) {
    EXPECT_TRUE(peer.send(get(path)));
    return peer.answer().body;
  };
  TestPeer here(endpoint->port);
  auto there = std::make_unique<TestPeer>(endpoint->port);
  while (ask(*there, "/where") == ask(here, "/where"))
    there = std::make_unique<TestPeer>(endpoint->port);
  EXPECT_EQ(ask(here, "/loops"), "turn");
  ASSERT_TRUE(there->send(get("/hang")));
  handler.hangs.acquire();
  const auto round = server.visits().send();
  for (int i = 0; i < 2; ++i) EXPECT_EQ(ask(here, "/loops"), "hang");
  EXPECT_FALSE(server.visits().is_back(round));
  handler.go_on.release();
  EXPECT_TRUE(eventually([&] { return server.visits().is_back(round); }));
  EXPECT_EQ(ask(here, "/loops"), "turn");
  EXPECT_EQ(there->answer().status, 200);
}

TEST(ServerStop, WithoutAStart) {
  TestHandler handler;
  Server server(TestServer::one_thread());
  ASSERT_TRUE(server.listen("127.0.0.1", 0, handler).ok());
  server.drain_and_stop(milliseconds(0));
}

TEST(Server, IdleConnectionsCostLittleMemory) {
  TestServer server;
  rlimit limit{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
  constexpr size_t kReserve = 200;  // Descriptors for everything else.
  const size_t count = std::min<size_t>(5'000, (limit.rlim_cur - kReserve) / 2);
  const auto heap_bytes = [] {
    const struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
  };
  std::vector<std::unique_ptr<TestPeer>> peers(count);
  for (auto& peer : peers) peer = std::make_unique<TestPeer>(server.port);
  ASSERT_TRUE(eventually([&] { return server.server.metrics().connections_open == count; }));
  const size_t before = heap_bytes();
  // Each has served a request when it goes idle.
  for (auto& peer : peers) ASSERT_TRUE(peer->send(get("/x")));
  for (auto& peer : peers) ASSERT_EQ(peer->answer().body, "x");
  const size_t after = heap_bytes();
  peers.clear();
  ASSERT_TRUE(eventually([&] { return server.server.metrics().connections_open == 0; }));
  const size_t without = heap_bytes();
  const size_t each = (after - without) / count;
  RecordProperty("bytes_per_idle_connection", static_cast<int>(each));
  RecordProperty("bytes_kept_after_first_request",
                 static_cast<int>((after - std::min(after, before)) / count));
  if (!kSanitized) {
    EXPECT_GT(each, 200u);  // Else this measures nothing.
    EXPECT_LT(each, 2'500u);
  }
}

}  // namespace
}  // namespace kyanite::net
