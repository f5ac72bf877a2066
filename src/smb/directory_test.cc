#include "smb/directory.h"

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "smb/bytes_test_support.h"

namespace kyanite::smb {
namespace {

DirectoryEntry entry_called(std::string name) {
  DirectoryEntry entry;
  entry.times = {0x11, 0x22, 0x33, 0x44};
  entry.end_of_file = 100;
  entry.allocation_size = 4096;
  entry.attributes = 0x20;
  entry.ea_size = 5;
  entry.reparse_tag = 6;
  entry.file_id = 0x7172737475767778;
  entry.name = std::move(name);
  return entry;
}

// What every class but kNames begins with.
Bytes head(size_t size) {
  Bytes bytes(size);
  bytes.u64(8, 0x11).u64(16, 0x22).u64(24, 0x33).u64(32, 0x44).u64(40, 100).u64(48, 4096);
  return bytes.u32(56, 0x20).u32(60, 4);
}

TEST(Directory, EntriesHaveTheirFieldsInTheirPlaces) {
  constexpr uint64_t kId = 0x7172737475767778;
  struct Row {
    FileClass info_class;
    Bytes bytes;
  };
  for (const Row& row : {
           Row{FileClass::kDirectory, head(68).utf16(64, "ab")},
           Row{FileClass::kFullDirectory, head(72).u32(64, 5).utf16(68, "ab")},
           Row{FileClass::kBothDirectory, head(98).u32(64, 5).utf16(94, "ab")},
           Row{FileClass::kNames, Bytes(16).u32(8, 4).utf16(12, "ab")},
           Row{FileClass::kIdBothDirectory, head(108).u32(64, 5).u64(96, kId).utf16(104, "ab")},
           Row{FileClass::kIdFullDirectory, head(84).u32(64, 5).u64(72, kId).utf16(80, "ab")},
           Row{FileClass::kIdExtdDirectory,
               head(92).u32(64, 5).u32(68, 6).u64(72, kId).utf16(88, "ab")},
       }) {
    EXPECT_TRUE(is_directory_class(row.info_class));
    std::string out;
    DirectoryWriter writer(out, row.info_class, 1000);
    EXPECT_TRUE(writer.add(entry_called("ab")));
    EXPECT_EQ(hex(out), hex(row.bytes.str())) << name(row.info_class);
    const auto found = read_directory(out, row.info_class);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->at(0).name, "ab");
    EXPECT_EQ(found->at(0).end_of_file, row.info_class == FileClass::kNames ? 0u : 100u);
    for (size_t size = 1; size < out.size(); ++size) {
      EXPECT_FALSE(read_exactly(out.substr(0, size), [&](std::string_view exact) {
        return read_directory(exact, row.info_class);
      }));
    }
  }
  EXPECT_FALSE(is_directory_class(FileClass::kBasic));
}

TEST(Directory, EntriesAreChainedAndAligned) {
  std::string out;
  DirectoryWriter writer(out, FileClass::kNames, 1000);
  ASSERT_TRUE(writer.add(entry_called("a")));    // 14 bytes
  ASSERT_TRUE(writer.add(entry_called("bcd")));  // 18 bytes
  ASSERT_TRUE(writer.add(entry_called("ef")));
  EXPECT_EQ(hex(out), hex(Bytes(56)
                              .u32(0, 16)
                              .u32(8, 2)
                              .utf16(12, "a")
                              .u32(16, 24)
                              .u32(24, 6)
                              .utf16(28, "bcd")
                              .u32(48, 4)
                              .utf16(52, "ef")
                              .str()));
  const auto found = read_directory(out, FileClass::kNames);
  ASSERT_TRUE(found);
  ASSERT_EQ(found->size(), 3u);
  EXPECT_EQ(found->at(2).name, "ef");
}

TEST(Directory, EndsWhereTheRoomDoes) {
  std::string out = "something before";
  DirectoryWriter writer(out, FileClass::kNames, 34);
  ASSERT_TRUE(writer.add(entry_called("a")));
  EXPECT_FALSE(writer.add(entry_called("bcde"))) << "36 bytes";
  EXPECT_EQ(out.size(), 16u + 14u) << "nothing of it is left";
  ASSERT_TRUE(writer.add(entry_called("bcd"))) << "just 34";
  EXPECT_EQ(out.size(), 16u + 34u);
  EXPECT_EQ(read_directory(std::string_view(out).substr(16), FileClass::kNames)->size(), 2u);
  std::string nothing;
  EXPECT_FALSE(DirectoryWriter(nothing, FileClass::kNames, 13).add(entry_called("a")));
  EXPECT_EQ(nothing, "");
}

TEST(Notifications, AreChainedAndAligned) {
  const std::vector<Notification> notifications = {{NotifyAction::kRenamedOld, "a"},
                                                   {NotifyAction::kRenamedNew, "dir\\b"}};
  const auto out = encode_notifications(notifications, 38);
  ASSERT_TRUE(out);
  EXPECT_EQ(hex(*out), hex(Bytes(38)
                               .u32(0, 16)
                               .u32(4, 4)
                               .u32(8, 2)
                               .utf16(12, "a")
                               .u32(20, 5)
                               .u32(24, 10)
                               .utf16(28, "dir\\b")
                               .str()));
  EXPECT_EQ(read_notifications(*out), notifications);
  EXPECT_EQ(encode_notifications(notifications, 37), std::nullopt);
  EXPECT_EQ(encode_notifications({}, 0), "");
}

}  // namespace
}  // namespace kyanite::smb
