#include "upkeep/backup_list.h"

#include <gtest/gtest.h>

namespace kyanite::upkeep {

namespace {

BackupList example() {
  BackupList list{"aa", "bb", 7, {}};
  list.files["FORMAT"] = {7, 10, 1, false};
  list.files["records/000012.sst"] = {3, 4096, 0xffffffff, true};
  list.files["extents/0000000000000001.ext"] = {1, uint64_t{1} << 40, 0, true};
  return list;
}

TEST(BackupList, ComesBackFromItsText) {
  const auto text = text_of(example());
  const auto list = parse_backup_list(text);
  ASSERT_TRUE(list);
  EXPECT_EQ(text_of(*list), text);
  EXPECT_EQ(list->files.at("records/000012.sst").crc32c, 0xffffffff);
  EXPECT_TRUE(list->files.at("records/000012.sst").final);
  EXPECT_EQ(stored_name("records/000012.sst", {3, 0, 0, true}), "files/records_000012.sst.3");
}

TEST(BackupList, EveryBitCounts) {
  const auto text = text_of(example());
  for (size_t at = 0; at < text.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string spoilt = text;
      spoilt[at] = static_cast<char>(spoilt[at] ^ (1 << bit));
      EXPECT_FALSE(parse_backup_list(spoilt)) << at << " " << bit;
    }
    EXPECT_FALSE(parse_backup_list(text.substr(0, at)));
  }
}

TEST(BackupList, FilesAreWithinTheDirectory) {
  for (const std::string name :
       {"../x", "/x", "records/../x", "records/a/b", "other/x", ".x", ""}) {
    BackupList list = example();
    list.files[name] = {1, 1, 1, true};
    EXPECT_FALSE(parse_backup_list(text_of(list))) << name;
  }
}

}  // namespace

}  // namespace kyanite::upkeep
