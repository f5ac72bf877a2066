// Frames on real sockets.
#include "drive/serve.h"

#include <gtest/gtest.h>

#include "drive/test_support.h"
#include "net/test_peer.h"
#include "smb/create.h"
#include "smb/file_io.h"
#include "smb/session.h"

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
  static std::optional<std::string> next_frame(TestPeer& peer) {
    std::array<char, smb::kPrefixBytes> prefix{};
    if (!fill(peer, prefix.data(), prefix.size())) return {};
    std::string message(smb::read_prefix(prefix, smb::kMaxFrameBytes).bytes, '\0');
    if (!fill(peer, message.data(), message.size())) return {};
    return message;
  }
  // The next message; nothing at the end.
  static std::optional<smb::Header> answer(TestPeer& peer) {
    const auto message = next_frame(peer);
    if (!message) return {};
    smb::Header header;
    smb::Reader reader(*message);
    reader(header);
    return header;
  }
  // Somebody who has logged on.
  struct Client final : ClientSide {
    explicit Client(uint16_t port) : peer(port) { come_in(); }
    std::vector<Received> converse(std::string_view bytes) override {
      if (!peer.send(frame(bytes))) return {};
      auto came = next_frame(peer);
      return came ? take_apart(std::move(*came)) : std::vector<Received>();
    }
    bool echoes() { return ask(Command::kEcho, smb::EchoRequest()).has_value(); }
    TestPeer peer;
  };
  // A further connection of a session.
  struct Further final : ClientSide {
    Further(uint16_t port, const ClientSide& home) : peer(port) {
      const auto last = negotiate() ? bind_to(home) : std::nullopt;
      CHECK(last && last->status() == Status::kSuccess);
    }
    std::vector<Received> converse(std::string_view bytes) override {
      if (!peer.send(frame(bytes))) return {};
      auto came = next_frame(peer);
      return came ? take_apart(std::move(*came)) : std::vector<Received>();
    }
    TestPeer peer;
  };
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

TEST_F(SmbServer, WhoHasNothingOpenAndSaysNothingIsClosed) {
  start({.idle = std::chrono::milliseconds(400)});
  Client open(port);
  ASSERT_EQ(open.connect("\\\\s\\data")->status(), Status::kSuccess);
  smb::CreateRequest request;
  request.desired_access = smb::kGenericAllMeans;
  request.share_access = 7;
  request.disposition = smb::Disposition::kOpen;
  ASSERT_EQ(open.ask(Command::kCreate, request)->status(), Status::kSuccess);
  Client idle(port);
  EXPECT_TRUE(idle.echoes());
  EXPECT_TRUE(idle.peer.gone());
  EXPECT_TRUE(open.echoes()) << "it has said nothing for longer";
}

// It lives on for the other one, but its peer has to know that nobody listens there any more.
TEST_F(SmbServer, WhoseSessionHasAFurtherConnectionLearnsThatItsOwnHasEnded) {
  start();
  Client home(port);
  Further other(port, home);
  ASSERT_TRUE(home.peer.send("no prefix of a frame"));
  EXPECT_TRUE(home.peer.gone());
  EXPECT_EQ(other.connect("\\\\s\\data")->status(), Status::kSuccess);
  other.peer.disconnect();
  EXPECT_TRUE(eventually([&] { return drive.metrics.connections == 0; }));
}

TEST_F(SmbServer, WhoseSessionIsUsedByAFurtherConnectionIsNotIdle) {
  start({.idle = std::chrono::milliseconds(400)});
  Client home(port);
  Further other(port, home);
  Client idle(port);
  EXPECT_TRUE(idle.echoes());
  EXPECT_TRUE(idle.peer.gone()) << "as much time has passed for the other two";
  EXPECT_TRUE(home.echoes());
  EXPECT_TRUE(other.ask(Command::kEcho, smb::EchoRequest()));
}

TEST_F(SmbServer, AfterLoggingOffThereIsTimeToLogOnAgain) {
  start({.logon = std::chrono::milliseconds(1000)});
  Client client(port);
  TestPeer silent(port);
  EXPECT_TRUE(silent.gone()) << "as much time has passed for the client";
  EXPECT_EQ(client.ask(Command::kLogoff, smb::LogoffRequest())->status(), Status::kSuccess);
  client.established = false;
  EXPECT_EQ(client.log_on()->status(), Status::kSuccess);
}

// Wherever in memory it is put: data that is where most clients have it, and elsewhere; of whole
// pages, and not.
TEST_F(SmbServer, LargeWritesArriveWhole) {
  start();
  for (const auto encryption : {Encryption::kOff, Encryption::kRequired}) {
    shares.account_rules.encryption = encryption;
    Client client(port);
    client.asked_credits = 512;
    ASSERT_EQ(client.connect("\\\\s\\data")->status(), Status::kSuccess);
    client.charge = 16;
    smb::CreateRequest create;
    create.name = "f";
    create.desired_access = smb::kGenericAllMeans;
    create.disposition = smb::Disposition::kOverwriteIf;
    const auto opened = client.ask(Command::kCreate, create);
    ASSERT_EQ(opened->status(), Status::kSuccess);
    for (const size_t size : {65 * 1024, 256 * 1024, 300 * 1024 + 1, 1024 * 1024}) {
      std::string bytes(size, '\0');
      for (size_t i = 0; i < size; ++i) bytes[i] = static_cast<char>(i * 131 / 4096 + i);
      smb::WriteRequest write;
      write.file = opened->body<smb::CreateReply>().file;
      write.data = bytes;
      for (const size_t shift : {0, 8}) {
        std::string message = client.message(Command::kWrite, write);
        message.insert(smb::WriteRequest::kDataOffset, shift, '\0');
        message[smb::kHeaderBytes + 2] = static_cast<char>(smb::WriteRequest::kDataOffset + shift);
        const auto written = client.converse(client.protect({message}));
        ASSERT_EQ(written.at(0).status(), Status::kSuccess) << size;
        smb::ReadRequest read;
        read.file = write.file;
        read.length = static_cast<uint32_t>(size);
        const auto back = client.ask(Command::kRead, read);
        ASSERT_EQ(back->status(), Status::kSuccess);
        EXPECT_TRUE(back->bytes.substr(back->bytes.size() - size) == bytes) << size << ' ' << shift;
      }
    }
  }
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
