// NEGOTIATE, SESSION_SETUP and LOGOFF as a client sees them.
#include <gtest/gtest.h>

#include "base/bytes.h"
#include "drive/test_support.h"
#include "smb/ioctl.h"
#include "smb/session.h"

namespace kyanite::drive {
namespace {

using smb::CipherId;
using smb::Command;
using smb::Dialect;
using smb::SigningId;
using smb::Status;

class SmbLogon : public testing::Test {
 protected:
  std::optional<Received> echo(TestClient& one) {
    return one.ask(Command::kEcho, smb::EchoRequest());
  }
  TestWorld world;
  TestClient client{world};
};

TEST_F(SmbLogon, LatestCommonDialectIsSpoken) {
  const struct {
    std::vector<Dialect> offered;
    Dialect spoken;
    uint32_t capabilities;
  } kCases[] = {
      {{Dialect::kSmb202, Dialect::kSmb210}, Dialect::kSmb210, 0x06},
      {{Dialect::kSmb300, Dialect::kSmb210}, Dialect::kSmb300, 0x4E},
      {{Dialect::kSmb210, Dialect::kSmb302, Dialect::kSmb300}, Dialect::kSmb302, 0x4E},
      {{Dialect::kSmb311, Dialect::kSmb302}, Dialect::kSmb311, 0x0E},
  };
  for (const auto& each : kCases) {
    TestClient one(world);
    const auto answer = one.negotiate({.dialects = each.offered});
    ASSERT_TRUE(answer);
    ASSERT_EQ(answer->status(), Status::kSuccess);
    const auto reply = answer->body<smb::NegotiateReply>();
    EXPECT_EQ(reply.dialect, each.spoken);
    EXPECT_EQ(reply.capabilities, each.capabilities);
    EXPECT_EQ(reply.security_mode, 3);
    EXPECT_EQ(reply.max_read, 8u * 1024 * 1024);
    EXPECT_EQ(reply.max_write, 8u * 1024 * 1024);
    EXPECT_EQ(reply.max_transact, 8u * 1024 * 1024);
    EXPECT_EQ(reply.server, world.drive.guid);
    EXPECT_EQ(reply.token, auth::logon_hint());
    EXPECT_EQ(answer->header.credits, 1);
  }
}

TEST_F(SmbLogon, NoCommonDialectIsNotSupported) {
  const auto answer = client.negotiate({.dialects = {Dialect::kSmb202}});
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status(), Status::kNotSupported);
}

TEST_F(SmbLogon, AlgorithmsAreTheFastestCommonOnes) {
  const struct {
    std::vector<CipherId> ciphers;
    std::vector<SigningId> signings;
    std::optional<CipherId> cipher;
    std::optional<SigningId> signing;
  } kCases[] = {
      {{CipherId::kCcm128, CipherId::kGcm256, CipherId::kGcm128},
       {SigningId::kHmacSha256, SigningId::kCmac, SigningId::kGmac},
       CipherId::kGcm128,
       SigningId::kGmac},
      {{CipherId::kCcm256}, {SigningId::kCmac}, CipherId::kCcm256, SigningId::kCmac},
      {{static_cast<CipherId>(77)}, {static_cast<SigningId>(77)}, CipherId::kNone, {}},
      {{}, {}, {}, {}},
  };
  for (const auto& each : kCases) {
    TestClient one(world);
    const auto answer = one.negotiate({.ciphers = each.ciphers, .signings = each.signings});
    ASSERT_TRUE(answer);
    const auto contexts = answer->body<smb::NegotiateReply>().contexts;
    ASSERT_TRUE(contexts.preauth);
    EXPECT_EQ(contexts.preauth->salt.size(), 32u);
    EXPECT_EQ(contexts.ciphers.has_value(), each.cipher.has_value());
    if (each.cipher) {
      EXPECT_EQ(contexts.ciphers->ids, std::vector{*each.cipher});
    }
    EXPECT_EQ(contexts.signing.has_value(), each.signing.has_value());
    if (each.signing) {
      EXPECT_EQ(contexts.signing->ids, std::vector{*each.signing});
    }
    const auto last = one.log_on();
    ASSERT_TRUE(last);
    EXPECT_EQ(last->status(), Status::kSuccess);
    EXPECT_TRUE(last->signature_right);
  }
}

TEST_F(SmbLogon, HashOf311MustBeKnown) {
  smb::NegotiateRequest request;
  request.dialects = {Dialect::kSmb311};
  request.contexts.preauth.emplace().hashes = {static_cast<smb::PreauthHashId>(9)};
  const auto answer = client.ask(Command::kNegotiate, request);
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status(), Status::kNoPreauthIntegrityHashOverlap);
}

// The hello of a client that also speaks SMB1.
std::string smb1_hello(std::string_view dialects) {
  std::string frame = unhex("ff534d4272").value() + std::string(27, '\0') + '\0';
  frame += static_cast<char>(dialects.size());
  frame += '\0';
  return frame.append(dialects);
}
const std::string kWildcardHello = smb1_hello(std::string_view("\2NT LM 0.12\0\2SMB 2.???\0", 23));

TEST_F(SmbLogon, HelloOfSmb1IsAnsweredOnce) {
  ASSERT_TRUE(client.give(kWildcardHello));
  const auto answer = client.take();
  ASSERT_EQ(answer.size(), 1u);
  EXPECT_EQ(answer[0].header.message_id, 0u);
  EXPECT_EQ(answer[0].header.command, Command::kNegotiate);
  EXPECT_EQ(answer[0].header.credits, 1);
  EXPECT_EQ(answer[0].body<smb::NegotiateReply>().dialect, Dialect::kWildcard);
  client.next_id = 1;
  client.come_in();
  EXPECT_EQ(echo(client)->status(), Status::kSuccess);
  EXPECT_FALSE(client.give(kWildcardHello));
}

TEST_F(SmbLogon, OtherFramesEndTheConnection) {
  const std::string without_smb2 = smb1_hello(std::string_view("\2NT LM 0.12\0", 12));
  const std::string only_2002 = smb1_hello(std::string_view("\2SMB 2.002\0", 11));
  for (const std::string& frame : {without_smb2, only_2002,
                                   std::string("\xff"
                                               "SMB"),
                                   std::string("\xfc"
                                               "SMB1234"),
                                   std::string("GET / HTTP/1.1\r\n\r\n"),
                                   std::string("\xfe"
                                               "SMB"),
                                   std::string(),
                                   std::string("\xfd"
                                               "SMB") +
                                       std::string(100, '\0')}) {
    TestClient one(world);
    EXPECT_FALSE(one.give(frame));
    EXPECT_TRUE(one.carrier.is_cut);
    EXPECT_TRUE(one.carrier.frames.empty());
  }
}

TEST_F(SmbLogon, NegotiateComesFirstAndOnce) {
  EXPECT_FALSE(client.give(client.message(Command::kEcho, smb::EchoRequest())));
  TestClient other(world);
  ASSERT_TRUE(other.negotiate());
  EXPECT_FALSE(other.negotiate());
  EXPECT_TRUE(other.carrier.is_cut);
}

TEST_F(SmbLogon, EveryDialectAndAlgorithm) {
  const struct {
    Dialect dialect;
    SigningId signing;
    CipherId cipher;
  } kCases[] = {
      {Dialect::kSmb210, SigningId::kHmacSha256, CipherId::kNone},
      {Dialect::kSmb300, SigningId::kCmac, CipherId::kCcm128},
      {Dialect::kSmb302, SigningId::kCmac, CipherId::kCcm128},
      {Dialect::kSmb311, SigningId::kHmacSha256, CipherId::kCcm128},
      {Dialect::kSmb311, SigningId::kCmac, CipherId::kGcm128},
      {Dialect::kSmb311, SigningId::kGmac, CipherId::kCcm256},
      {Dialect::kSmb311, SigningId::kGmac, CipherId::kGcm256},
  };
  for (const auto& each : kCases) {
    SCOPED_TRACE(smb::name(each.dialect));
    TestClient one(world);
    one.come_in({.dialects = {each.dialect}, .ciphers = {each.cipher}, .signings = {each.signing}});
    EXPECT_EQ(one.cipher, each.cipher);
    auto answer = echo(one);
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->status(), Status::kSuccess);
    EXPECT_TRUE(answer->signature_right);
    if (each.cipher == CipherId::kNone) continue;
    one.sealed = true;
    answer = echo(one);
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->status(), Status::kSuccess);
    EXPECT_TRUE(answer->sealed);
    EXPECT_FALSE(answer->header.has(smb::header_flag::kSigned));
  }
}

TEST_F(SmbLogon, EitherKeyAndAnyDomainIsRight) {
  for (const auto& [password, domain] : {std::pair("Passw0rd!", "AZURE"),
                                         {"second", ""},
                                         {"second", "localhost"},
                                         {"Passw0rd!", "x.example"}}) {
    TestClient one(world);
    one.ntlm.password = password;
    one.ntlm.domain = domain;
    one.ntlm.user = "ACCT";
    one.come_in();
    EXPECT_EQ(one.connection.find_session(one.session_id)->account(), "acct");
  }
  EXPECT_EQ(world.drive.sessions.established(), 0u);
  EXPECT_EQ(world.drive.brake.failures(), 0u);
}

TEST_F(SmbLogon, NtlmMayComeWithoutSpnego) {
  ASSERT_TRUE(client.negotiate());
  client.preauth = client.negotiated;
  const auto first = client.set_up(client.ntlm.negotiate());
  ASSERT_TRUE(first);
  ASSERT_EQ(first->status(), Status::kMoreProcessingRequired);
  const std::string challenge(first->body<smb::SessionSetupReply>().token);
  const auto last = client.set_up(client.ntlm.authenticate(challenge));
  ASSERT_TRUE(last);
  EXPECT_EQ(last->status(), Status::kSuccess);
}

TEST_F(SmbLogon, WrongOnesAreRefusedAndSlowed) {
  ASSERT_TRUE(client.negotiate());
  const auto refused = [&](std::string user, std::string password) {
    client.ntlm = {};
    client.ntlm.user = std::move(user);
    client.ntlm.password = std::move(password);
    const auto last = client.log_on();
    return last ? last->status() : Status::kSuccess;
  };
  EXPECT_EQ(refused("acct", "wrong"), Status::kLogonFailure);
  EXPECT_EQ(refused("nobody", "Passw0rd!"), Status::kLogonFailure);
  EXPECT_EQ(client.carrier.slept.count(), 0);
  EXPECT_EQ(refused("acct", ""), Status::kLogonFailure);
  EXPECT_EQ(client.carrier.slept, LogonBrake::kStep);
  // The session is gone with its logon.
  EXPECT_EQ(echo(client)->status(), Status::kSuccess);  // Needs none.
  smb::TreeConnectRequest connect;
  connect.path = "\\\\s\\data";
  EXPECT_EQ(client.ask(Command::kTreeConnect, connect)->status(), Status::kUserSessionDeleted);
  // Another connection of the same peer pays, too; one of another peer does not; and who is right
  // comes in at once.
  TestClient again(world);
  ASSERT_TRUE(again.negotiate());
  again.ntlm.password = "wrong";
  EXPECT_EQ(again.log_on()->status(), Status::kLogonFailure);
  EXPECT_EQ(again.carrier.slept, 2 * LogonBrake::kStep);
  TestClient right(world);
  right.come_in();
  EXPECT_EQ(right.carrier.slept.count(), 0);
  TestClient elsewhere(world, "10.1.2.3");
  ASSERT_TRUE(elsewhere.negotiate());
  elsewhere.ntlm.password = "wrong";
  EXPECT_EQ(elsewhere.log_on()->status(), Status::kLogonFailure);
  EXPECT_EQ(elsewhere.carrier.slept.count(), 0);
  EXPECT_EQ(world.drive.brake.failures(), 5u);
}

TEST_F(SmbLogon, ManyFailuresEndAConnectionWithoutSession) {
  ASSERT_TRUE(client.negotiate());
  client.ntlm.password = "wrong";
  for (size_t i = 1; i < kMaxFailedLogons; ++i) {
    ASSERT_TRUE(client.log_on());
    ASSERT_FALSE(client.carrier.is_cut);
  }
  EXPECT_FALSE(client.log_on());
  EXPECT_TRUE(client.carrier.is_cut);
}

TEST_F(SmbLogon, NobodyComesInAsGuestOrAnonymously) {
  ASSERT_TRUE(client.negotiate());
  client.preauth = client.negotiated;
  const auto first = client.set_up(client.ntlm.negotiate());
  ASSERT_EQ(first->status(), Status::kMoreProcessingRequired);
  // No user, no response.
  std::string anonymous("NTLMSSP\0\3\0\0\0", 12);
  for (int i = 0; i < 6; ++i) anonymous += unhex("0000000040000000").value();
  anonymous += unhex("15820862").value();
  const auto last = client.set_up(anonymous);
  ASSERT_TRUE(last);
  EXPECT_EQ(last->status(), Status::kLogonFailure);
  EXPECT_FALSE(client.connection.authenticated());
}

TEST_F(SmbLogon, MalformedTokensAreInvalid) {
  ASSERT_TRUE(client.negotiate());
  for (const std::string& token :
       {std::string("nonsense"), std::string(), std::string(9000, 'x')}) {
    client.session_id = 0;
    const auto answer = client.set_up(token);
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->status(), Status::kInvalidParameter);
  }
}

TEST_F(SmbLogon, UnknownSessionsAreRefused) {
  ASSERT_TRUE(client.negotiate());
  client.session_id = 4711;
  EXPECT_EQ(client.set_up("x")->status(), Status::kUserSessionDeleted);
  client.session_id = 0;
  EXPECT_EQ(client.set_up("x", smb::session_flag::kBinding)->status(), Status::kUserSessionDeleted);
}

TEST_F(SmbLogon, FewMayBeUnderWayAtOnce) {
  client.negotiate();
  client.asked_credits = 1;
  for (size_t i = 0; i < kMaxLogons; ++i) {
    client.session_id = 0;
    ASSERT_EQ(client.set_up(client.ntlm.initial_token(client.ntlm.negotiate()))->status(),
              Status::kMoreProcessingRequired);
  }
  client.session_id = 0;
  EXPECT_EQ(client.set_up(client.ntlm.initial_token(client.ntlm.negotiate()))->status(),
            Status::kInsufficientResources);
}

TEST_F(SmbLogon, BeforeItFramesAreShort) {
  EXPECT_LE(client.connection.most_frame_bytes(), 18u * 1024);
  client.negotiate();
  EXPECT_LE(client.connection.most_frame_bytes(), 18u * 1024);
  client.log_on();
  EXPECT_GE(client.connection.most_frame_bytes(), 8u * 1024 * 1024);
}

TEST_F(SmbLogon, SuccessGrantsTheCreditsAskedFor) {
  client.negotiate();
  client.asked_credits = 500;
  const auto first = client.set_up(client.ntlm.initial_token(client.ntlm.negotiate()));
  EXPECT_EQ(first->header.credits, 1);
  client.preauth = client.negotiated;
  client.session_id = 0;
  const auto last = client.log_on();
  EXPECT_EQ(last->header.credits, 500);
}

TEST_F(SmbLogon, FurtherLogonKeepsKeysAndTrees) {
  client.come_in();
  ASSERT_EQ(client.connect("\\\\s\\data")->status(), Status::kSuccess);
  const uint64_t id = client.session_id;
  const auto last = client.log_on();
  ASSERT_TRUE(last);
  EXPECT_EQ(last->status(), Status::kSuccess);
  EXPECT_EQ(last->header.session_id, id);
  EXPECT_TRUE(last->signature_right);
  EXPECT_TRUE(echo(client)->signature_right);
  EXPECT_EQ(client.ask(Command::kTreeDisconnect, smb::TreeDisconnectRequest())->status(),
            Status::kSuccess);
}

TEST_F(SmbLogon, FurtherLogonThatFailsEndsTheSession) {
  const struct {
    std::string user, password;
    Status status;
  } kCases[] = {{"acct", "wrong", Status::kLogonFailure},
                {"other", "Other!", Status::kAccessDenied}};
  for (const auto& each : kCases) {
    TestClient one(world);
    one.come_in();
    one.ntlm.user = each.user;
    one.ntlm.password = each.password;
    EXPECT_EQ(one.log_on()->status(), each.status);
    EXPECT_FALSE(one.connection.authenticated());
    EXPECT_EQ(one.connect("\\\\s\\data")->status(), Status::kUserSessionDeleted);
  }
  EXPECT_EQ(world.drive.sessions.established(), 0u);
}

TEST_F(SmbLogon, SessionsOfOneConnectionAreApart) {
  client.come_in();
  const uint64_t first = client.session_id;
  ASSERT_EQ(client.connect("\\\\s\\data")->status(), Status::kSuccess);
  std::optional<smb::Signer> first_signer = std::move(client.signer);
  const uint32_t tree = client.tree_id;

  client.established = false;
  client.signer.reset();
  client.ntlm = {};
  client.ntlm.user = "other";
  client.ntlm.password = "Other!";
  ASSERT_EQ(client.log_on()->status(), Status::kSuccess);
  EXPECT_NE(client.session_id, first);
  // The tree is the first one's.
  EXPECT_EQ(client.ask(Command::kTreeDisconnect, smb::TreeDisconnectRequest())->status(),
            Status::kNetworkNameDeleted);
  // And so is the session: the second one's key signs nothing of it.
  std::swap(client.session_id, const_cast<uint64_t&>(first));
  EXPECT_EQ(client.ask(Command::kTreeDisconnect, smb::TreeDisconnectRequest())->status(),
            Status::kAccessDenied);
  client.signer = std::move(first_signer);
  client.tree_id = tree;
  EXPECT_EQ(client.ask(Command::kTreeDisconnect, smb::TreeDisconnectRequest())->status(),
            Status::kSuccess);
}

TEST_F(SmbLogon, LogoffEndsTheSession) {
  client.come_in();
  ASSERT_EQ(client.connect("\\\\s\\data")->status(), Status::kSuccess);
  EXPECT_EQ(world.drive.metrics.trees, 1u);
  const auto answer = client.ask(Command::kLogoff, smb::LogoffRequest());
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status(), Status::kSuccess);
  EXPECT_TRUE(answer->signature_right);
  EXPECT_EQ(world.drive.metrics.trees, 0u);
  EXPECT_EQ(world.drive.sessions.established(), 0u);
  EXPECT_EQ(client.ask(Command::kLogoff, smb::LogoffRequest())->status(),
            Status::kUserSessionDeleted);
  client.established = false;
  EXPECT_EQ(client.log_on()->status(), Status::kSuccess);
}

TEST_F(SmbLogon, PreviousSessionEndsWhenItsOwnerComesBack) {
  client.come_in();
  TestClient thief(world);
  ASSERT_TRUE(thief.negotiate());
  thief.ntlm.user = "other";
  thief.ntlm.password = "Other!";
  ASSERT_EQ(thief.log_on(client.session_id)->status(), Status::kSuccess);
  EXPECT_EQ(echo(client)->status(), Status::kSuccess);

  TestClient failed(world);
  ASSERT_TRUE(failed.negotiate());
  failed.ntlm.password = "wrong";
  EXPECT_EQ(failed.log_on(client.session_id)->status(), Status::kLogonFailure);
  EXPECT_EQ(echo(client)->status(), Status::kSuccess);

  TestClient back(world);
  ASSERT_TRUE(back.negotiate());
  ASSERT_EQ(back.log_on(client.session_id)->status(), Status::kSuccess);
  EXPECT_EQ(client.connect("\\\\s\\data")->status(), Status::kUserSessionDeleted);
  EXPECT_EQ(world.drive.sessions.established(), 2u);
}

// Not for ever: here it is never done.
TEST_F(SmbLogon, WhoComesBackWaitsForWhatIsServedYet) {
  client.come_in();
  Pending<bool> gate;
  world.shares.gate = &gate;
  smb::TreeConnectRequest slow;
  slow.path = "\\\\s\\slow";
  client.give(client.protect({client.message(Command::kTreeConnect, slow)}));
  TestClient back(world);
  ASSERT_TRUE(back.negotiate());
  ASSERT_EQ(back.log_on(client.session_id)->status(), Status::kSuccess);
  EXPECT_EQ(client.carrier.slept, std::chrono::seconds(5));
  gate.set(true);
  world.loop.run_ready();
  TestClient again(world);
  ASSERT_TRUE(again.negotiate());
  ASSERT_EQ(again.log_on(back.session_id)->status(), Status::kSuccess);
  EXPECT_EQ(back.carrier.slept, std::chrono::seconds(0)) << "nothing was served";
}

TEST_F(SmbLogon, ChangedNegotiateIsNoticed) {
  const auto validate = [&](TestClient& one, const TestOffer& offer, uint32_t capabilities,
                            uint16_t mode, char guid) {
    one.come_in(offer);
    one.connect("\\\\s\\ipc$");
    smb::ValidateNegotiateRequest input{capabilities, {}, mode, offer.dialects};
    input.client.fill(guid);
    std::string bytes;
    smb::append_fields(bytes, input);
    smb::IoctlRequest request;
    request.control = smb::Control::kValidateNegotiate;
    request.file = smb::kPreviousFile;
    request.max_output = 24;
    request.input = bytes;
    return one.ask(Command::kIoctl, request);
  };
  for (const Dialect dialect : {Dialect::kSmb210, Dialect::kSmb300}) {
    const TestOffer offer{.dialects = {dialect}};
    TestClient good(world);
    const auto answer = validate(good, offer, offer.capabilities, offer.security_mode, 'c');
    ASSERT_TRUE(answer);
    ASSERT_EQ(answer->status(), Status::kSuccess);
    EXPECT_TRUE(answer->signature_right);
    const auto output =
        smb::decode_input<smb::ValidateNegotiateReply>(answer->body<smb::IoctlReply>().output);
    ASSERT_TRUE(output);
    EXPECT_EQ(output->dialect, dialect);
    EXPECT_EQ(output->server, world.drive.guid);
    EXPECT_EQ(output->security_mode, 3);
    TestClient capable(world);
    EXPECT_FALSE(validate(capable, offer, 0, offer.security_mode, 'c'));
    EXPECT_TRUE(capable.carrier.is_cut);
    TestClient secure(world);
    EXPECT_FALSE(validate(secure, offer, offer.capabilities, 2, 'c'));
    TestClient somebody(world);
    EXPECT_FALSE(validate(somebody, offer, offer.capabilities, offer.security_mode, 'd'));
  }
  // A client that was talked down from a later dialect.
  TestClient low(world);
  TestOffer offer{.dialects = {Dialect::kSmb300}};
  low.come_in(offer);
  low.connect("\\\\s\\ipc$");
  smb::ValidateNegotiateRequest input{
      offer.capabilities, {}, offer.security_mode, {Dialect::kSmb300, Dialect::kSmb302}};
  input.client.fill('c');
  std::string bytes;
  smb::append_fields(bytes, input);
  smb::IoctlRequest request;
  request.control = smb::Control::kValidateNegotiate;
  request.max_output = 24;
  request.input = bytes;
  EXPECT_FALSE(low.ask(Command::kIoctl, request));
  EXPECT_TRUE(low.carrier.is_cut);
}

}  // namespace
}  // namespace kyanite::drive
