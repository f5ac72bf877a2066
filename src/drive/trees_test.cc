// TREE_CONNECT and TREE_DISCONNECT, and what needs a tree.
#include <gtest/gtest.h>

#include "drive/test_support.h"
#include "smb/create.h"
#include "smb/info.h"
#include "smb/ioctl.h"
#include "smb/query.h"
#include "smb/session.h"

namespace kyanite::drive {
namespace {

using smb::Command;
using smb::Status;

class Trees : public testing::Test {
 protected:
  Trees() { client.come_in(); }
  Status connect(std::string path) { return client.connect(std::move(path))->status(); }
  Status disconnect() {
    return client.ask(Command::kTreeDisconnect, smb::TreeDisconnectRequest())->status();
  }
  TestWorld world;
  TestClient client{world};
};

TEST_F(Trees, SharesAreConnectedByAnyServerNameAndCase) {
  for (const char* path : {"\\\\server\\data", "\\\\10.0.0.1\\DATA", "\\\\\\Data"}) {
    const auto answer = client.connect(path);
    ASSERT_EQ(answer->status(), Status::kSuccess) << path;
    const auto reply = answer->body<smb::TreeConnectReply>();
    EXPECT_EQ(reply.type, smb::ShareType::kDisk);
    EXPECT_EQ(reply.maximal_access, 0x001F01FFu);
    EXPECT_NE(answer->header.tree_id, 0u);
  }
  EXPECT_EQ(world.drive.metrics.trees, 3u);
}

// The Linux client has room for so many.
TEST_F(Trees, LabelsHaveSixteenCharactersAtMost) {
  for (const std::string share :
       {"data", "long", "long-name-of-16-", "long-name-of-more-than-16"}) {
    ASSERT_EQ(connect("\\\\s\\" + share), Status::kSuccess);
    smb::CreateRequest root;
    root.desired_access = smb::access::kReadData;
    root.options = smb::create_option::kDirectoryFile;
    root.disposition = smb::Disposition::kOpen;
    root.share_access = 7;
    smb::QueryInfoRequest ask;
    ask.type = smb::InfoType::kVolume;
    ask.info_class = static_cast<uint8_t>(smb::VolumeClass::kVolume);
    ask.output_length = 18 + 32;
    ask.file = client.ask(Command::kCreate, root)->body<smb::CreateReply>().file;
    const auto answer = client.ask(Command::kQueryInfo, ask);
    ASSERT_EQ(answer->status(), Status::kSuccess) << share;
    const auto told = smb::decode_input<smb::VolumeInfo>(answer->body<smb::OutputReply>().output);
    ASSERT_TRUE(told);
    EXPECT_EQ(told->label, share.substr(0, 16));
  }
}

TEST_F(Trees, OthersAreBadNames) {
  for (const char* path : {"\\\\server\\nope", "\\\\server\\", "\\\\server", "data", "",
                           "\\server\\data", "\\\\server\\data\\below", "\\\\server\\data$"}) {
    EXPECT_EQ(connect(path), Status::kBadNetworkName) << path;
  }
  EXPECT_EQ(world.drive.metrics.trees, 0u);
}

TEST_F(Trees, FailuresOfTheStoreAreTold) {
  world.shares.failure = store::Error::kIo;
  EXPECT_EQ(connect("\\\\s\\data"), Status::kInternalError);
  world.shares.failure = store::Error::kTimeout;
  EXPECT_EQ(connect("\\\\s\\data"), Status::kIoTimeout);
}

TEST_F(Trees, IpcHasNoPipes) {
  const auto answer = client.connect("\\\\s\\IPC$");
  ASSERT_EQ(answer->status(), Status::kSuccess);
  EXPECT_EQ(answer->body<smb::TreeConnectReply>().type, smb::ShareType::kPipe);
  smb::CreateRequest create;
  create.name = "srvsvc";
  EXPECT_EQ(client.ask(Command::kCreate, create)->status(), Status::kObjectNameNotFound);
  EXPECT_EQ(client.ask(Command::kRead, smb::ReadRequest())->status(), Status::kFileClosed);
  smb::IoctlRequest referral;
  referral.control = smb::Control::kDfsGetReferrals;
  EXPECT_EQ(client.ask(Command::kIoctl, referral)->status(), Status::kFsDriverRequired);
  EXPECT_EQ(disconnect(), Status::kSuccess);
}

TEST_F(Trees, DisconnectedOnesAreGone) {
  ASSERT_EQ(connect("\\\\s\\data"), Status::kSuccess);
  const uint32_t first = client.tree_id;
  ASSERT_EQ(connect("\\\\s\\data"), Status::kSuccess);
  EXPECT_NE(client.tree_id, first);
  EXPECT_EQ(disconnect(), Status::kSuccess);
  EXPECT_EQ(disconnect(), Status::kNetworkNameDeleted);
  client.tree_id = first;
  EXPECT_EQ(disconnect(), Status::kSuccess);
  client.tree_id = UINT32_MAX;
  EXPECT_EQ(client.ask(Command::kCreate, smb::CreateRequest())->status(),
            Status::kNetworkNameDeleted);
}

TEST_F(Trees, ThereIsALimit) {
  for (size_t i = 0; i < kMaxTrees; ++i) ASSERT_EQ(connect("\\\\s\\data"), Status::kSuccess);
  EXPECT_EQ(connect("\\\\s\\data"), Status::kInsufficientResources);
  EXPECT_EQ(disconnect(), Status::kSuccess);
  EXPECT_EQ(connect("\\\\s\\data"), Status::kSuccess);
}

TEST_F(Trees, ThereIsALimitForAllSessionsOfAConnection) {
  for (size_t i = 0; i < kMaxTreesOfConnection; ++i) {
    if (i % kMaxTrees == 0 && i > 0) {
      client.established = false;
      client.signer.reset();
      ASSERT_EQ(client.log_on()->status(), Status::kSuccess);
    }
    ASSERT_EQ(connect("\\\\s\\data"), Status::kSuccess) << i;
  }
  client.established = false;
  client.signer.reset();
  ASSERT_EQ(client.log_on()->status(), Status::kSuccess);
  EXPECT_EQ(connect("\\\\s\\data"), Status::kInsufficientResources);
}

// A share that takes its time.
TEST_F(Trees, OthersAreServedWhileOneIsLookedUp) {
  Pending<bool> gate;
  world.shares.gate = &gate;
  smb::TreeConnectRequest request;
  request.path = "\\\\s\\slow";
  client.give(client.protect({client.message(Command::kTreeConnect, request)}));
  EXPECT_TRUE(client.take().empty());
  EXPECT_EQ(client.ask(Command::kEcho, smb::EchoRequest())->status(), Status::kSuccess);
  gate.set(true);
  world.loop.run_ready();
  const auto answer = client.take();
  ASSERT_EQ(answer.size(), 1u);
  EXPECT_EQ(answer[0].status(), Status::kSuccess);
}

TEST_F(Trees, WhoLogsOffMeanwhileHasNone) {
  Pending<bool> gate;
  world.shares.gate = &gate;
  smb::TreeConnectRequest request;
  request.path = "\\\\s\\slow";
  client.give(client.protect({client.message(Command::kTreeConnect, request)}));
  EXPECT_EQ(client.ask(Command::kLogoff, smb::LogoffRequest())->status(), Status::kSuccess);
  gate.set(true);
  world.loop.run_ready();
  EXPECT_EQ(client.take().at(0).status(), Status::kUserSessionDeleted);
  EXPECT_EQ(world.drive.metrics.trees, 0u);
}

TEST_F(Trees, TheEndWaitsForWhatIsServed) {
  Pending<bool> gate;
  world.shares.gate = &gate;
  smb::TreeConnectRequest request;
  request.path = "\\\\s\\slow";
  client.give(client.protect({client.message(Command::kTreeConnect, request)}));
  bool over = false;
  const auto end = [](TestClient& one, bool& out) -> Detached {
    co_await one.connection.end(true);
    out = true;
  };
  end(client, over);
  world.loop.run_ready();
  EXPECT_FALSE(over);
  gate.set(true);
  world.loop.run_ready();
  EXPECT_TRUE(over);
  EXPECT_EQ(client.take().size(), 1u);  // Answered all the same.
}

}  // namespace
}  // namespace kyanite::drive
