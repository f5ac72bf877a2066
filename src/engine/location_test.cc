#include "engine/location.h"

#include <gtest/gtest.h>

#include <fstream>

#include "engine/test_location.h"

namespace kyanite::engine {
namespace {

void write_file(const std::string& path, std::string_view text) { std::ofstream(path) << text; }

TEST(Location, IsMadeOnFirstUseAndFoundAgain) {
  TestLocation directory;
  const std::string path = directory.path() + "/new/data";
  EXPECT_TRUE(open_location(path).ok());
  EXPECT_TRUE(open_location(path).ok());
}

TEST(Location, RefusesWhatItCannotUse) {
  struct Case {
    const char* file;
    const char* text;
    const char* message;
  };
  const Case cases[] = {
      {"holiday.jpg", "x", "not made by Kyanite"},
      {"FORMAT", "kyanite 3\n", "made by a newer Kyanite"},
      {"FORMAT", "kyanite 99999999999999999999\n", "damaged"},
      {"FORMAT", "kyanite 0\n", "damaged"},
      {"FORMAT", "something else\n", "damaged"},
      {"FORMAT", "", "damaged"},
  };
  for (const auto& each : cases) {
    TestLocation directory;
    write_file(directory.path() + "/" + each.file, each.text);
    auto opened = Engine::open(directory.options());
    ASSERT_FALSE(opened.ok()) << each.message;
    EXPECT_NE(opened.error().find(each.message), std::string::npos) << opened.error();
    EXPECT_NE(opened.error().find(directory.path()), std::string::npos) << opened.error();
    EXPECT_FALSE(std::filesystem::exists(directory.path() + "/records"));
  }
}

TEST(Location, IsNotAFile) {
  TestLocation directory;
  write_file(directory.path() + "/file", "x");
  auto opened = open_location(directory.path() + "/file");
  ASSERT_FALSE(opened.ok());
  EXPECT_NE(opened.error().find("choose another location"), std::string::npos) << opened.error();
}

TEST(Location, AFreshMountAndAFirstStartCutShortAreFine) {
  TestLocation directory;
  std::filesystem::create_directory(directory.path() + "/lost+found");
  write_file(directory.path() + "/lock", "");
  write_file(directory.path() + "/FORMAT.new", "kyan");
  EXPECT_TRUE(Engine::open(directory.options()).ok());
}

TEST(Location, IsSharedWhenOthersHaveThingsThere) {
  struct Case {
    std::vector<std::string> files;
    bool shared;
  };
  const Case cases[] = {
      {{}, false},
      {{"lock", "FORMAT.new"}, false},
      {{".gitignore"}, true},
      {{"debug.log", "lock"}, true},
      {{"debug.log", "FORMAT"}, false},
      {{"debug.log", "records"}, false},
      {{"debug.log", "RESTORING"}, false},
      {{"debug.log", "__azurite_db_table__.json"}, false},
  };
  for (const auto& each : cases) {
    TestLocation directory;
    for (const auto& file : each.files) write_file(directory.path() + "/" + file, "");
    EXPECT_EQ(is_shared(directory.path()), each.shared) << each.files.size();
  }
  EXPECT_FALSE(is_shared("/nonexistent"));
}

TEST(Location, OneProcessAtATime) {
  TestLocation directory;
  auto first = directory.open();
  auto second = Engine::open(directory.options());
  ASSERT_FALSE(second.ok());
  EXPECT_NE(second.error().find("Another Kyanite process"), std::string::npos) << second.error();
  EXPECT_NE(second.error().find(directory.path()), std::string::npos) << second.error();
  EXPECT_TRUE(put(*first, "a", "still works").ok());
  first.reset();
  EXPECT_TRUE(Engine::open(directory.options()).ok());
}

}  // namespace
}  // namespace kyanite::engine
