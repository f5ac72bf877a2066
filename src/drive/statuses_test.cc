// What is said where clients make more of an answer than it says.
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "drive/test_support.h"
#include "smb/create.h"
#include "smb/file_io.h"
#include "smb/info.h"
#include "smb/ioctl.h"
#include "smb/query.h"
#include "smb/times.h"
#include "tree/file_io.h"

namespace kyanite::drive {
namespace {

using smb::Command;
using smb::Status;

class Statuses : public testing::Test {
 protected:
  Statuses() {
    client.come_in();
    client.connect("\\\\s\\data");
  }
  Status create(std::string name, smb::FileId* file = nullptr, uint32_t options = 0) {
    smb::CreateRequest request;
    request.name = std::move(name);
    request.desired_access = smb::kGenericAllMeans;
    request.share_access = 7;
    request.disposition = smb::Disposition::kOpenIf;
    request.options = options;
    const auto answer = client.ask(Command::kCreate, request);
    CHECK(answer);
    if (file != nullptr) *file = answer->body<smb::CreateReply>().file;
    return answer->status();
  }
  smb::FileId file(const std::string& name) {
    smb::FileId id;
    EXPECT_EQ(create(name, &id), Status::kSuccess);
    return id;
  }
  template <class Input>
  std::optional<Received> control(smb::Control which, const smb::FileId& of, const Input& body) {
    std::string input;
    smb::append_fields(input, body);
    return control(which, of, input);
  }
  std::optional<Received> control(smb::Control which, const smb::FileId& of,
                                  const std::string& input) {
    smb::IoctlRequest request;
    request.control = which;
    request.file = of;
    request.flags = smb::kIoctlFlagFsctl;
    request.max_output = 1024;
    request.input = input;
    return client.ask(Command::kIoctl, request);
  }

  TestWorld world;
  TestClient client{world};
};

// Linux takes what comes with INVALID_PARAMETER for the limits of all further copies.
TEST_F(Statuses, ACopyToWhereNoFileReachesIsNotToldAsLimits) {
  const smb::FileId source = file("source");
  const smb::FileId target = file("target");
  smb::WriteRequest write;
  write.file = source;
  write.data = "bytes";
  ASSERT_EQ(client.ask(Command::kWrite, write)->status(), Status::kSuccess);
  const auto key = control(smb::Control::kRequestResumeKey, source, std::string());
  const std::string output(key->body<smb::IoctlReply>().output);
  smb::CopyChunkRequest copy;
  copy.key = smb::decode_input<smb::ResumeKeyReply>(output)->key;
  copy.chunks.push_back({0, tree::kMaxFileBytes, 5});
  EXPECT_EQ(control(smb::Control::kCopyChunk, target, copy)->status(), Status::kDiskFull);
  copy.chunks.back().target_offset = 0;
  EXPECT_EQ(control(smb::Control::kCopyChunk, target, copy)->status(), Status::kSuccess);
}

// Others take it for a directory that is not there.
TEST_F(Statuses, APathThatIsTooLongOrTooDeepIsToldAsThat) {
  std::string deep = "d";
  for (int i = 0; i < 250; ++i) deep += "\\d";
  EXPECT_EQ(create(deep), Status::kNameTooLong);
  std::string path = std::string(200, 'a');
  while (path.size() <= 2048) path += "\\" + std::string(200, 'a');
  EXPECT_EQ(create(path), Status::kNameTooLong);
  EXPECT_EQ(create(std::string(256, 'a')), Status::kObjectNameInvalid);
}

TEST_F(Statuses, ATimeThatCannotBeShownIsTheLastOneThatCan) {
  const smb::FileId id = file("file");
  const auto set = [&](int64_t time) {
    smb::BasicInfo info;
    info.times.write = time;
    std::string input;
    smb::append_fields(input, info);
    smb::SetInfoRequest request;
    request.info_class = static_cast<uint8_t>(smb::BasicInfo::kClass);
    request.file = id;
    request.input = input;
    return client.ask(Command::kSetInfo, request)->status();
  };
  EXPECT_EQ(set(INT64_MAX), Status::kSuccess);
  smb::CloseRequest close;
  close.file = id;
  close.flags = smb::kCloseQueryAttributes;
  EXPECT_EQ(client.ask(Command::kClose, close)->body<smb::CloseReply>().times.write,
            smb::kLastFileTime);
}

}  // namespace
}  // namespace kyanite::drive
