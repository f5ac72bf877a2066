// Frames on real sockets.
#include "drive/serve.h"

#include <gtest/gtest.h>

#include "drive/test_support.h"
#include "net/test_peer.h"

namespace kyanite::drive {
namespace {

using net::eventually;
using net::TestPeer;
using smb::Command;
using smb::Status;

class SmbServer : public testing::Test {
 protected:
  void start(SmbProtocol::Times times = {}, size_t most_connections = 100) {
    protocol.emplace(drive, times);
    net::Options options = net::TestServer::one_thread();
    options.max_connections = most_connections;
    server.emplace(options);
    port = server->listen("127.0.0.1", 0, *protocol)->port;
    server->start();
  }

  static std::string frame(std::string_view message) {
    const auto prefix = smb::make_prefix(message.size());
    return std::string(prefix.data(), prefix.size()).append(message);
  }
  // A NEGOTIATE of 2.1.
  static std::string negotiate() {
    smb::NegotiateRequest request;
    request.dialects = {smb::Dialect::kSmb210};
    smb::Header header;
    header.credits = 100;
    return frame(smb::encode(header, request));
  }
  static std::string echo(uint64_t id) {
    smb::Header header;
    header.command = Command::kEcho;
    header.message_id = id;
    header.credits = 100;
    return frame(smb::encode(header, smb::EchoRequest()));
  }
  // The next message; nothing at the end.
  static std::optional<smb::Header> answer(TestPeer& peer) {
    std::array<char, smb::kPrefixBytes> prefix{};
    if (!fill(peer, prefix.data(), prefix.size())) return {};
    std::string message(smb::read_prefix(prefix, smb::kMaxFrameBytes).bytes, '\0');
    if (!fill(peer, message.data(), message.size())) return {};
    smb::Header header;
    smb::Reader reader(message);
    reader(header);
    return header;
  }
  static bool fill(TestPeer& peer, char* to, size_t bytes) {
    while (bytes > 0) {
      const ssize_t got = peer.receive(to, bytes);
      if (got <= 0) return false;
      to += got;
      bytes -= static_cast<size_t>(got);
    }
    return true;
  }

  store::MemoryStore store;
  store::KeyedLocks locks;
  Workers workers{1};
  SystemClock clock;
  TestShares shares;
  Drive drive{store, locks, workers, clock, shares};
  std::optional<SmbProtocol> protocol;
  std::optional<net::Server> server;
  uint16_t port = 0;
};

TEST_F(SmbServer, FramesComeInAnyPieces) {
  start();
  TestPeer peer(port);
  const std::string keep_alive("\x85\0\0\0", 4);
  for (const char byte : keep_alive + negotiate()) ASSERT_TRUE(peer.send({&byte, 1}));
  const auto first = answer(peer);
  ASSERT_TRUE(first);
  EXPECT_EQ(first->status, Status::kSuccess);
  ASSERT_TRUE(peer.send(echo(1)));
  ASSERT_TRUE(answer(peer));
  std::string many;
  for (uint64_t id = 2; id < 102; ++id) many += echo(id);
  ASSERT_TRUE(peer.send(many));
  for (uint64_t id = 2; id < 102; ++id) {
    const auto next = answer(peer);
    ASSERT_TRUE(next);
    EXPECT_EQ(next->message_id, id);
  }
  EXPECT_EQ(drive.metrics.connections, 1u);
  peer.disconnect();
  EXPECT_TRUE(eventually([&] { return drive.metrics.connections == 0; }));
}

TEST_F(SmbServer, LongFramesBeforeLogonEndTheConnection) {
  start();
  TestPeer peer(port);
  const auto prefix = smb::make_prefix(kMaxUnauthenticatedFrameBytes + 1);
  ASSERT_TRUE(peer.send({prefix.data(), prefix.size()}));
  EXPECT_TRUE(peer.gone());
  TestPeer http(port);
  ASSERT_TRUE(http.send(net::get("/")));
  EXPECT_TRUE(http.gone());
}

TEST_F(SmbServer, WhoDoesNotLogOnInTimeIsClosed) {
  start({.logon = std::chrono::milliseconds(50)});
  TestPeer silent(port);
  EXPECT_TRUE(silent.gone());
  TestPeer half(port);
  ASSERT_TRUE(half.send(negotiate().substr(0, 20)));
  EXPECT_TRUE(half.gone());
  TestPeer busy(port);
  busy.send(negotiate());
  EXPECT_TRUE(answer(busy));
  EXPECT_FALSE(answer(busy));
}

TEST_F(SmbServer, StoppingEndsIdleConnections) {
  start();
  TestPeer peer(port);
  ASSERT_TRUE(peer.send(negotiate()));
  ASSERT_TRUE(answer(peer));
  server->drain_and_stop(std::chrono::seconds(10));
  EXPECT_TRUE(peer.ended());
  EXPECT_EQ(drive.metrics.connections, 0u);
}

TEST_F(SmbServer, OneTooManyIsClosedWithoutAWordOfHttp) {
  start({}, 0);
  TestPeer peer(port);
  EXPECT_TRUE(peer.ended());
}

}  // namespace
}  // namespace kyanite::drive
