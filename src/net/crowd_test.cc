// A server that is full: who is let in, who yields, who is refused.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <memory>
#include <string>
#include <vector>

#include "net/server.h"
#include "net/test_peer.h"

namespace kyanite::net {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;

Options at_most(size_t connections, int threads = 1) {
  Options options;
  options.threads = threads;
  options.max_connections = connections;
  options.timeouts.stall = hours(1);
  return options;
}

using PeerPtr = std::unique_ptr<TestPeer>;

PeerPtr connect(const TestServer& server, const char* from = "127.0.0.1") {
  return std::make_unique<TestPeer>(server.port, nullptr, from);
}

// Served once, it rests afterwards.
PeerPtr rested(const TestServer& server, const char* from = "127.0.0.1") {
  auto peer = connect(server, from);
  EXPECT_TRUE(peer->send(get("/in")));
  EXPECT_EQ(peer->answer().body, "in");
  return peer;
}

// In the middle of a request, of which the server has the head.
PeerPtr busy(TestServer& server, const char* from = "127.0.0.1") {
  const uint64_t before = server.server.metrics().requests;
  auto peer = connect(server, from);
  EXPECT_TRUE(peer->send("PUT /count HTTP/1.1\r\nHost: h\r\nContent-Length: 9\r\n\r\n"));
  EXPECT_TRUE(eventually([&] { return server.server.metrics().requests == before + 1; }));
  return peer;
}

bool is_served(TestPeer& peer) { return peer.send(get("/still")) && peer.answer().body == "still"; }

TEST(Crowd, TheLongestAtRestOfTheGreediestYields) {
  TestServer server(at_most(4));
  const auto other = rested(server, "127.0.0.2");
  const auto first = rested(server);
  const auto second = rested(server);
  const auto third = rested(server);
  ASSERT_TRUE(is_served(*first));  // Now the second has rested longest.
  const auto newcomer = rested(server, "127.0.0.3");
  EXPECT_TRUE(second->ended());
  for (const auto* each : {&other, &first, &third, &newcomer}) EXPECT_TRUE(is_served(**each));
  EXPECT_EQ(server.server.metrics().connections_yielded, 1u);
  EXPECT_EQ(server.server.metrics().connections_refused, 0u);
  EXPECT_EQ(server.server.metrics().connections_open, 4u);
}

TEST(Crowd, APeerYieldsToItselfToo) {
  TestServer server(at_most(2));
  const auto first = rested(server);
  const auto second = rested(server);
  const auto third = rested(server);
  EXPECT_TRUE(first->ended());
  EXPECT_TRUE(is_served(*second));
}

TEST(Crowd, WhoSendsHalfARequestRestsAsWell) {
  TestServer server(at_most(1));
  const auto half = connect(server);
  ASSERT_TRUE(half->send("GET /in HT"));
  ASSERT_TRUE(eventually([&] { return server.server.metrics().bytes_in == 10; }));
  rested(server, "127.0.0.2");
  EXPECT_TRUE(half->gone());
}

TEST(Crowd, RefusesWhereNobodyRests) {
  TestServer server(at_most(2));
  auto first = busy(server);
  const auto second = busy(server);
  const auto refused = connect(server);
  const Answer answer = refused->answer();
  EXPECT_EQ(answer.status, 503);
  EXPECT_TRUE(answer.has("Retry-After: 1"));
  EXPECT_TRUE(refused->ended());
  EXPECT_EQ(server.server.metrics().connections_refused, 1u);
  EXPECT_EQ(server.server.metrics().connections_limit, 2u);

  first.reset();
  ASSERT_TRUE(eventually([&] { return server.server.metrics().connections_open == 1; }));
  rested(server);
  ASSERT_TRUE(second->send("matching "));
  EXPECT_NE(second->answer().body.find("9 "), std::string::npos);
}

TEST(Crowd, OthersOfFewDoNotYieldToOneOfMany) {
  TestServer server(at_most(3));
  const auto other = rested(server, "127.0.0.2");
  const auto first = busy(server);
  const auto second = busy(server);
  EXPECT_EQ(connect(server)->answer().status, 503);
  EXPECT_TRUE(is_served(*other));
}

TEST(Crowd, ARequestThatStallsYieldsToOthers) {
  Options options = at_most(4);
  options.timeouts.stall = milliseconds(0);
  TestServer server(options);
  std::vector<PeerPtr> stalled;
  for (int i = 0; i < 4; ++i) stalled.push_back(busy(server));
  EXPECT_EQ(connect(server)->answer().status, 503);  // They need not yield to themselves.
  ASSERT_TRUE(eventually([&] {
    const auto newcomer = connect(server, "127.0.0.2");
    return newcomer->send(get("/in")) && newcomer->answer().body == "in";
  }));
  EXPECT_EQ(server.server.metrics().connections_yielded, 1u);
  EXPECT_TRUE(eventually([&] { return server.handler.disconnects == 1; }));
}

// Who has most of the places leaves some to others, though nobody rests.
TEST(Crowd, TheLastPlacesAreForOthers) {
  TestServer server(at_most(32));
  std::vector<PeerPtr> many;
  for (int i = 0; i < 30; ++i) many.push_back(busy(server));
  EXPECT_EQ(connect(server)->answer().status, 503);
  const auto first = busy(server, "127.0.0.2");
  const auto second = busy(server, "127.0.0.2");
  EXPECT_EQ(connect(server, "127.0.0.2")->answer().status, 503);
  EXPECT_EQ(server.server.metrics().connections_open, 32u);
}

TEST(Crowd, PlacesOnOtherLoopsYieldAsWell) {
  TestServer server(at_most(8, 3));
  std::vector<PeerPtr> resting;
  for (int i = 0; i < 8; ++i) resting.push_back(rested(server));
  for (int i = 0; i < 40; ++i) rested(server, "127.0.0.2");
  EXPECT_EQ(server.server.metrics().connections_refused, 0u);
}

TEST(Crowd, AListenerWithAnAllowanceOfItsOwnIsNeverFullOfOthers) {
  TestHandler many, admin;
  Server server(at_most(1));
  const auto crowded = server.listen("127.0.0.1", 0, many);
  const auto apart = server.listen("127.0.0.1", 0, admin, nullptr, 2);
  ASSERT_TRUE(crowded.ok() && apart.ok());
  server.start();
  const std::string half = "PUT /count HTTP/1.1\r\nHost: h\r\nContent-Length: 9\r\n\r\n";
  TestPeer first(crowded->port);
  ASSERT_TRUE(first.send(half));
  ASSERT_TRUE(eventually([&] { return server.metrics().requests == 1; }));
  EXPECT_EQ(TestPeer(crowded->port).answer().status, 503);

  std::vector<PeerPtr> apart_peers;
  for (uint64_t i = 2; i <= 3; ++i) {
    apart_peers.push_back(std::make_unique<TestPeer>(apart->port));
    ASSERT_TRUE(apart_peers.back()->send(half));
    ASSERT_TRUE(eventually([&] { return server.metrics().requests == i; }));
  }
  EXPECT_EQ(TestPeer(apart->port).answer().status, 503);
  apart_peers.pop_back();
  ASSERT_TRUE(eventually([&] { return server.metrics().connections_open == 2; }));
  TestPeer health(apart->port);
  ASSERT_TRUE(health.send(get("/healthz")));
  EXPECT_EQ(health.answer().body, "healthz");
}

// Lowers the limit of descriptors to what is in use.
class NoDescriptors {
 public:
  NoDescriptors() {
    EXPECT_EQ(getrlimit(RLIMIT_NOFILE, &before_), 0);
    const Descriptor next(dup(0));
    rlimit none = before_;
    none.rlim_cur = static_cast<rlim_t>(next.number());
    EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  }
  ~NoDescriptors() { setrlimit(RLIMIT_NOFILE, &before_); }
  NoDescriptors(const NoDescriptors&) = delete;
  NoDescriptors& operator=(const NoDescriptors&) = delete;

 private:
  rlimit before_{};
};

TEST(Crowd, WithoutDescriptorsThoseAtRestYield) {
  TestServer server(at_most(100));
  const auto resting = rested(server);
  Descriptor spare(dup(0));
  const NoDescriptors none;
  spare = Descriptor();  // For the newcomer's own end.
  const auto newcomer = connect(server);
  ASSERT_TRUE(newcomer->send(get("/in")));
  EXPECT_EQ(newcomer->answer().body, "in");
  EXPECT_TRUE(resting->ended());
}

}  // namespace
}  // namespace kyanite::net
