#include "drive/credits.h"

#include <gtest/gtest.h>

#include "smb/file_io.h"
#include "smb/query.h"

namespace kyanite::drive {
namespace {

TEST(Credits, BeginWithOneAndFollowWhatIsGranted) {
  Credits credits;
  EXPECT_FALSE(credits.take(1, 1));
  EXPECT_TRUE(credits.take(0, 1));
  EXPECT_FALSE(credits.take(0, 1));         // Used.
  EXPECT_FALSE(credits.take(1, 1));         // Not granted.
  EXPECT_EQ(credits.grant(1, 0, true), 1);  // It has none: it gets one without asking.
  EXPECT_EQ(credits.grant(1, 0, true), 0);
  EXPECT_TRUE(credits.take(1, 1));
  EXPECT_EQ(credits.grant(1, 20, false), 1);
  EXPECT_EQ(credits.grant(1, 20, true), 20);
  EXPECT_FALSE(credits.take(2, 22));
  EXPECT_TRUE(credits.take(2, 21));
}

TEST(Credits, IdsComeInAnyOrderButOnce) {
  Credits credits;
  ASSERT_TRUE(credits.take(0, 1));
  ASSERT_EQ(credits.grant(1, 10, true), 10);
  EXPECT_TRUE(credits.take(5, 2));
  EXPECT_FALSE(credits.take(5, 1));
  EXPECT_FALSE(credits.take(6, 1));
  EXPECT_FALSE(credits.take(4, 2));  // 5 is used, and 4 stays free.
  EXPECT_TRUE(credits.take(4, 1));
  EXPECT_FALSE(credits.take(10, 2));  // 11 was not granted, and 10 stays free.
  EXPECT_TRUE(credits.take(10, 1));
  EXPECT_TRUE(credits.take(1, 3));
  EXPECT_FALSE(credits.take(2, 1));
  EXPECT_TRUE(credits.take(7, 3));
  EXPECT_FALSE(credits.take(11, 1));
  EXPECT_FALSE(credits.take(UINT64_MAX, 1));
}

TEST(Credits, WindowHasALimit) {
  Credits credits;
  ASSERT_TRUE(credits.take(0, 1));
  EXPECT_EQ(credits.grant(1, 65535, true), kMaxCredits);
  EXPECT_EQ(credits.grant(1, 65535, true), 0);
  // 1 is not used: what follows uses up the window, however much is asked for.
  for (uint64_t id = 2; id <= kMaxCredits; ++id) {
    ASSERT_TRUE(credits.take(id, 1));
    ASSERT_EQ(credits.grant(1, 65535, true), 0);
  }
  EXPECT_FALSE(credits.take(kMaxCredits + 1, 1));
  EXPECT_TRUE(credits.take(1, 1));
  EXPECT_EQ(credits.grant(1, 65535, true), kMaxCredits);
  EXPECT_TRUE(credits.take(kMaxCredits + 1, 128));
}

template <class Body>
uint64_t moved(smb::Command command, const Body& body) {
  smb::Header header;
  header.command = command;
  return moved_bytes(header, smb::encode(header, body));
}

TEST(Credits, RequestsSayWhatTheyMove) {
  smb::ReadRequest read;
  read.length = 70'000;
  EXPECT_EQ(moved(smb::Command::kRead, read), 70'000u);
  smb::WriteRequest write;
  const std::string data(300, 'x');
  write.data = data;
  EXPECT_EQ(moved(smb::Command::kWrite, write), 300u);
  smb::IoctlRequest control;
  control.input = data;
  EXPECT_EQ(moved(smb::Command::kIoctl, control), 300u);
  control.max_output = 1000;
  EXPECT_EQ(moved(smb::Command::kIoctl, control), 1000u);
  smb::QueryDirectoryRequest directory;
  directory.output_length = 5;
  EXPECT_EQ(moved(smb::Command::kQueryDirectory, directory), 5u);
  smb::ChangeNotifyRequest notify;
  notify.output_length = 6;
  EXPECT_EQ(moved(smb::Command::kChangeNotify, notify), 6u);
  smb::QueryInfoRequest query;
  query.output_length = 7;
  EXPECT_EQ(moved(smb::Command::kQueryInfo, query), 7u);
  query.input = data;
  EXPECT_EQ(moved(smb::Command::kQueryInfo, query), 300u);
  smb::SetInfoRequest set;
  set.input = data;
  EXPECT_EQ(moved(smb::Command::kSetInfo, set), 300u);
  EXPECT_EQ(moved(smb::Command::kEcho, smb::EmptyBody()), 0u);
  smb::Header header;
  header.command = smb::Command::kRead;
  EXPECT_EQ(moved_bytes(header, std::string(smb::kHeaderBytes + 7, 'x')), 0u);
}

}  // namespace
}  // namespace kyanite::drive
