// QUERY_DIRECTORY: requests of one open beside each other.
#include <gtest/gtest.h>

#include "drive/test_support.h"
#include "smb/create.h"
#include "smb/directory.h"
#include "smb/query.h"

namespace kyanite::drive {
namespace {

using smb::Command;
using smb::Status;

class Listings : public testing::Test {
 protected:
  Listings() {
    client.asked_credits = 100;
    client.come_in();
    client.connect("\\\\s\\data");
  }
  smb::FileId create(const std::string& name, bool directory) {
    smb::CreateRequest request;
    request.name = name;
    request.desired_access = smb::kGenericAllMeans;
    request.share_access = 7;
    request.disposition = smb::Disposition::kOpenIf;
    if (directory) request.options = smb::create_option::kDirectoryFile;
    const auto answer = client.ask(Command::kCreate, request);
    CHECK(answer && answer->status() == Status::kSuccess);
    return answer->body<smb::CreateReply>().file;
  }
  std::string list(const smb::FileId& directory, std::string pattern) {
    smb::QueryDirectoryRequest request;
    request.info_class = smb::FileClass::kNames;
    request.flags = smb::query_directory_flag::kReopen;
    request.file = directory;
    request.pattern = std::move(pattern);
    request.output_length = kBytesPerCredit;
    return client.protect({client.message(Command::kQueryDirectory, request)});
  }
  // Without running what waits.
  Detached begin(std::string frame) {
    (void)co_await client.connection.receive(Buffer::copy_of(frame));
  }
  // How often the letter, which each name begins with, is in the output.
  size_t names(const Received& answer, char letter) {
    size_t count = 0;
    const std::string output(answer.body<smb::OutputReply>().output);
    for (size_t at = 0; at < output.size(); at += 2) count += output[at] == letter;
    return count;
  }
  TestWorld world;
  TestClient client{world};
};

TEST_F(Listings, GoOneAfterTheOther) {
  constexpr size_t kFiles = 300;  // More than are taken from the store at once.
  const smb::FileId directory = create("directory", true);
  for (size_t i = 0; i < kFiles; ++i) {
    create("directory\\P" + std::to_string(i), false);
    create("directory\\Q" + std::to_string(i), false);
  }
  begin(list(directory, "P*"));
  begin(list(directory, "Q*"));
  world.loop.run_ready();
  ASSERT_EQ(client.carrier.frames.size(), 2u);
  const auto first = client.take();
  const auto second = client.take();
  ASSERT_EQ(first.at(0).status(), Status::kSuccess);
  ASSERT_EQ(second.at(0).status(), Status::kSuccess);
  EXPECT_EQ(names(first[0], 'P'), kFiles);
  EXPECT_EQ(names(first[0], 'Q'), 0u);
  EXPECT_EQ(names(second[0], 'P'), 0u);
  EXPECT_EQ(names(second[0], 'Q'), kFiles);
}

}  // namespace
}  // namespace kyanite::drive
