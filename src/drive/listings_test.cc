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
  std::string list(const smb::FileId& directory, std::string pattern,
                   uint8_t flags = smb::query_directory_flag::kReopen) {
    smb::QueryDirectoryRequest request;
    request.info_class = smb::FileClass::kNames;
    request.flags = flags;
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

TEST_F(Listings, WhatIsAskedForAnewIsWhatIsLookedForFromThenOn) {
  namespace flag = smb::query_directory_flag;
  const smb::FileId directory = create("directory", true);
  for (const char* name : {"P1", "P2", "Q1"}) create(std::string("directory\\") + name, false);
  const struct {
    const char* what;
    uint8_t flags;
    const char* pattern;
    Status status;
    size_t p, q;
  } rows[] = {
      {"the first question", 0, "P*", Status::kSuccess, 2, 0},
      {"going on", 0, "Q*", Status::kNoMoreFiles, 0, 0},
      {"from the beginning", flag::kRestart, "", Status::kSuccess, 2, 0},
      {"with another pattern", flag::kRestart, "Q*", Status::kSuccess, 0, 1},
      {"which stays", flag::kRestart, "", Status::kSuccess, 0, 1},
      {"nothing, after something was found", flag::kRestart, "R*", Status::kNoMoreFiles, 0, 0},
      {"nothing, of a directory opened anew", flag::kReopen, "R*", Status::kNoSuchFile, 0, 0},
      {"what is no pattern", flag::kRestart, "a\\b", Status::kObjectNameInvalid, 0, 0},
  };
  for (const auto& [what, flags, pattern, status, p, q] : rows) {
    const auto answer = client.converse(list(directory, pattern, flags));
    ASSERT_EQ(answer.size(), 1u) << what;
    EXPECT_EQ(answer[0].status(), status) << what;
    if (status != Status::kSuccess) continue;
    EXPECT_EQ(names(answer[0], 'P'), p) << what;
    EXPECT_EQ(names(answer[0], 'Q'), q) << what;
  }
}

}  // namespace
}  // namespace kyanite::drive
