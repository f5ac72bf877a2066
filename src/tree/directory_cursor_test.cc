#include "tree/directory_cursor.h"

#include <gtest/gtest.h>

#include <set>

#include "tree/handles_test_support.h"

namespace kyanite::tree {
namespace {

class Directories : public testing::Test {
 protected:
  void make(int count, const std::string& prefix = "file") {
    for (int i = 0; i < count; ++i)
      ASSERT_EQ(RunLoop::run(files_.create("directory/" + prefix + std::to_string(1000 + i))),
                "ok");
  }
  // Up to `most` names.
  std::vector<std::string> take(DirectoryCursor& cursor, Opened& directory, size_t most,
                                const std::string& prefix = "") {
    store::Occasion occasion(store_, files_.lines, files_.clock);
    std::vector<std::string> names;
    const DirectoryCursor::Match match = [](std::string_view) { return true; };
    const DirectoryCursor::Take add = [&](const Entry& entry) {
      if (names.size() == most) return false;
      names.push_back(entry.name);
      return true;
    };
    EXPECT_TRUE(RunLoop::run(cursor.go_on(occasion, directory, prefix, match, add)).ok());
    return names;
  }
  Opened open_directory() {
    return files_.open("directory", {Disposition::kOpenIf, Kind::kDirectory});
  }

  store::MemoryStore store_;
  HandleTree files_{store_};
};

TEST_F(Directories, AreReadInPortionsOfAnySize) {
  Opened directory = open_directory();
  make(700);
  for (const size_t most : {size_t{1}, size_t{7}, size_t{256}, size_t{300}, size_t{10'000}}) {
    DirectoryCursor cursor;
    std::vector<std::string> all;
    while (true) {
      auto names = take(cursor, directory, most);
      if (names.empty()) break;
      all.insert(all.end(), names.begin(), names.end());
    }
    EXPECT_EQ(all.size(), 700u) << most;
    EXPECT_EQ(std::set<std::string>(all.begin(), all.end()).size(), 700u) << most;
    cursor.restart();
    EXPECT_EQ(take(cursor, directory, 1), std::vector<std::string>{"file1000"});
  }
  EXPECT_EQ(files_.close(directory), "ok");
}

TEST_F(Directories, ShowEachNameOnceWhateverComesAndGoes) {
  Opened directory = open_directory();
  make(20);
  DirectoryCursor cursor;
  EXPECT_EQ(take(cursor, directory, 10).back(), "file1009");
  ASSERT_EQ(RunLoop::run(files_.remove("directory/file1010")), "ok");
  ASSERT_EQ(RunLoop::run(files_.create("directory/file1010a")), "ok");
  ASSERT_EQ(RunLoop::run(files_.create("directory/a")), "ok");
  auto rest = take(cursor, directory, 100);
  EXPECT_EQ(rest.size(), 10u);
  EXPECT_EQ(rest.front(), "file1010a");
  EXPECT_TRUE(take(cursor, directory, 100).empty());
  EXPECT_EQ(files_.close(directory), "ok");
}

TEST_F(Directories, ShowWhatIsNotStoredYet) {
  Opened directory = open_directory();
  Opened file = files_.open("directory/file");
  ASSERT_EQ(files_.write(file, 0, "12345"), "ok");
  store::Occasion occasion(store_, files_.lines, files_.clock);
  uint64_t length = 0;
  const DirectoryCursor::Match match = [](std::string_view) { return true; };
  const DirectoryCursor::Take see = [&](const Entry& entry) {
    length = entry.content.length;
    return true;
  };
  DirectoryCursor cursor;
  ASSERT_TRUE(RunLoop::run(cursor.go_on(occasion, directory, "", match, see)).ok());
  EXPECT_EQ(length, 5u);
  EXPECT_EQ(files_.stored("directory/file"), "");
  EXPECT_EQ(files_.close(file), "ok");
  EXPECT_EQ(files_.close(directory), "ok");
}

// Counts where it is looked at.
class CountingStore final : public store::MemoryStore {
 public:
  std::unique_ptr<store::Snapshot> snapshot() override {
    return std::make_unique<Counting>(store::MemoryStore::snapshot(), *this);
  }
  size_t looks = 0;
  size_t scans = 0;

 private:
  class Counting final : public store::Snapshot {
   public:
    Counting(std::unique_ptr<store::Snapshot> all, CountingStore& counts)
        : all_(std::move(all)), counts_(counts) {}
    Task<store::Result<void>> look(store::Look look) override {
      ++counts_.looks;
      return all_->look(std::move(look));
    }
    Task<store::Result<void>> scan(store::Look look) override {
      ++counts_.scans;
      return all_->scan(std::move(look));
    }

   private:
    const std::unique_ptr<store::Snapshot> all_;
    CountingStore& counts_;
  };
};

// A look that has had enough ends, and what takes long is done where nobody waits for the thread.
TEST(DirectoryCursor, LetsOthersHaveTheirTurn) {
  constexpr int kFiles = 300;
  CountingStore store;
  HandleTree files(store);
  Opened directory = files.open("directory", {Disposition::kOpenIf, Kind::kDirectory});
  for (int i = 0; i < kFiles; ++i)
    ASSERT_EQ(RunLoop::run(files.create("directory/file" + std::to_string(i))), "ok");
  const auto match_none = [](std::string_view) { return false; };
  const auto take_none = [](const Entry&) { return false; };
  for (const auto effort : {DirectoryCursor::Effort::kLittle, DirectoryCursor::Effort::kMuch}) {
    store::Occasion occasion(store, files.lines, files.clock);
    store.looks = store.scans = 0;
    DirectoryCursor cursor;
    ASSERT_TRUE(
        RunLoop::run(cursor.go_on(occasion, directory, "", match_none, take_none, effort)).ok());
    const bool much = effort == DirectoryCursor::Effort::kMuch;
    EXPECT_GE(much ? store.scans : store.looks, 3u);
    EXPECT_EQ(much ? store.looks : store.scans, 0u);
  }
  EXPECT_EQ(files.close(directory), "ok");
}

TEST_F(Directories, ThatHaveManyNamesShowFewFast) {
  Opened directory = open_directory();
  make(300, "a");
  make(5, "b");
  DirectoryCursor cursor;
  const std::string folded = stored_name(kShareNames, "b");
  EXPECT_EQ(take(cursor, directory, 100, folded).size(), 5u);
  EXPECT_EQ(files_.close(directory), "ok");
}

}  // namespace
}  // namespace kyanite::tree
