#include "upkeep/backup_list.h"

#include <gtest/gtest.h>

#include "os/directory.h"

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

TEST(BackupList, KnowsWhatIsOfABackup) {
  for (const auto& [name, file] : example().files)
    EXPECT_TRUE(is_stored_name(stored_name(name, file))) << name;
  for (const char* name : {"files/photo.jpg", "files/photo.1", "files/records.1", "files/records_1",
                           "files/FORMAT", "files/FORMAT.x", "files/FORMAT.", "files/sub/FORMAT.1",
                           "files/records_a/b.1", "FORMAT.1", "files.1", "files/", "files/.1", ""})
    EXPECT_FALSE(is_stored_name(name)) << name;
}

// A directory that has others' files is left alone, also where they lie in one called "files".
TEST(BackupPlace, LeavesAloneWhatIsNotOfABackup) {
  const std::string path = testing::TempDir() + "backup_place";
  ASSERT_TRUE(os::remove_tree(path).ok());
  ASSERT_TRUE(os::make_directories(path + "/files").ok());
  const auto place = directory_place(path);
  EXPECT_FALSE(*place->has_others());
  // What a backup that failed has left.
  ASSERT_TRUE(os::write_text(path + "/files", "records_CURRENT.1", "left").ok());
  EXPECT_FALSE(*place->has_others());
  ASSERT_TRUE(os::write_text(path + "/files", "a photo.jpg", "dear to somebody").ok());
  EXPECT_TRUE(*place->has_others());
  const auto listed = place->list();
  ASSERT_TRUE(listed);
  EXPECT_EQ(listed->size(), 1u) << "what is not of a backup is never removed";
  ASSERT_TRUE(os::remove_tree(path).ok());
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
