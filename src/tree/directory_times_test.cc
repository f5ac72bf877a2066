// The times of a directory tell when something came into it or left it through a handle.
#include <gtest/gtest.h>

#include "tree/directory_cursor.h"
#include "tree/handle_info.h"
#include "tree/handles_test_support.h"

namespace kyanite::tree {
namespace {

constexpr HandleTree::Order kDirectory{Disposition::kOpenIf, Kind::kDirectory};

class DirectoryTimes : public testing::Test {
 protected:
  // Both times of writing, which are one here, as a holder of a handle sees them.
  Time shown(const std::string& path) {
    Opened directory = files_.open(path, kDirectory);
    const SmbProperties smb = files_.state(directory).smb;
    EXPECT_EQ(smb.written, smb.changed);
    EXPECT_EQ(files_.close(directory), "ok");
    return smb.written;
  }
  Time stored(const std::string& path) { return files_.find(path)->found.entry->smb.written; }
  void make(const std::string& path, HandleTree::Order order = {}) {
    Opened opened = files_.open(path, order);
    EXPECT_EQ(files_.close(opened), "ok");
  }
  // A while later.
  Time later() {
    files_.clock.advance_seconds(10);
    return files_.clock.now();
  }

  store::MemoryStore store_;
  HandleTree files_{store_};
};

TEST_F(DirectoryTimes, TellWhatCameAndWent) {
  make("one", kDirectory);
  make("two", kDirectory);
  const Time made = later();
  make("one/file");
  EXPECT_EQ(shown("one"), made);
  const Time made_directory = later();
  make("one/directory", kDirectory);
  EXPECT_EQ(shown("one"), made_directory);
  EXPECT_LT(shown("two"), made);

  const Time moved = later();
  Opened file = files_.open("one/file");
  EXPECT_EQ(files_.rename(file, "two/file"), "ok");
  EXPECT_EQ(shown("one"), moved);
  EXPECT_EQ(shown("two"), moved);

  const Time removed = later();
  EXPECT_EQ(files_.mark(file), "ok");
  EXPECT_EQ(shown("two"), moved);
  EXPECT_EQ(files_.close(file), "ok");
  EXPECT_EQ(shown("two"), removed);
  EXPECT_EQ(shown("one"), moved);
}

TEST_F(DirectoryTimes, StayWhateverIsDoneToWhatIsThere) {
  make("one", kDirectory);
  make("one/file");
  const Time before = shown("one");
  later();
  Opened file = files_.open("one/file");
  EXPECT_EQ(files_.write(file, 0, "bytes"), "ok");
  EXPECT_EQ(files_.close(file), "ok");
  make("one/file", {Disposition::kOverwrite});
  EXPECT_EQ(files_.says("one/file", {Disposition::kCreate}), "exists");
  EXPECT_EQ(shown("one"), before);
}

TEST_F(DirectoryTimes, OfTheRootAsWell) {
  const Time made = later();
  make("file");
  EXPECT_EQ(shown(""), made);
  files_.clock.advance_seconds(1);
  files_.settle_older();
  EXPECT_EQ(stored(""), made);
}

TEST_F(DirectoryTimes, AreStoredLaterWithoutAnotherEtag) {
  make("one", kDirectory);
  files_.clock.advance_seconds(1);
  files_.settle_older();
  const Time before = stored("one");
  const Time etag = files_.find("one")->found.entry->changed;
  const Time made = later();
  make("one/file");
  files_.settle_older();
  EXPECT_EQ(stored("one"), before);
  files_.clock.advance_seconds(1);
  files_.settle_older();
  EXPECT_EQ(stored("one"), made);
  EXPECT_EQ(files_.find("one")->found.entry->changed, etag);
  EXPECT_FALSE(files_.open_files.drafts().any());
}

TEST_F(DirectoryTimes, AreListed) {
  make("one", kDirectory);
  const Time made = later();
  make("one/file");
  Opened root = files_.open("", kDirectory);
  store::Occasion occasion(store_, files_.lines, files_.clock);
  DirectoryCursor cursor;
  std::vector<Time> times;
  const DirectoryCursor::Match match = [](std::string_view) { return true; };
  const DirectoryCursor::Take take = [&](const Entry& entry) {
    times.push_back(entry.smb.written);
    return true;
  };
  EXPECT_TRUE(RunLoop::run(cursor.go_on(occasion, root, "", match, take)).ok());
  EXPECT_EQ(times, std::vector<Time>{made});
  EXPECT_EQ(files_.close(root), "ok");
}

TEST_F(DirectoryTimes, ThatSomebodySetStay) {
  make("one", kDirectory);
  make("one/file");
  const Time set_to = Time::from_unix_seconds(1'000'000'000);
  Opened directory = files_.open("one", kDirectory);
  BasicOrder order;
  order.written = {TimeOrder::kSet, set_to};
  store::Occasion occasion(store_, files_.lines, files_.clock);
  EXPECT_EQ(outcome(RunLoop::run(set_basic(occasion, directory, order))), "ok");
  EXPECT_EQ(files_.state(directory).smb.written, set_to);
  files_.clock.advance_seconds(1);
  files_.settle_older();
  EXPECT_EQ(stored("one"), set_to);
  EXPECT_EQ(files_.close(directory), "ok");
}

TEST_F(DirectoryTimes, ThatARenameSetsStay) {
  make("one", kDirectory);
  make("one/file");
  const Time set_to = Time::from_unix_seconds(1'000'000'000);
  store::Occasion occasion(store_, files_.lines, files_.clock);
  const Rename order{Kind::kDirectory, files_.parse("one"), files_.parse("two")};
  const Retouch retouch = [&](Entry& entry) { entry.smb.written = set_to; };
  EXPECT_EQ(outcome(RunLoop::run(rename(occasion, files_.tree, order, retouch))), "ok");
  files_.clock.advance_seconds(1);
  files_.settle_older();
  EXPECT_EQ(stored("two"), set_to);
}

TEST_F(DirectoryTimes, FollowADirectoryThatIsMovedOrGoes) {
  make("one", kDirectory);
  make("two", kDirectory);
  const Time made = later();
  make("one/file");
  make("two/file");
  later();
  Opened moved = files_.open("one", kDirectory);
  EXPECT_EQ(files_.rename(moved, "elsewhere"), "ok");
  EXPECT_EQ(files_.close(moved), "ok");
  for (const char* path : {"two/file", "two"}) {
    Opened gone = files_.open(path, {Disposition::kOpen, Kind::kEither});
    EXPECT_EQ(files_.mark(gone), "ok");
    EXPECT_EQ(files_.close(gone), "ok");
  }
  files_.clock.advance_seconds(1);
  files_.settle_older();
  EXPECT_EQ(stored("elsewhere"), made);
  EXPECT_FALSE(files_.find("two").ok());
  EXPECT_FALSE(files_.open_files.drafts().any());
}

TEST_F(DirectoryTimes, AreStoredAtOnceWhenTooManyWait) {
  constexpr size_t kMany = Drafts::kMaxDirectories + 10;
  for (size_t i = 0; i < kMany; ++i) {
    const std::string path = "directory" + std::to_string(i);
    make(path, kDirectory);
    make(path + "/file");
  }
  EXPECT_LE(files_.open_files.drafts().count(), Drafts::kMaxDirectories);
}

}  // namespace
}  // namespace kyanite::tree
