// Sessions whose key is replaced or whose account is removed while they last.
#include <gtest/gtest.h>

#include "drive/test_support.h"
#include "smb/create.h"
#include "smb/query.h"

namespace kyanite::drive {
namespace {

using smb::Command;
using smb::Status;

const std::string kData = "\\\\s\\data";

class LostKeys : public testing::Test {
 protected:
  static Status echo(TestClient& one) {
    return one.ask(Command::kEcho, smb::EchoRequest())->status();
  }
  // A new session of the account by one of its passwords.
  static void come_in(TestClient& one, std::string password, std::string user = "acct") {
    one.ntlm.user = std::move(user);
    one.ntlm.password = std::move(password);
    one.come_in();
    ASSERT_EQ(one.connect(kData)->status(), Status::kSuccess);
  }
  static smb::CreateRequest file_request() {
    smb::CreateRequest request;
    request.name = "f";
    request.desired_access = smb::kGenericAllMeans;
    request.disposition = smb::Disposition::kOpenIf;
    request.oplock = smb::OplockLevel::kBatch;
    return request;
  }
  static std::optional<Received> create(TestClient& one, const smb::CreateContexts& contexts = {}) {
    auto request = file_request();
    const std::string encoded = contexts.encode();
    request.contexts = encoded;
    return one.ask(Command::kCreate, request);
  }
  // Without telling anybody: requests find out themselves.
  void set_keys(std::vector<auth::ntlm::Password> keys) {
    world.shares.accounts["acct"] = std::move(keys);
    ++world.shares.changes;
  }
  void tell() {
    world.drive.accounts_changed();
    world.loop.run_ready();
  }
  size_t opens() const { return world.drive.metrics.opens; }

  TestWorld world;
  TestClient client{world};
};

TEST_F(LostKeys, ASessionEndsWithItsKey) {
  come_in(client, "Passw0rd!");
  ASSERT_EQ(create(client)->status(), Status::kSuccess);
  EXPECT_EQ(opens(), 1u);
  set_keys({{"third", 4}, {"second", 2}});
  const auto answer = client.connect(kData);
  EXPECT_EQ(answer->status(), Status::kUserSessionDeleted);
  EXPECT_TRUE(answer->signature_right);
  EXPECT_EQ(opens(), 0u);
  EXPECT_EQ(world.drive.metrics.trees, 0u);
  EXPECT_EQ(world.drive.sessions.established(), 0u);
  EXPECT_FALSE(client.connection.authenticated());
  EXPECT_EQ(create(client)->status(), Status::kUserSessionDeleted);
  EXPECT_EQ(client.ask(Command::kLogoff, smb::LogoffRequest())->status(),
            Status::kUserSessionDeleted);
  EXPECT_EQ(client.set_up("x")->status(), Status::kUserSessionDeleted) << "nor can it be renewed";
  // Whoever has the new key comes in by the same connection.
  client.established = false;
  client.signer.reset();
  client.ntlm.password = "third";
  EXPECT_EQ(client.log_on()->status(), Status::kSuccess);
}

TEST_F(LostKeys, ASessionEndsWithItsAccount) {
  come_in(client, "Passw0rd!");
  world.shares.accounts.erase("acct");
  ++world.shares.changes;
  EXPECT_EQ(create(client)->status(), Status::kUserSessionDeleted);
}

TEST_F(LostKeys, ItLivesOnWhenOtherKeysAndAccountsChange) {
  come_in(client, "second");
  ASSERT_EQ(create(client)->status(), Status::kSuccess);
  set_keys({{"third", 4}, {"second", 2}});
  EXPECT_EQ(client.connect(kData)->status(), Status::kSuccess);
  world.shares.accounts["new"] = {{"key", 5}};
  world.shares.accounts.erase("other");
  ++world.shares.changes;
  tell();
  EXPECT_EQ(client.connect(kData)->status(), Status::kSuccess);
  EXPECT_EQ(opens(), 1u);
  // The same text given anew is another key: the account was away meanwhile.
  set_keys({{"second", 6}});
  EXPECT_EQ(client.connect(kData)->status(), Status::kUserSessionDeleted);
}

TEST_F(LostKeys, LoggingOnAnewIsByAnotherKey) {
  come_in(client, "Passw0rd!");
  client.ntlm.password = "second";
  ASSERT_EQ(client.log_on()->status(), Status::kSuccess);
  set_keys({{"second", 2}});
  EXPECT_EQ(client.connect(kData)->status(), Status::kSuccess);
  set_keys({{"Passw0rd!", 1}});
  EXPECT_EQ(client.connect(kData)->status(), Status::kUserSessionDeleted);
}

// A key that goes while its logon is under way.
TEST_F(LostKeys, TheFirstRequestLooks) {
  client.come_in();
  world.shares.accounts["acct"] = {{"second", 2}};
  EXPECT_EQ(client.connect(kData)->status(), Status::kUserSessionDeleted);
}

TEST_F(LostKeys, AllOfAChainIsRefused) {
  come_in(client, "Passw0rd!");
  set_keys({});
  const auto request = file_request();
  EXPECT_TRUE(client.give(client.protect(
      {client.message(Command::kCreate, request),
       client.message(Command::kEcho, smb::EchoRequest(), smb::header_flag::kRelated),
       client.message(Command::kCreate, request, smb::header_flag::kRelated)})));
  const auto answers = client.take();
  ASSERT_EQ(answers.size(), 3u);
  EXPECT_EQ(answers[0].status(), Status::kUserSessionDeleted);
  EXPECT_EQ(answers[2].status(), Status::kUserSessionDeleted);
}

TEST_F(LostKeys, TheAnswerIsEncrypted) {
  world.shares.account_rules.encryption = Encryption::kRequired;
  come_in(client, "Passw0rd!");
  ASSERT_TRUE(client.sealed);
  set_keys({});
  const auto answer = create(client);
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status(), Status::kUserSessionDeleted);
  EXPECT_TRUE(answer->sealed);
  EXPECT_FALSE(create(client)) << "nobody can read what it encrypts any more";
  EXPECT_TRUE(client.carrier.is_cut);
}

TEST_F(LostKeys, WhoSaysNothingLosesItsOpensAsWell) {
  come_in(client, "Passw0rd!");
  smb::CreateRequest directory = file_request();
  directory.name = "d";
  directory.options = smb::create_option::kDirectoryFile;
  smb::ChangeNotifyRequest notify;
  notify.file = client.ask(Command::kCreate, directory)->body<smb::CreateReply>().file;
  notify.filter = 1;
  notify.output_length = 1024;
  EXPECT_EQ(client.ask(Command::kChangeNotify, notify)->status(), Status::kPending);
  TestClient other(world);
  come_in(other, "second");
  EXPECT_EQ(opens(), 1u);
  set_keys({{"second", 2}});
  tell();
  EXPECT_EQ(opens(), 0u);
  EXPECT_EQ(world.drive.metrics.waiting, 0u) << "it does not learn what changes any more";
  EXPECT_EQ(world.drive.sessions.established(), 1u);
  EXPECT_EQ(other.connect(kData)->status(), Status::kSuccess);
}

TEST_F(LostKeys, FurtherConnectionsEndWithTheSession) {
  come_in(client, "Passw0rd!");
  TestClient further(world);
  ASSERT_TRUE(further.negotiate());
  further.ntlm.password = "second";
  ASSERT_EQ(further.bind_to(client)->status(), Status::kSuccess);
  set_keys({{"second", 2}});
  EXPECT_EQ(create(further)->status(), Status::kUserSessionDeleted);
  EXPECT_FALSE(further.connection.authenticated());
  EXPECT_EQ(create(client)->status(), Status::kUserSessionDeleted);
}

TEST_F(LostKeys, DurableHandlesAreTheAccounts) {
  come_in(client, "Passw0rd!");
  smb::CreateContexts asked;
  asked.durable = true;
  const auto opened = create(client, asked);
  ASSERT_EQ(opened->status(), Status::kSuccess);
  smb::CreateContexts back;
  back.reconnect = opened->body<smb::CreateReply>().file;
  set_keys({{"second", 2}});
  EXPECT_EQ(create(client, back)->status(), Status::kUserSessionDeleted);

  TestClient stranger(world);
  come_in(stranger, "Other!", "other");
  EXPECT_EQ(create(stranger, back)->status(), Status::kObjectNameNotFound);
  TestClient owner(world);
  come_in(owner, "second");
  EXPECT_EQ(create(owner, back)->status(), Status::kSuccess);
  EXPECT_EQ(opens(), 1u);
}

// Who comes back may do so on another thread.
TEST_F(LostKeys, WhatIsAtWorkDoesNotWaitForItsClient) {
  for (const bool at_work : {true, false}) {
    TestClient lost(world);
    come_in(lost, "Passw0rd!");
    smb::CreateContexts asked;
    asked.durable = true;
    const auto opened = create(lost, asked);
    ASSERT_EQ(opened->status(), Status::kSuccess);
    const smb::FileId file = opened->body<smb::CreateReply>().file;
    const auto open = lost.connection.find_session(lost.session_id)->find_open(file);
    ASSERT_EQ(open->at_work, 0u) << "whoever has found it is done";
    open->at_work = at_work ? 1 : 0;
    lost.end();
    EXPECT_EQ(world.shares.open_files.find(file.persistent_id).has_value(), !at_work);
  }
}

}  // namespace
}  // namespace kyanite::drive
