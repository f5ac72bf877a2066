// Opens as requests name them: of their tree, and in chains; and controls that need few of them.
#include <arpa/inet.h>
#include <gtest/gtest.h>

#include "drive/test_support.h"
#include "smb/create.h"
#include "smb/file_io.h"
#include "smb/ioctl.h"
#include "smb/query.h"

namespace kyanite::drive {
namespace {

using smb::Command;
using smb::Status;
constexpr uint32_t kRelated = smb::header_flag::kRelated;

class Opens : public testing::Test {
 protected:
  Opens() {
    client.come_in();
    client.connect("\\\\s\\data");
  }
  smb::FileId create(std::string name) {
    smb::CreateRequest request;
    request.name = std::move(name);
    request.desired_access = smb::kGenericAllMeans;
    request.share_access = 7;
    request.disposition = smb::Disposition::kOpenIf;
    request.options = smb::create_option::kDirectoryFile;
    const auto answer = client.ask(Command::kCreate, request);
    CHECK(answer && answer->status() == Status::kSuccess);
    return answer->body<smb::CreateReply>().file;
  }
  std::string control(smb::Control which, const smb::FileId& file, uint32_t flags = 0) {
    smb::IoctlRequest request;
    request.control = which;
    request.file = file;
    request.flags = smb::kIoctlFlagFsctl;
    request.max_output = 1024;
    return client.message(Command::kIoctl, request, flags);
  }
  std::string close(const smb::FileId& file, uint32_t flags = 0) {
    smb::CloseRequest request;
    request.file = file;
    return client.message(Command::kClose, request, flags);
  }
  std::vector<Received> ask(std::vector<std::string> messages) {
    EXPECT_TRUE(client.give(client.protect(std::move(messages))));
    return client.take();
  }
  TestWorld world;
  TestClient client{world};
};

TEST_F(Opens, RelatedMessagesMeanWhatWasUsedBefore) {
  const smb::FileId file = create("d");
  auto answers = ask({control(smb::Control::kGetObjectId, file),
                      control(smb::Control::kCreateOrGetObjectId, smb::kPreviousFile, kRelated),
                      close(smb::kPreviousFile, kRelated), close(smb::kPreviousFile, kRelated)});
  ASSERT_EQ(answers.size(), 4u);
  for (size_t i = 0; i < 3; ++i) EXPECT_EQ(answers[i].status(), Status::kSuccess);
  EXPECT_EQ(answers[3].status(), Status::kFileClosed);
  const auto output = answers[1].body<smb::IoctlReply>().output;
  EXPECT_EQ(output.size(), smb::ObjectIdReply::kBytes);
  const auto id = smb::decode_input<smb::ObjectIdReply>(output);
  ASSERT_TRUE(id);
  EXPECT_NE(id->file_id, 0u);
  EXPECT_EQ(id->volume_id, 7u);
  // Nothing was used before.
  answers = ask({control(smb::Control::kGetObjectId, smb::kPreviousFile)});
  EXPECT_EQ(answers.at(0).status(), Status::kFileClosed);
}

TEST_F(Opens, AreOfTheTreeInWhichTheyWereMade) {
  const smb::FileId file = create("d");
  const uint32_t first = client.tree_id;
  client.connect("\\\\s\\data");
  ASSERT_NE(client.tree_id, first);
  EXPECT_EQ(ask({control(smb::Control::kGetObjectId, file)}).at(0).status(), Status::kFileClosed);
  EXPECT_EQ(ask({close(file)}).at(0).status(), Status::kFileClosed);
  client.tree_id = first;
  EXPECT_EQ(ask({control(smb::Control::kGetObjectId, file)}).at(0).status(), Status::kSuccess);
  EXPECT_EQ(ask({close(file)}).at(0).status(), Status::kSuccess);
}

TEST_F(Opens, WhatIsFollowedInAChainDoesNotWaitForChanges) {
  const smb::FileId file = create("d");
  smb::ChangeNotifyRequest notify;
  notify.file = file;
  notify.filter = 1;
  notify.output_length = 1024;
  const auto answers =
      ask({client.message(Command::kChangeNotify, notify), close(smb::kPreviousFile, kRelated)});
  ASSERT_EQ(answers.size(), 2u);
  EXPECT_EQ(answers[0].status(), Status::kInternalError);
  EXPECT_EQ(answers[1].status(), Status::kSuccess);
}

TEST_F(Opens, WhatIsClosedByForceWatchesNoMore) {
  const smb::FileId file = create("d");
  smb::ChangeNotifyRequest notify;
  notify.file = file;
  notify.filter = 1;
  notify.output_length = 1024;
  EXPECT_EQ(client.ask(Command::kChangeNotify, notify)->status(), Status::kPending);
  tree::OpenFiles& table = world.shares.open_files;
  ASSERT_TRUE(table.force_close(table.find(file.persistent_id)->file, false, file.persistent_id));
  world.loop.run_ready();
  const auto answers = client.take();
  ASSERT_EQ(answers.size(), 1u);
  EXPECT_EQ(answers[0].status(), Status::kNotifyCleanup);
  EXPECT_EQ(client.ask(Command::kChangeNotify, notify)->status(), Status::kFileClosed);
}

TEST_F(Opens, ClientsLearnWhereTheyReachedTheServer) {
  for (const std::string address : {"10.1.2.3", "fd00::1"}) {
    client.carrier.local_address = address;
    const auto answers = ask({control(smb::Control::kQueryNetworkInterfaces, smb::kPreviousFile)});
    ASSERT_EQ(answers.at(0).status(), Status::kSuccess);
    const std::string output(answers[0].body<smb::IoctlReply>().output);
    const auto told = smb::decode_input<smb::NetworkInterface>(output.substr(4));
    ASSERT_TRUE(told);
    char text[INET6_ADDRSTRLEN] = "";
    inet_ntop(told->ip6 ? AF_INET6 : AF_INET, told->address.data(), text, sizeof text);
    EXPECT_EQ(text, address);
    EXPECT_EQ(told->capabilities, smb::interface_capability::kRss);
    EXPECT_EQ(output.substr(0, 4), std::string(4, '\0'));  // None follows.
  }
  smb::IoctlRequest small;
  small.control = smb::Control::kQueryNetworkInterfaces;
  small.file = smb::kPreviousFile;
  small.max_output = 151;
  EXPECT_EQ(client.ask(Command::kIoctl, small)->status(), Status::kBufferTooSmall);
  small.max_output = 152;
  EXPECT_EQ(client.ask(Command::kIoctl, small)->status(), Status::kSuccess);
  small.file = create("d");
  EXPECT_EQ(client.ask(Command::kIoctl, small)->status(), Status::kInvalidParameter);
  TestClient old(world);
  old.come_in({.dialects = {smb::Dialect::kSmb210}});
  old.connect("\\\\s\\ipc$");
  smb::IoctlRequest request;
  request.control = smb::Control::kQueryNetworkInterfaces;
  request.max_output = 1024;
  EXPECT_EQ(old.ask(Command::kIoctl, request)->status(), Status::kNotSupported);
}

}  // namespace
}  // namespace kyanite::drive
