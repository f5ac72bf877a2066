#include "os/file.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "os/directory.h"
#include "os/fault.h"

namespace kyanite::os {
namespace {

class FileTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "/kyanite-os-XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    directory_ = pattern;
  }
  void TearDown() override {
    set_fault_hook({});
    std::filesystem::remove_all(directory_);
  }
  std::shared_ptr<const File> create(const std::string& name) {
    auto file = File::open(directory_ + "/" + name, File::Mode::kCreateNew);
    EXPECT_TRUE(file.ok());
    return *file;
  }

  std::string directory_;
};

TEST_F(FileTest, ReadsBackWhatWasWritten) {
  auto file = create("a");
  ASSERT_TRUE(file->write_at("hello", 10).ok());
  char bytes[8] = {};
  auto count = file->read_at(bytes, sizeof bytes, 10);
  ASSERT_TRUE(count.ok());
  EXPECT_EQ(std::string_view(bytes, *count), "hello");
  EXPECT_EQ(file->status()->size, 15u);
}

TEST_F(FileTest, CreateNewRefusesAnExistingFile) {
  create("a");
  auto again = File::open(directory_ + "/a", File::Mode::kCreateNew);
  ASSERT_FALSE(again.ok());
  EXPECT_EQ(again.error().code, EEXIST);
  EXPECT_NE(again.error().what.find(directory_ + "/a"), std::string::npos);
}

TEST_F(FileTest, ShortWritesAndReadsAreCompleted) {
  set_fault_hook([](SystemCall, std::string_view) { return Fault{0, 3}; });
  auto file = create("a");
  const std::string text = "longer than three bytes";
  ASSERT_TRUE(file->write_at(text, 0).ok());
  std::string back(text.size(), '\0');
  auto count = file->read_at(back.data(), back.size(), 0);
  ASSERT_TRUE(count.ok());
  EXPECT_EQ(*count, text.size());
  EXPECT_EQ(back, text);
}

TEST_F(FileTest, PiecesGoOneBehindTheOther) {
  const std::array<std::string_view, 4> pieces{"one piece, ", "", "another", ", the last"};
  for (const size_t at_most : {SIZE_MAX, size_t{3}}) {
    set_fault_hook([&](SystemCall, std::string_view) { return Fault{0, at_most}; });
    auto file = create("pieces" + std::to_string(at_most));
    ASSERT_TRUE(file->write_pieces_at(pieces, 100).ok());
    std::string back(28, '\0');
    ASSERT_TRUE(file->read_at(back.data(), back.size(), 100).ok());
    EXPECT_EQ(back, "one piece, another, the last");
    EXPECT_EQ(file->status()->size, 128u);
  }
}

TEST_F(FileTest, InjectedErrorsComeBackAsThemselves) {
  auto file = create("a");
  struct Case {
    SystemCall call;
    std::function<int()> act;
  };
  char byte = 0;
  const std::vector<Case> cases = {
      {SystemCall::kWrite, [&] { return file->write_at("x", 0).error().code; }},
      {SystemCall::kWrite,
       [&] {
         const std::array<std::string_view, 2> pieces{"x", "y"};
         return file->write_pieces_at(pieces, 0).error().code;
       }},
      {SystemCall::kRead, [&] { return file->read_at(&byte, 1, 0).error().code; }},
      {SystemCall::kRead, [&] { return file->read_cached_at(&byte, 1, 0).error().code; }},
      {SystemCall::kSync, [&] { return file->sync_data().error().code; }},
      {SystemCall::kAllocate, [&] { return file->allocate(0, 4096).error().code; }},
      {SystemCall::kPunchHole, [&] { return file->punch_hole(0, 4096).error().code; }},
      {SystemCall::kTruncate, [&] { return file->truncate(0).error().code; }},
      {SystemCall::kStatus, [&] { return file->status().error().code; }},
      {SystemCall::kLock, [&] { return file->try_lock().error().code; }},
      {SystemCall::kSync, [&] { return sync_directory(directory_).error().code; }},
      {SystemCall::kList, [&] { return list_directory(directory_).error().code; }},
      {SystemCall::kRemove, [&] { return remove_file(directory_ + "/a").error().code; }},
      {SystemCall::kRename, [&] { return rename_file(directory_ + "/a", "b").error().code; }},
      {SystemCall::kMakeDirectory,
       [&] { return make_directories(directory_ + "/d").error().code; }},
      {SystemCall::kStatus, [&] { return free_bytes(directory_).error().code; }},
      {SystemCall::kOpen, [&] { return read_text(directory_ + "/a").error().code; }},
  };
  for (const auto& each : cases) {
    set_fault_hook([&](SystemCall call, std::string_view) {
      return call == each.call ? Fault{ENOSPC} : Fault{};
    });
    EXPECT_EQ(each.act(), ENOSPC) << static_cast<int>(each.call);
  }
  EXPECT_TRUE(is_out_of_space(ENOSPC));
  EXPECT_FALSE(is_out_of_space(EIO));
}

TEST_F(FileTest, AllocationReservesAndHolesGiveBack) {
  auto file = create("a");
  ASSERT_TRUE(file->allocate(0, 1 << 20).ok());
  EXPECT_EQ(file->status()->size, 1u << 20);
  const uint64_t before = file->status()->allocated_bytes;
  ASSERT_TRUE(file->write_at(std::string(8192, 'x'), 0).ok());
  auto punched = file->punch_hole(0, 1 << 19);
  if (!punched && punched.error().code == EOPNOTSUPP) GTEST_SKIP() << "no holes here";
  ASSERT_TRUE(punched.ok());
  EXPECT_LT(file->status()->allocated_bytes, before);
  EXPECT_EQ(file->status()->size, 1u << 20);
  char byte = 'y';
  ASSERT_TRUE(file->read_at(&byte, 1, 100).ok());
  EXPECT_EQ(byte, '\0');
}

TEST_F(FileTest, OneLockAtATime) {
  auto first = File::open(directory_ + "/lock", File::Mode::kCreateOrOpen);
  auto second = File::open(directory_ + "/lock", File::Mode::kCreateOrOpen);
  EXPECT_TRUE(*(*first)->try_lock());
  EXPECT_FALSE(*(*second)->try_lock());
  *first = nullptr;
  EXPECT_TRUE(*(*second)->try_lock());
}

TEST_F(FileTest, ReadTextAndWriteText) {
  ASSERT_TRUE(write_text(directory_, "note", "a long first version").ok());
  ASSERT_TRUE(write_text(directory_, "note", "second").ok());
  EXPECT_EQ(*read_text(directory_ + "/note"), "second");
  EXPECT_EQ(read_text(directory_ + "/none").error().code, ENOENT);
}

TEST_F(FileTest, SecretsAreTheOwnersAlone) {
  const auto mode = [&] {
    struct stat found {};
    EXPECT_EQ(stat((directory_ + "/secret").c_str(), &found), 0);
    return found.st_mode & 0777;
  };
  ASSERT_TRUE(write_text(directory_, "secret.new", "left by a crash, for everybody").ok());
  ASSERT_TRUE(write_secret(directory_, "secret", "first").ok());
  EXPECT_EQ(mode(), 0600U);
  ASSERT_TRUE(write_secret(directory_, "secret", "second").ok());
  EXPECT_EQ(mode(), 0600U);
  EXPECT_EQ(*read_text(directory_ + "/secret"), "second");
  EXPECT_FALSE(write_secret(directory_ + "/none", "secret", "x").ok());
}

TEST_F(FileTest, WriteTextLeavesTheOldTextWhateverFails) {
  ASSERT_TRUE(write_text(directory_, "note", "old").ok());
  bool done = false;
  for (int n = 1; !done; ++n) {
    std::atomic<int> calls{0};
    set_fault_hook([&](SystemCall, std::string_view) { return Fault{++calls == n ? EIO : 0}; });
    done = write_text(directory_, "note", "new").ok();
    set_fault_hook({});
    auto text = read_text(directory_ + "/note");
    ASSERT_TRUE(text.ok());
    EXPECT_TRUE(*text == "new" || (!done && *text == "old")) << n << ": " << *text;
  }
}

TEST_F(FileTest, MakesDirectoriesWithParents) {
  const std::string deep = directory_ + "/a/b/c";
  ASSERT_TRUE(make_directories(deep).ok());
  ASSERT_TRUE(make_directories(deep).ok());
  EXPECT_EQ(*list_directory(directory_ + "/a"), std::vector<std::string>{"b"});
  create("plain");
  EXPECT_EQ(make_directories(directory_ + "/plain").error().code, ENOTDIR);
  EXPECT_EQ(make_directories(directory_ + "/plain/x").error().code, ENOTDIR);
}

TEST_F(FileTest, RemovingTwiceIsFine) {
  create("a");
  EXPECT_TRUE(remove_file(directory_ + "/a").ok());
  EXPECT_TRUE(remove_file(directory_ + "/a").ok());
  EXPECT_TRUE(list_directory(directory_)->empty());
}

}  // namespace
}  // namespace kyanite::os
