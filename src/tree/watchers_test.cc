#include "tree/watchers.h"

#include <gtest/gtest.h>

#include <string>

#include "base/started.h"
#include "tree/announce.h"
#include "tree/test_support.h"

namespace kyanite::tree {
namespace {

std::string text_of(const Watchers::Seen& seen) {
  std::string text = seen.too_many ? "too many" : "";
  for (const SeenChange& change : seen.changes)
    text += (text.empty() ? "" : " ") + std::string(1, "+-~<>"[static_cast<int>(change.kind)]) +
            change.path;
  return text;
}
std::string text_of(const kyanite::Result<Watchers::Seen, Watchers::Ending>& seen) {
  if (seen) return text_of(*seen);
  return "ending " + std::to_string(static_cast<int>(seen.error()));
}

constexpr ChangedParts kNames = kFileNameChanged | kDirectoryNameChanged;
constexpr ChangedParts kAll = 0xFFF;

class WatchedTree : public ::testing::Test {
 protected:
  FileKey key(const std::string& path) {
    auto located = files.find(path);
    EXPECT_TRUE(located.ok()) << path;
    return located ? located->key() : FileKey();
  }
  Watchers::WatchId watch(const std::string& path, bool recursive, ChangedParts parts = kAll) {
    const auto watching = watchers().watch(key(path), recursive, parts);
    EXPECT_TRUE(watching);
    return *watching;
  }
  std::string next(Watchers::WatchId watching) {
    return text_of(RunLoop::run(watchers().next(watching, 1)));
  }
  Watchers& watchers() { return files.open_files.watchers(); }
  std::string create(const std::string& path, bool directory = false, bool replaces = false) {
    Creation creation;
    creation.replaces = replaces;
    return RunLoop::run(files.create(path, directory, creation));
  }

  store::MemoryStore store;
  TestTree files{store};
};

TEST_F(WatchedTree, SeesWhatChangesByWhomever) {
  ASSERT_EQ(create("d", true), "ok");
  ASSERT_EQ(create("d/sub", true), "ok");
  const auto flat = watch("d", false);
  const auto deep = watch("d", true);
  const auto root = watch("", true);
  ASSERT_EQ(create("d/File"), "ok");
  EXPECT_EQ(next(flat), "+File");
  EXPECT_EQ(next(deep), "+File");
  EXPECT_EQ(next(root), "+d/File");
  ASSERT_EQ(create("d/sub/x"), "ok");
  ASSERT_EQ(RunLoop::run(files.remove("d/sub/x")), "ok");
  EXPECT_EQ(next(deep), "+sub/x -sub/x") << "what was kept comes at once";
  ASSERT_EQ(RunLoop::run(files.remove("d/sub", true)), "ok");
  EXPECT_EQ(next(flat), "-sub");
  ASSERT_EQ(create("elsewhere"), "ok");
  ASSERT_EQ(RunLoop::run(files.move("d/file", "d/Other", Kind::kFile)), "ok");
  EXPECT_EQ(next(flat), "<File >Other");
  ASSERT_EQ(RunLoop::run(files.move("d/other", "gone", Kind::kFile)), "ok");
  EXPECT_EQ(next(flat), "-Other");
  EXPECT_EQ(next(root),
            "+d/sub/x -d/sub/x -d/sub +elsewhere <d/File >d/Other -d/Other "
            "+gone");
}

TEST_F(WatchedTree, OnlyPartsThatWereAskedFor) {
  ASSERT_EQ(create("d", true), "ok");
  const auto names = watch("d", false, kFileNameChanged);
  const auto directories = watch("d", false, kDirectoryNameChanged);
  ASSERT_EQ(create("d/sub", true), "ok");
  ASSERT_EQ(create("d/file"), "ok");
  EXPECT_EQ(next(names), "+file");
  EXPECT_EQ(next(directories), "+sub");
}

TEST_F(WatchedTree, TellsPartsApart) {
  Entry before;
  Entry after = before;
  EXPECT_EQ(changed_parts(before, after), 0u);
  after.metadata = {{"a", "b"}};
  EXPECT_EQ(changed_parts(before, after), 0u);
  after.smb.attributes = kReadOnlyAttribute;
  EXPECT_EQ(changed_parts(before, after), kAttributesChanged);
  after.content.length = 1;
  after.smb.written = {5};
  after.smb.created = {5};
  after.smb.permission_key = "p";
  EXPECT_EQ(changed_parts(before, after), kAttributesChanged | kSizeChanged | kLastWriteChanged |
                                              kCreationChanged | kSecurityChanged);
}

TEST_F(WatchedTree, NothingThatFailedIsTold) {
  ASSERT_EQ(create("file"), "ok");
  const auto root = watch("", true);
  EXPECT_EQ(create("file"), "exists");
  EXPECT_EQ(create("none/file"), "no parent");
  EXPECT_EQ(RunLoop::run(files.remove("none")), "not found");
  EXPECT_EQ(RunLoop::run(files.move("none", "other", Kind::kFile)), "not found");
  ASSERT_EQ(create("last"), "ok");
  EXPECT_EQ(next(root), "+last");
}

TEST_F(WatchedTree, WhoWaitsIsWoken) {
  const auto root = watch("", false, kNames);
  Started first(watchers().next(root, 1));
  Started second(watchers().next(root, 2));
  Started third(watchers().next(root, 3));
  ASSERT_EQ(create("a"), "ok");
  EXPECT_EQ(text_of(RunLoop::run(first.join())), "+a");
  watchers().cancel(root, 2);
  EXPECT_EQ(RunLoop::run(second.join()).error(), Watchers::Ending::kCancelled);
  watchers().close(root);
  EXPECT_EQ(RunLoop::run(third.join()).error(), Watchers::Ending::kClosed);
  EXPECT_EQ(RunLoop::run(watchers().next(root, 4)).error(), Watchers::Ending::kClosed);
  EXPECT_FALSE(watchers().any());
}

TEST_F(WatchedTree, ADirectoryThatIsToBeDeletedEndsIt) {
  ASSERT_EQ(create("d", true), "ok");
  const auto watching = watch("d", false);
  Started waiting(watchers().next(watching, 1));
  FileOpen request;
  request.file = key("d");
  request.mode = {concurrency::kFullAccess, concurrency::kFullAccess};
  request.ancestors = {kRootId};
  const auto handle = RunLoop::run(files.open_files.open(request));
  ASSERT_TRUE(handle.ok());
  ASSERT_TRUE(RunLoop::run(files.open_files.set_delete_pending(*handle, true)).ok());
  EXPECT_EQ(RunLoop::run(waiting.join()).error(), Watchers::Ending::kDeletePending);
}

TEST(Watchers, KeepSoMuchAndNoMore) {
  Watchers watchers;
  const FileKey root{7, 0};
  const auto watching = watchers.watch(root, false, kAll);
  const uint64_t ancestors[] = {0};
  for (size_t i = 0; i < Watchers::kMaxKept; ++i)
    watchers.tell({7, ancestors, "file", ChangeKind::kAdded, kFileNameChanged});
  EXPECT_EQ(RunLoop::run(watchers.next(*watching, 1))->changes.size(), Watchers::kMaxKept);
  for (size_t i = 0; i <= Watchers::kMaxKept; ++i)
    watchers.tell({7, ancestors, "file", ChangeKind::kAdded, kFileNameChanged});
  EXPECT_EQ(text_of(RunLoop::run(watchers.next(*watching, 1))), "too many");
  watchers.tell({7, ancestors, "after", ChangeKind::kAdded, kFileNameChanged});
  EXPECT_EQ(text_of(RunLoop::run(watchers.next(*watching, 1))), "+after");
  // Other shares have other roots.
  watchers.tell({8, ancestors, "other", ChangeKind::kAdded, kFileNameChanged});
  for (size_t i = 0; i < Watchers::kMaxWaiting; ++i) (void)Started(watchers.next(*watching, i));
  EXPECT_EQ(RunLoop::run(watchers.next(*watching, 99)).error(), Watchers::Ending::kTooMany);
  watchers.close(*watching);
}

TEST(Watchers, WaitUntilWhatTheyWatchIsDeleted) {
  Watchers watchers;
  const uint64_t ancestors[] = {0};
  const auto root = watchers.watch({7, 0}, true, kAll);
  const auto shown = watchers.watch_shown(7, 5);
  const auto other = watchers.watch_shown(7, 6);
  const auto elsewhere = watchers.watch({8, 0}, true, kAll);
  Started waits(watchers.next(*shown, 1));
  Started waits_too(watchers.next(*other, 1));
  watchers.tell({7, ancestors, "file", ChangeKind::kAdded, kFileNameChanged});
  EXPECT_EQ(text_of(*watchers.kept(*root)), "+file");
  watchers.end({7, 0}, Watchers::Ending::kDeletePending);
  EXPECT_FALSE(waits.is_done()) << "nothing changes there";
  watchers.end_shown(7, 5);
  EXPECT_EQ(RunLoop::run(waits.join()).error(), Watchers::Ending::kClosed);
  EXPECT_EQ(RunLoop::run(watchers.next(*shown, 2)).error(), Watchers::Ending::kClosed);
  EXPECT_FALSE(waits_too.is_done());
  watchers.end_share(7);
  EXPECT_EQ(RunLoop::run(waits_too.join()).error(), Watchers::Ending::kClosed);
  EXPECT_EQ(RunLoop::run(watchers.next(*root, 1)).error(), Watchers::Ending::kClosed);
  watchers.tell({8, ancestors, "file", ChangeKind::kAdded, kFileNameChanged});
  EXPECT_EQ(text_of(*watchers.kept(*elsewhere)), "+file");
  for (const auto watching : {root, shown, other, elsewhere}) watchers.close(*watching);
  EXPECT_FALSE(watchers.any());
}

TEST(Watchers, KeepSoMuchOfAllAndNoMore) {
  Watchers watchers;
  const uint64_t ancestors[] = {0};
  const std::string path(Watchers::kMaxKeptBytes / Watchers::kMaxKept, 'x');
  const size_t bytes = Watchers::kMaxKept * (path.size() + Watchers::kBytesOfAChange);
  const size_t fit = Watchers::kMaxKeptBytesOfAll / bytes;
  std::vector<Watchers::WatchId> all;
  for (size_t i = 0; i <= fit; ++i) all.push_back(*watchers.watch({7, 0}, false, kAll));
  for (size_t i = 0; i < Watchers::kMaxKept; ++i)
    watchers.tell({7, ancestors, path, ChangeKind::kAdded, kFileNameChanged});
  size_t whole = 0;
  for (const auto watching : all) whole += watchers.kept(watching)->too_many ? 0 : 1;
  EXPECT_GT(whole, 0u);
  EXPECT_LE(whole, fit);
  // What is taken makes room, and so does what is closed.
  watchers.tell({7, ancestors, path, ChangeKind::kAdded, kFileNameChanged});
  EXPECT_FALSE(watchers.kept(all.back())->too_many);
  for (const auto watching : all) watchers.close(watching);
  const auto last = watchers.watch({7, 0}, false, kAll);
  watchers.tell({7, ancestors, path, ChangeKind::kAdded, kFileNameChanged});
  EXPECT_FALSE(watchers.kept(*last)->too_many);
}

}  // namespace
}  // namespace kyanite::tree
