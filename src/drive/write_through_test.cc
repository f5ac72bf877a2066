// What is written through, and by which requests.
#include "drive/write_through.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <utility>

#include "drive/test_support.h"
#include "smb/create.h"
#include "smb/file_io.h"
#include "smb/info.h"
#include "smb/ioctl.h"
#include "smb/query.h"
#include "tree/drafts.h"

namespace kyanite::drive {
namespace {

using smb::Command;
using smb::Status;

class WrittenThrough : public testing::Test {
 protected:
  WrittenThrough() {
    client.come_in();
    client.connect("\\\\s\\data");
  }
  smb::FileId create(std::string name, uint32_t options) {
    smb::CreateRequest request;
    request.name = std::move(name);
    request.desired_access = smb::kGenericAllMeans;
    request.share_access = 7;
    request.disposition = smb::Disposition::kOpenIf;
    request.options = options;
    const auto answer = client.ask(Command::kCreate, request);
    CHECK(answer && answer->status() == Status::kSuccess);
    return answer->body<smb::CreateReply>().file;
  }
  Status write(const smb::FileId& file, std::string_view bytes) {
    smb::WriteRequest request;
    request.file = file;
    request.data = bytes;
    return client.ask(Command::kWrite, request)->status();
  }
  template <class Info>
  Status set(const smb::FileId& file, const Info& info) {
    std::string input;
    smb::append_fields(input, info);
    smb::SetInfoRequest request;
    request.info_class = static_cast<uint8_t>(Info::kClass);
    request.file = file;
    request.input = input;
    return client.ask(Command::kSetInfo, request)->status();
  }
  template <class Input>
  Status control(smb::Control which, const smb::FileId& file, const Input& body) {
    std::string input;
    smb::append_fields(input, body);
    smb::IoctlRequest request;
    request.control = which;
    request.file = file;
    request.flags = smb::kIoctlFlagFsctl;
    request.max_output = 1024;
    request.input = input;
    return client.ask(Command::kIoctl, request)->status();
  }
  // Each of so many bytes, from the source to the file.
  Status copy(const smb::FileId& file, std::vector<uint32_t> lengths) {
    smb::IoctlRequest key;
    key.control = smb::Control::kRequestResumeKey;
    key.file = source;
    key.flags = smb::kIoctlFlagFsctl;
    key.max_output = 1024;
    const auto told = client.ask(Command::kIoctl, key);
    const std::string output(told->body<smb::IoctlReply>().output);
    smb::CopyChunkRequest request;
    request.key = smb::decode_input<smb::ResumeKeyReply>(output)->key;
    for (const uint32_t length : lengths) request.chunks.push_back({0, 0, length});
    return control(smb::Control::kCopyChunk, file, request);
  }
  void settle() { EXPECT_TRUE(RunLoop::run(world.shares.open_files.drafts().settle_all()).ok()); }

  TestWorld world;
  TestClient client{world};
  smb::FileId source;
};

TEST_F(WrittenThrough, AllThatIsDoneToTheBytesOfAFile) {
  using Do = std::function<Status(const smb::FileId&)>;
  const std::pair<const char*, Do> requests[] = {
      {"write", [&](auto& file) { return write(file, "new"); }},
      {"a length", [&](auto& file) { return set(file, smb::EndOfFileInfo{5}); }},
      {"less room", [&](auto& file) { return set(file, smb::AllocationInfo{3}); }},
      {"zeros",
       [&](auto& file) {
         return control(smb::Control::kSetZeroData, file, smb::ZeroDataRequest{1, 4});
       }},
      {"a copy",
       [&](auto& file) {
         return copy(file, {4, 3});
       }},
      {"a copy in part",
       [&](auto& file) {
         EXPECT_EQ(copy(file, {4, 1000}), Status::kInvalidViewSize);
         return Status::kSuccess;
       }},
  };
  struct Way {
    const char* name;
    uint32_t options;
    uint32_t mode;
    int64_t ticks;
    bool through;
  };
  const uint32_t through = smb::create_option::kWriteThrough;
  const Way ways[] = {{"later", 0, 0, kTicksPerSecond, false},
                      {"as opened", through, 0, kTicksPerSecond, true},
                      {"as set", 0, through, kTicksPerSecond, true},
                      {"always", 0, 0, 0, true}};
  source = create("source", 0);
  EXPECT_EQ(write(source, "some bytes"), Status::kSuccess);
  for (const Way& way : ways) {
    world.drive.write_behind_ticks = way.ticks;
    const smb::FileId file = create(std::string("file ") + way.name, way.options);
    EXPECT_EQ(set(file, smb::ModeInfo{way.mode}), Status::kSuccess);
    for (const auto& [name, ask] : requests) {
      EXPECT_EQ(write(file, "0123456789"), Status::kSuccess);
      settle();
      EXPECT_EQ(ask(file), Status::kSuccess) << name;
      EXPECT_EQ(world.shares.open_files.drafts().any(), !way.through) << name << ", " << way.name;
    }
  }
}

}  // namespace
}  // namespace kyanite::drive
