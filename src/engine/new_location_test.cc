#include "engine/new_location.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "engine/location.h"
#include "engine/test_location.h"

namespace kyanite::engine {
namespace {

std::set<std::string> names_in(const std::string& path) {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(path))
    names.insert(entry.path().filename());
  return names;
}

TEST(NewLocation, IsNoDataDirectoryBeforeItIsWhole) {
  TestLocation directory;
  const std::string path = directory.path() + "/new";
  auto made = NewLocation::begin(path, kImporting);
  ASSERT_TRUE(made.ok()) << made.error();
  std::ofstream(path + "/FORMAT") << "kyanite 2\n";
  auto opened = open_location(path);
  ASSERT_FALSE(opened.ok());
  EXPECT_NE(opened.error().find("not brought over to its end"), std::string::npos)
      << opened.error();
  ASSERT_TRUE(made->finish().ok());
  // The lock is kept until the command ends.
  opened = open_location(path);
  ASSERT_FALSE(opened.ok());
  EXPECT_NE(opened.error().find("Another Kyanite process"), std::string::npos) << opened.error();
  made = Failure{std::string()};
  EXPECT_TRUE(open_location(path).ok());
}

TEST(NewLocation, IsBegunAnew) {
  TestLocation directory;
  for (int round = 0; round < 2; ++round) {
    auto made = NewLocation::begin(directory.path(), kRestoring);
    ASSERT_TRUE(made.ok()) << made.error();
    EXPECT_EQ(names_in(directory.path()), (std::set<std::string>{"lock", kRestoring}));
    std::filesystem::create_directory(directory.path() + "/records");
    std::ofstream(directory.path() + "/records/CURRENT") << "x";
  }
  // Not by another command.
  auto other = NewLocation::begin(directory.path(), kImporting);
  ASSERT_FALSE(other.ok());
  EXPECT_EQ(other.error(), "the directory is not empty");
  EXPECT_TRUE(std::filesystem::exists(directory.path() + "/records/CURRENT"));
}

TEST(NewLocation, TouchesNothingOfOthers) {
  TestLocation foreign;
  std::ofstream(foreign.path() + "/holiday.jpg") << "x";
  auto made = NewLocation::begin(foreign.path(), kRestoring);
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.error(), "the directory is not empty");
  EXPECT_EQ(names_in(foreign.path()), std::set<std::string>{"holiday.jpg"});

  TestLocation used;
  const auto first = NewLocation::begin(used.path(), kRestoring);
  ASSERT_TRUE(first.ok());
  auto second = NewLocation::begin(used.path(), kRestoring);
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error(), "a server or another command uses the directory");
}

}  // namespace
}  // namespace kyanite::engine
