// Sessions with several connections.
#include <gtest/gtest.h>

#include "drive/cache_holder.h"
#include "drive/test_support.h"
#include "smb/session.h"

namespace kyanite::drive {
namespace {

using smb::CipherId;
using smb::Command;
using smb::Dialect;
using smb::SigningId;
using smb::Status;

constexpr const char* kData = "\\\\s\\data";

class Channels : public testing::Test {
 protected:
  // A home with a tree, and a connection that is bound to its session.
  void bind() {
    home.come_in();
    ASSERT_EQ(home.connect(kData)->status(), Status::kSuccess);
    ASSERT_TRUE(other.negotiate());
    const auto last = other.bind_to(home);
    ASSERT_TRUE(last);
    ASSERT_EQ(last->status(), Status::kSuccess);
    EXPECT_TRUE(last->signature_right);
    world.loop.run_ready();
  }
  Status echo(TestClient& client) {
    const auto answer = client.ask(Command::kEcho, smb::EchoRequest());
    return answer ? answer->status() : Status::kUnsuccessful;
  }
  Status disconnect(TestClient& client) {
    const auto answer = client.ask(Command::kTreeDisconnect, smb::TreeDisconnectRequest());
    return answer ? answer->status() : Status::kUnsuccessful;
  }
  // Asks for what takes until the gate opens.
  void ask_slowly(TestClient& client, Pending<bool>& gate) {
    world.shares.gate = &gate;
    smb::TreeConnectRequest slow;
    slow.path = "\\\\s\\slow";
    client.give(client.protect({client.message(Command::kTreeConnect, slow)}));
    EXPECT_TRUE(client.connection.busy());
  }
  // Of something that the session has open.
  std::shared_ptr<CacheHolder> holder() {
    const auto made = std::make_shared<CacheHolder>(
        home.connection.mailbox(), name_within("acct", home.guid), home.session_id);
    made->opened({}, false);
    world.loop.run_ready();
    return made;
  }
  TestWorld world;
  TestClient home{world};
  TestClient other{world};
};

TEST_F(Channels, ShareTreesAndSignWithKeysOfTheirOwn) {
  for (const SigningId signing : {SigningId::kGmac, SigningId::kCmac, SigningId::kHmacSha256}) {
    TestClient first(world);
    TestClient second(world);
    const TestOffer offer{.signings = {signing}};
    first.come_in(offer);
    first.connect(kData);
    ASSERT_TRUE(second.negotiate(offer));
    ASSERT_EQ(second.bind_to(first)->status(), Status::kSuccess);
    const auto answer = second.ask(Command::kTreeDisconnect, smb::TreeDisconnectRequest());
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->status(), Status::kSuccess);
    EXPECT_TRUE(answer->signature_right);
    EXPECT_GT(answer->header.credits, 0);
    EXPECT_EQ(disconnect(first), Status::kNetworkNameDeleted);
    EXPECT_EQ(world.drive.sessions.established(), 1u);
    second.end();
    first.end();
    EXPECT_EQ(world.drive.sessions.established(), 0u);
  }
}

TEST_F(Channels, EncryptWithTheKeysOfTheSession) {
  TestClient far(world, "10.0.0.1");
  TestClient further(world, "10.0.0.1");
  far.come_in();
  ASSERT_TRUE(further.negotiate());
  const auto last = further.bind_to(far);
  ASSERT_EQ(last->status(), Status::kSuccess);
  EXPECT_EQ(last->body<smb::SessionSetupReply>().flags, smb::session_flag::kEncryptData);
  EXPECT_EQ(echo(further), Status::kAccessDenied);
  further.sealed = true;
  EXPECT_EQ(echo(further), Status::kSuccess);
  EXPECT_EQ(echo(far), Status::kSuccess);
  further.end();
}

// What the session does not demand on this machine may be demanded of a connection from elsewhere.
TEST_F(Channels, FromElsewhereAreRefusedByASessionThatDoesNotEncrypt) {
  home.come_in();
  TestClient far(world, "10.0.0.1");
  ASSERT_TRUE(far.negotiate());
  const auto refused = far.bind_to(home);
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->status(), Status::kAccessDenied);
  EXPECT_TRUE(refused->signature_right);
  EXPECT_FALSE(far.connection.authenticated());
  EXPECT_EQ(disconnect(far), Status::kUserSessionDeleted) << "it is no channel";
  EXPECT_EQ(echo(home), Status::kSuccess);
  far.end();
}

TEST_F(Channels, MustSpeakAlike) {
  const TestOffer gmac{.signings = {SigningId::kGmac}};
  const TestOffer cmac{.signings = {SigningId::kCmac}};
  const TestOffer hmac{.signings = {SigningId::kHmacSha256}};
  const TestOffer smb302{.dialects = {Dialect::kSmb302}};
  const TestOffer smb21{.dialects = {Dialect::kSmb210}};
  const TestOffer ccm{.ciphers = {CipherId::kCcm128}, .signings = {SigningId::kCmac}};
  const struct {
    const TestOffer& first;
    const TestOffer& second;
    Status status;
  } kCases[] = {
      {cmac, hmac, Status::kSuccess},
      {hmac, cmac, Status::kSuccess},
      {gmac, cmac, Status::kRequestOutOfSequence},
      {gmac, hmac, Status::kRequestOutOfSequence},
      {gmac, smb21, Status::kRequestOutOfSequence},
      {cmac, gmac, Status::kNotSupported},
      {smb21, gmac, Status::kNotSupported},
      {smb302, gmac, Status::kNotSupported},
      {cmac, smb21, Status::kRequestNotAccepted},
      {smb21, smb21, Status::kRequestNotAccepted},
      {smb21, cmac, Status::kInvalidParameter},
      {smb302, cmac, Status::kInvalidParameter},
      {cmac, ccm, Status::kInvalidParameter},
  };
  for (const auto& each : kCases) {
    TestClient first(world);
    TestClient second(world);
    first.come_in(each.first);
    ASSERT_TRUE(second.negotiate(each.second));
    const auto last = second.bind_to(first);
    ASSERT_TRUE(last);
    EXPECT_EQ(last->status(), each.status);
    EXPECT_TRUE(last->signature_right) << smb::name(each.status);
    EXPECT_EQ(echo(first), Status::kSuccess);
    second.end();
  }
}

TEST_F(Channels, OfHowManySessionsOneMayBeIsLimited) {
  std::vector<std::unique_ptr<TestClient>> homes;
  ASSERT_TRUE(other.negotiate());
  for (size_t i = 0; i <= kMaxSessions; ++i) {
    homes.push_back(std::make_unique<TestClient>(world));
    homes.back()->come_in();
    const bool full = i == kMaxSessions;
    ASSERT_EQ(other.bind_to(*homes.back())->status(),
              full ? Status::kInsufficientResources : Status::kSuccess)
        << i;
  }
  other.end();
  for (auto& each : homes) each->end();
}

// A connection that is over keeps its place in the server for a session that others need.
TEST_F(Channels, KeepNotTooManyDeadConnections) {
  bind();
  std::vector<Places::Place> taken;
  for (const char* peer : {"10.0.0.1", "10.0.0.2", "127.0.0.1"}) {
    for (const char* account : {"one", "two", "acct"}) {
      while (auto place = world.drive.lonely_homes.take(account, peer))
        taken.push_back(std::move(place));
    }
  }
  const size_t before = world.drive.lonely_homes.taken();
  home.end();
  world.loop.run_ready();
  EXPECT_EQ(world.drive.sessions.established(), 0u);
  EXPECT_EQ(disconnect(other), Status::kUserSessionDeleted);
  EXPECT_EQ(world.drive.lonely_homes.taken(), before);
}

TEST_F(Channels, OfOneAccountLeaveDeadConnectionsToOthers) {
  std::vector<Places::Place> taken;
  for (const char* peer : {"10.0.0.1", "10.0.0.2"}) {
    while (auto place = world.drive.lonely_homes.take("another", peer))
      taken.push_back(std::move(place));
  }
  bind();
  bool over = false;
  const auto end = [](Connection& connection, bool& out) -> Detached {
    co_await connection.end(false);
    out = true;
  };
  end(home.connection, over);
  world.loop.run_ready();
  EXPECT_FALSE(over);
  EXPECT_EQ(disconnect(other), Status::kSuccess);
  other.end();
  world.loop.run_ready();
  EXPECT_TRUE(over);
  EXPECT_EQ(world.drive.sessions.established(), 0u);
}

TEST_F(Channels, MustBeSignedByTheSession) {
  home.come_in();
  ASSERT_TRUE(other.negotiate());
  other.signs = false;
  EXPECT_EQ(other.bind_to(home)->status(), Status::kInvalidParameter);
  other.signs = true;
  home.keys.signing = smb::SecretKey(std::string(16, 'x'));
  EXPECT_EQ(other.bind_to(home)->status(), Status::kAccessDenied);
  // Without the flag it is an unknown session, whoever signs.
  EXPECT_EQ(other.set_up("x")->status(), Status::kUserSessionDeleted);
  EXPECT_EQ(echo(home), Status::kSuccess);
}

TEST_F(Channels, MustBeOfTheSameUser) {
  home.come_in();
  ASSERT_TRUE(other.negotiate());
  other.ntlm.password = "wrong";
  EXPECT_EQ(other.bind_to(home)->status(), Status::kLogonFailure);
  other.ntlm = {};
  other.ntlm.user = "other";
  other.ntlm.password = "Other!";
  EXPECT_EQ(other.bind_to(home)->status(), Status::kAccessDenied);
  EXPECT_EQ(world.drive.brake.failures(), 2u);
  EXPECT_FALSE(other.connection.authenticated());
  EXPECT_EQ(echo(home), Status::kSuccess);
}

TEST_F(Channels, AreBoundOnce) {
  bind();
  std::optional<smb::Signer> own = std::move(other.signer);
  EXPECT_EQ(other.bind_to(home)->status(), Status::kAccessDenied);  // By the session's key.
  other.signs = false;
  EXPECT_EQ(other.set_up("x")->status(), Status::kAccessDenied);
  other.signs = true;
  other.signer = std::move(own);
  EXPECT_EQ(other.set_up("x", smb::session_flag::kBinding)->status(), Status::kRequestNotAccepted);
  EXPECT_EQ(home.set_up("x", smb::session_flag::kBinding)->status(), Status::kRequestNotAccepted);
  EXPECT_EQ(echo(other), Status::kSuccess);
}

TEST_F(Channels, LogoffOnOneEndsTheSessionOnAll) {
  bind();
  const auto answer = other.ask(Command::kLogoff, smb::LogoffRequest());
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status(), Status::kSuccess);
  EXPECT_TRUE(answer->signature_right);
  EXPECT_EQ(world.drive.sessions.established(), 0u);
  EXPECT_FALSE(other.connection.authenticated());
  EXPECT_EQ(home.connect(kData)->status(), Status::kUserSessionDeleted);
  EXPECT_EQ(other.connect(kData)->status(), Status::kUserSessionDeleted);
}

TEST_F(Channels, BreaksThatDoNotArriveAreSentByAnotherWay) {
  bind();
  const auto told = holder();
  tree::CacheBreak broken;
  broken.acknowledge = true;
  told->caching_breaks(broken);
  world.loop.run_ready();
  EXPECT_EQ(home.take().size(), 1u);
  const auto remind = [&](size_t reminder) {
    broken.reminder = reminder;
    told->caching_breaks(broken);
    world.loop.run_ready();
    return std::pair(home.take().size(), other.take().size());
  };
  EXPECT_EQ(remind(1), std::pair(size_t{0}, size_t{0})) << "it arrived: the client takes its time";
  home.carrier.arrived = false;
  EXPECT_EQ(remind(1), std::pair(size_t{0}, size_t{1}));
  EXPECT_EQ(remind(2), std::pair(size_t{0}, size_t{0})) << "there are no more";
  EXPECT_FALSE(home.carrier.is_cut);
  remind(kMaxReminders);
  EXPECT_TRUE(home.carrier.is_cut);
  EXPECT_FALSE(other.carrier.is_cut) << "everything arrived there";
}

TEST_F(Channels, LeaseBreaksGoToTheFirstConnectionOfTheClient) {
  home.come_in();
  TestClient second(world);
  second.come_in();
  const auto told = std::make_shared<CacheHolder>(
      second.connection.mailbox(), name_within("acct", second.guid), second.session_id);
  told->opened({}, false);
  world.loop.run_ready();
  tree::CacheBreak broken;
  broken.lease.emplace();
  told->caching_breaks(broken);
  world.loop.run_ready();
  EXPECT_EQ(home.take().size(), 1u);
  EXPECT_EQ(second.take().size(), 0u);
  broken.lease.reset();
  told->caching_breaks(broken);
  world.loop.run_ready();
  EXPECT_EQ(second.take().size(), 1u) << "an oplock is its session's";
}

TEST_F(Channels, SessionOutlivesTheConnectionItWasMadeOn) {
  bind();
  bool over = false;
  const auto end = [](Connection& connection, bool& out) -> Detached {
    co_await connection.end(false);
    out = true;
  };
  end(home.connection, over);
  world.loop.run_ready();
  EXPECT_FALSE(over);
  EXPECT_EQ(echo(other), Status::kSuccess);
  // Breaks find the way that is left.
  holder()->caching_breaks({});
  world.loop.run_ready();
  EXPECT_EQ(other.take().at(0).header.message_id, smb::kUnsolicited);
  EXPECT_EQ(disconnect(other), Status::kSuccess);
  other.end();
  world.loop.run_ready();
  EXPECT_TRUE(over);
  EXPECT_EQ(world.drive.sessions.established(), 0u);
}

// Nobody would end it there.
TEST_F(Channels, NoSessionBeginsOnAConnectionThatHasEnded) {
  bind();
  bool over = false;
  const auto end = [](Connection& connection, bool& out) -> Detached {
    co_await connection.end(false);
    out = true;
  };
  end(home.connection, over);
  world.loop.run_ready();
  const std::string token = home.ntlm.initial_token(home.ntlm.negotiate());
  smb::SessionSetupRequest logon;
  logon.security_mode = smb::security_mode::kSigningEnabled;
  logon.token = token;
  std::vector<std::string> messages = {other.message(Command::kEcho, smb::EchoRequest())};
  const uint64_t session = std::exchange(other.session_id, 0);
  messages.push_back(other.message(Command::kSessionSetup, logon));
  other.session_id = session;
  other.asked_credits = 5;
  const auto answers = other.converse(other.protect(std::move(messages)));
  ASSERT_EQ(answers.size(), 2u);
  EXPECT_EQ(answers[0].status(), Status::kSuccess);
  EXPECT_EQ(answers[1].status(), Status::kInsufficientResources);
  other.end();
  world.loop.run_ready();
  EXPECT_TRUE(over);
}

// Whoever logs on is judged by the connection that is asked, and this is served by another.
TEST_F(Channels, NoSessionBeginsByWayOfAFurtherConnection) {
  bind();
  const std::string token = home.ntlm.initial_token(home.ntlm.negotiate());
  smb::SessionSetupRequest logon;
  logon.security_mode = smb::security_mode::kSigningEnabled;
  logon.token = token;
  std::vector<std::string> messages = {other.message(Command::kEcho, smb::EchoRequest())};
  const uint64_t session = std::exchange(other.session_id, 0);
  messages.push_back(other.message(Command::kSessionSetup, logon));
  other.session_id = session;
  const auto answers = other.converse(other.protect(std::move(messages)));
  ASSERT_EQ(answers.size(), 2u);
  EXPECT_EQ(answers[0].status(), Status::kSuccess);
  EXPECT_EQ(answers[1].status(), Status::kInsufficientResources);
  EXPECT_EQ(echo(home), Status::kSuccess);
}

TEST_F(Channels, WhoNegotiatesAgainEndsItsOwnConnection) {
  bind();
  smb::NegotiateRequest again;
  again.dialects = {Dialect::kSmb302};
  other.give(other.protect({other.message(Command::kNegotiate, again)}));
  world.loop.run_ready();
  EXPECT_TRUE(other.carrier.is_cut);
  EXPECT_FALSE(home.carrier.is_cut);
  EXPECT_EQ(echo(home), Status::kSuccess);
}

// It is the connection that asks which would be bound, and this is served by another.
TEST_F(Channels, NothingIsBoundByWayOfAFurtherConnection) {
  bind();
  TestClient third{world};
  third.come_in();
  const std::string token = other.ntlm.initial_token(other.ntlm.negotiate());
  smb::SessionSetupRequest binding;
  binding.flags = smb::session_flag::kBinding;
  binding.security_mode = smb::security_mode::kSigningEnabled;
  binding.token = token;
  std::vector<std::string> messages = {other.message(Command::kEcho, smb::EchoRequest())};
  const uint64_t session = std::exchange(other.session_id, third.session_id);
  messages.push_back(other.message(Command::kSessionSetup, binding, smb::header_flag::kSigned));
  other.session_id = session;
  other.asked_credits = 5;
  smb::link_chain(messages);
  other.signer->sign(messages[0]);
  third.signer->sign(messages[1]);
  const auto answers = other.converse(messages[0] + messages[1]);
  ASSERT_EQ(answers.size(), 2u);
  EXPECT_EQ(answers[0].status(), Status::kSuccess);
  EXPECT_EQ(answers[1].status(), Status::kRequestNotAccepted);
}

TEST_F(Channels, FurtherOnesComeAndGo) {
  bind();
  other.end();
  world.loop.run_ready();
  EXPECT_EQ(echo(home), Status::kSuccess);
  std::vector<std::unique_ptr<TestClient>> many;
  for (size_t i = 1; i < kMaxChannels; ++i) {
    many.push_back(std::make_unique<TestClient>(world));
    ASSERT_TRUE(many.back()->negotiate());
    ASSERT_EQ(many.back()->bind_to(home)->status(), Status::kSuccess);
    world.loop.run_ready();
    EXPECT_EQ(echo(*many.back()), Status::kSuccess);
  }
  TestClient one_more(world);
  ASSERT_TRUE(one_more.negotiate());
  const auto refused = one_more.bind_to(home);
  EXPECT_EQ(refused->status(), Status::kInsufficientResources);
  EXPECT_TRUE(refused->signature_right);
  EXPECT_FALSE(one_more.connection.authenticated());
  many.pop_back();
  EXPECT_EQ(one_more.bind_to(home)->status(), Status::kSuccess);
}

TEST_F(Channels, AreServedBesideEachOther) {
  bind();
  Pending<bool> gate;
  ask_slowly(other, gate);
  EXPECT_EQ(echo(other), Status::kSuccess);
  EXPECT_EQ(echo(home), Status::kSuccess);
  gate.set(true);
  world.loop.run_ready();
  const auto answer = other.take();
  ASSERT_EQ(answer.size(), 1u);
  EXPECT_EQ(answer[0].status(), Status::kSuccess);
  EXPECT_FALSE(other.connection.busy());
}

TEST_F(Channels, EndWhileSomethingIsServedAtHome) {
  bind();
  Pending<bool> gate;
  ask_slowly(other, gate);
  other.end();
  world.loop.run_ready();
  gate.set(true);
  world.loop.run_ready();
  EXPECT_EQ(echo(home), Status::kSuccess);
  EXPECT_EQ(world.drive.metrics.trees, 1u);  // The one that came too late is not there.
}

}  // namespace
}  // namespace kyanite::drive
