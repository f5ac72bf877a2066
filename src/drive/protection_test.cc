// What must be signed and encrypted, and what comes of it when it is not.
#include <gtest/gtest.h>

#include "drive/test_support.h"
#include "smb/session.h"

namespace kyanite::drive {
namespace {

using smb::Command;
using smb::Dialect;
using smb::Status;

class Protection : public testing::Test {
 protected:
  Status echo(TestClient& client) {
    const auto answer = client.ask(Command::kEcho, smb::EchoRequest());
    return answer ? answer->status() : Status::kUnsuccessful;
  }
  TestWorld world;
};

TEST_F(Protection, UnsignedRequestsAreRefused) {
  TestClient client(world);
  client.come_in();
  client.signs = false;
  EXPECT_EQ(echo(client), Status::kAccessDenied);
  EXPECT_EQ(client.connect("\\\\s\\data")->status(), Status::kAccessDenied);
  EXPECT_EQ(client.ask(Command::kLogoff, smb::LogoffRequest())->status(), Status::kAccessDenied);
  client.signs = true;
  EXPECT_EQ(echo(client), Status::kSuccess);
}

TEST_F(Protection, WrongSignaturesAreRefused) {
  for (const Dialect dialect : {Dialect::kSmb210, Dialect::kSmb300, Dialect::kSmb311}) {
    TestClient client(world);
    client.come_in({.dialects = {dialect}});
    for (const size_t at : {size_t{14}, smb::kSignatureOffset, smb::kHeaderBytes + 2}) {
      std::string frame = client.protect({client.message(Command::kEcho, smb::EchoRequest())});
      frame[at] = static_cast<char>(frame[at] ^ 1);
      ASSERT_TRUE(client.give(frame));
      const auto answer = client.take();
      ASSERT_EQ(answer.size(), 1u);
      EXPECT_EQ(answer[0].status(), Status::kAccessDenied);
      EXPECT_FALSE(answer[0].signature_right);
    }
    EXPECT_EQ(echo(client), Status::kSuccess);
  }
}

// Whoever wants every reply signed takes what is said of a session that is gone, which has no key,
// if it comes with the signature of the request.
TEST_F(Protection, WhatCannotBeSignedEchoesTheSignature) {
  TestClient client(world);
  client.come_in();
  client.session_id ^= 1;
  const std::string frame =
      client.protect({client.message(Command::kLogoff, smb::LogoffRequest())});
  ASSERT_TRUE(client.give(frame));
  const auto answer = client.take().at(0);
  EXPECT_EQ(answer.status(), Status::kUserSessionDeleted);
  EXPECT_TRUE(answer.header.has(smb::header_flag::kSigned));
  const auto asked = smb::split_chain(frame);
  EXPECT_EQ(answer.header.signature, asked->at(0).header.signature);
  client.signs = false;
  const auto plain = client.ask(Command::kLogoff, smb::LogoffRequest());
  EXPECT_FALSE(plain->header.has(smb::header_flag::kSigned));
}

TEST_F(Protection, EncryptionIsRequiredOfOtherMachines) {
  TestClient near(world, "127.0.0.5");
  near.come_in();
  EXPECT_FALSE(near.sealed);
  EXPECT_EQ(echo(near), Status::kSuccess);
  TestClient near6(world, "::1");
  near6.come_in();
  EXPECT_FALSE(near6.sealed);
  for (const char* peer : {"10.0.0.1", "fe80::1", "::ffff:10.0.0.1"}) {
    TestClient far(world, peer);
    far.come_in();
    EXPECT_TRUE(far.sealed);
    EXPECT_EQ(echo(far), Status::kSuccess);
    far.sealed = false;  // Signed all the same.
    EXPECT_EQ(echo(far), Status::kAccessDenied);
    EXPECT_EQ(far.connect("\\\\s\\data")->status(), Status::kAccessDenied);
  }
}

TEST_F(Protection, WhoCannotEncryptIsRefusedWhereItIsRequired) {
  world.shares.account_rules.encryption = Encryption::kRequired;
  TestClient old(world);
  ASSERT_TRUE(old.negotiate({.dialects = {Dialect::kSmb210}}));
  EXPECT_EQ(old.log_on()->status(), Status::kAccessDenied);
  EXPECT_FALSE(old.connection.authenticated());
  TestClient plain(world);
  ASSERT_TRUE(plain.negotiate({.ciphers = {}}));
  EXPECT_EQ(plain.log_on()->status(), Status::kAccessDenied);
  TestClient incapable(world);
  ASSERT_TRUE(incapable.negotiate({.dialects = {Dialect::kSmb300}, .capabilities = 0}));
  EXPECT_EQ(incapable.log_on()->status(), Status::kAccessDenied);
  TestClient able(world);
  able.come_in({.dialects = {Dialect::kSmb300}});
  EXPECT_TRUE(able.sealed);
  EXPECT_EQ(echo(able), Status::kSuccess);
}

TEST_F(Protection, EncryptionMayBeAllowedOrOff) {
  world.shares.account_rules.encryption = Encryption::kAllowed;
  TestClient far(world, "10.0.0.1");
  far.come_in();
  EXPECT_FALSE(far.sealed);
  EXPECT_EQ(echo(far), Status::kSuccess);
  far.sealed = true;
  EXPECT_EQ(echo(far), Status::kSuccess);
  far.sealed = false;
  EXPECT_EQ(echo(far), Status::kSuccess);
  world.shares.account_rules.encryption = Encryption::kOff;
  TestClient off(world, "10.0.0.1");
  off.come_in();
  EXPECT_FALSE(off.sealed);
  EXPECT_EQ(echo(off), Status::kSuccess);
  off.sealed = true;
  EXPECT_EQ(echo(off), Status::kUnsuccessful);
  EXPECT_TRUE(off.carrier.is_cut);
}

TEST_F(Protection, WhereNobodyMayEncryptNoCipherIsOffered) {
  for (const Dialect dialect : {Dialect::kSmb300, Dialect::kSmb311}) {
    for (const bool encrypts : {true, false}) {
      world.shares.encrypts = encrypts;
      world.shares.account_rules.encryption = encrypts ? Encryption::kAllowed : Encryption::kOff;
      TestClient client(world);
      client.come_in({.dialects = {dialect}});
      EXPECT_EQ(client.cipher != smb::CipherId::kNone, encrypts);
      EXPECT_EQ(echo(client), Status::kSuccess);
    }
  }
}

TEST_F(Protection, LeastDialectIsDemandedAtLogon) {
  world.shares.account_rules.least_dialect = Dialect::kSmb300;
  TestClient old(world);
  ASSERT_TRUE(old.negotiate({.dialects = {Dialect::kSmb210}}));
  EXPECT_EQ(old.log_on()->status(), Status::kAccessDenied);
  for (const Dialect dialect : {Dialect::kSmb300, Dialect::kSmb311}) {
    TestClient client(world);
    client.come_in({.dialects = {dialect}});
    EXPECT_EQ(echo(client), Status::kSuccess);
  }
}

TEST_F(Protection, DamagedOrForeignEncryptedFramesEndTheConnection) {
  const auto sealed_echo = [](TestClient& client) {
    client.sealed = true;
    return client.protect({client.message(Command::kEcho, smb::EchoRequest())});
  };
  for (const size_t at : {size_t{4}, size_t{20}, size_t{44}, smb::kTransformBytes}) {
    TestClient client(world);
    client.come_in();
    std::string frame = sealed_echo(client);
    frame[at] = static_cast<char>(frame[at] ^ 1);
    EXPECT_FALSE(client.give(frame));
    EXPECT_TRUE(client.carrier.is_cut);
  }
  TestClient cut_short(world);
  cut_short.come_in();
  std::string frame = sealed_echo(cut_short);
  frame.pop_back();
  EXPECT_FALSE(cut_short.give(frame));
  // A message of another session inside.
  TestClient client(world);
  client.come_in();
  client.session_id ^= 1;
  EXPECT_FALSE(client.give(sealed_echo(client)));
}

TEST_F(Protection, LargeFramesAreCheckedByWorkers) {
  TestClient client(world);
  client.come_in();
  client.asked_credits = 400;
  ASSERT_EQ(client.connect("\\\\s\\data")->status(), Status::kSuccess);
  const std::string data(1'000'000, 'w');
  smb::SetInfoRequest request;  // Not served for that file; the frame has to come through first.
  request.input = data;
  client.charge = 16;
  for (const bool sealed : {false, true}) {
    client.sealed = sealed;
    std::string frame = client.protect({client.message(Command::kSetInfo, request)});
    ASSERT_TRUE(client.give(frame));
    ASSERT_TRUE(world.loop.run_until([&] { return !client.carrier.frames.empty(); }));
    const auto answer = client.take();
    ASSERT_EQ(answer.size(), 1u);
    EXPECT_NE(answer[0].status(), Status::kAccessDenied);
    EXPECT_EQ(answer[0].sealed, sealed);
  }
  client.sealed = false;
  std::string frame = client.protect({client.message(Command::kSetInfo, request)});
  frame.back() = 'x';
  ASSERT_TRUE(client.give(frame));
  ASSERT_TRUE(world.loop.run_until([&] { return !client.carrier.frames.empty(); }));
  EXPECT_EQ(client.take().at(0).status(), Status::kAccessDenied);
}

}  // namespace
}  // namespace kyanite::drive
