#include "tree/tree.h"

#include <gtest/gtest.h>

#include "jobs/test_support.h"
#include "tree/former.h"
#include "tree/test_support.h"

namespace kyanite::tree {
namespace {

class Trees : public testing::Test {
 protected:
  std::string create(const std::string& path, bool directory = false, Creation creation = {}) {
    return RunLoop::run(files.create(path, directory, std::move(creation)));
  }
  std::string move(const std::string& from, const std::string& to, Kind kind = Kind::kDirectory,
                   Creation destination = {}) {
    return RunLoop::run(files.move(from, to, kind, std::move(destination)));
  }
  std::string remove(const std::string& path, bool directory = false) {
    return RunLoop::run(files.remove(path, directory));
  }
  std::string note(const std::string& path, const std::string& value) {
    return RunLoop::run(files.note(path, value));
  }

  store::MemoryStore store;
  TestTree files{store};
};

TEST_F(Trees, PathsAreFollowedByFoldedNames) {
  ASSERT_EQ(create("Some", true), "ok");
  ASSERT_EQ(create("some/File"), "ok");
  EXPECT_EQ(files.names(""), "Some ");
  auto found = files.find("SOME/file");
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(found->found.entry->name, "File");
  EXPECT_EQ(found->way.path(), "Some/file");
  EXPECT_EQ(found->way.ancestors(), (std::vector<EntryId>{0, found->found.parent}));
  EXPECT_EQ(outcome(files.find("some/other")), "not found");
  EXPECT_EQ(outcome(files.find("other/file")), "no parent");
  EXPECT_EQ(outcome(files.find("some/file/below")), "no parent");
  EXPECT_EQ(create("SOME", true), "exists");
  EXPECT_EQ(create("none/file"), "no parent");
}

TEST_F(Trees, TheRootIsThereBeforeItHasARecord) {
  auto root = files.find("");
  ASSERT_TRUE(root.ok());
  EXPECT_EQ(root->found.record, nullptr);
  EXPECT_TRUE(root->found.entry->directory);
  EXPECT_EQ(note("", "root"), "ok");
  EXPECT_NE(files.find("")->found.record, nullptr);
  EXPECT_EQ(files.names(""), "");
}

TEST_F(Trees, ANewFileTakesThePlaceOfAnother) {
  ASSERT_EQ(create("file"), "ok");
  const EntryId id = files.find("file")->found.entry->id;
  const Time changed = files.find("file")->found.entry->changed;
  Creation creation;
  creation.replaces = true;
  EXPECT_EQ(create("file"), "exists");
  EXPECT_EQ(create("FILE", false, creation), "ok");
  EXPECT_EQ(files.find("file")->found.entry->id, id);
  EXPECT_EQ(files.find("file")->found.entry->name, "file");
  EXPECT_GT(files.find("file")->found.entry->changed, changed);
  creation.may_replace = false;
  EXPECT_EQ(create("file", false, creation), "may not replace");
  EXPECT_EQ(create("other", false, creation), "ok");
  creation.lease_id = "00000000-0000-0000-0000-000000000001";
  EXPECT_EQ(create("file", false, creation), "lease");
  ASSERT_EQ(create("directory", true), "ok");
  EXPECT_EQ(create("directory", false, Creation{false, true}), "is directory");
}

TEST_F(Trees, OnlyEmptyDirectoriesGo) {
  ASSERT_EQ(create("a", true), "ok");
  ASSERT_EQ(create("a/file"), "ok");
  const auto before = files.find("a")->found.record;
  EXPECT_EQ(remove("a", true), "not empty");
  EXPECT_EQ(files.find("a")->found.record, before);  // Refused without being written to.
  EXPECT_EQ(remove("a"), "not found");
  EXPECT_EQ(remove("a/file"), "ok");
  EXPECT_EQ(remove("a", true), "ok");
  EXPECT_EQ(remove("a", true), "not found");
  EXPECT_EQ(RunLoop::run(files.remove("", true)), text_of(Error(Reason::kIsRoot)));
}

TEST_F(Trees, RenamesWithWhatIsBelow) {
  for (const char* path : {"a", "a/b", "a/b/c", "x"}) ASSERT_EQ(create(path, true), "ok");
  ASSERT_EQ(create("a/b/c/file"), "ok");
  const EntryId id = files.find("a/b/c/file")->found.entry->id;
  EXPECT_EQ(move("a/b", "x/y"), "ok");
  EXPECT_EQ(files.find("x/y/c/file")->found.entry->id, id);
  EXPECT_EQ(outcome(files.find("a/b")), "not found");
  EXPECT_EQ(move("x", "x/y/c/x"), "into itself");
  EXPECT_EQ(move("x", "a"), "exists");
  EXPECT_EQ(move("none", "other"), "not found");
  EXPECT_EQ(move("x", "other", Kind::kFile), "not found");
  EXPECT_EQ(move("x", "none/x"), "no parent");
  EXPECT_EQ(move("x", "X"), "ok");
  EXPECT_EQ(files.names(""), "a X ");
  ASSERT_EQ(create("file"), "ok");
  EXPECT_EQ(move("x/y/c/file", "file", Kind::kFile), "exists");
  EXPECT_EQ(move("x/y/c/file", "file", Kind::kFile, Creation{false, true}), "ok");
  EXPECT_EQ(files.find("file")->found.entry->id, id);
}

TEST_F(Trees, WhatIsOpenBelowKeepsADirectoryInItsPlace) {
  ASSERT_EQ(create("a", true), "ok");
  ASSERT_EQ(create("a/file"), "ok");
  const auto located = files.find("a/file");
  FileOpen request;
  request.file = located->key();
  request.mode = {concurrency::kReadAccess, concurrency::kFullAccess};
  request.ancestors = located->way.ancestors();
  const auto handle = RunLoop::run(files.open_files.open(request));
  ASSERT_TRUE(handle.ok());
  EXPECT_EQ(move("a", "b"), text_of(Error(Refusal::kSharingViolation)));
  EXPECT_EQ(outcome(files.find("a/file")), "ok");
  ASSERT_TRUE(files.open_files.close(*handle).ok());
  EXPECT_EQ(move("a", "b"), "ok");
}

TEST_F(Trees, SnapshotsShowWhatWas) {
  ASSERT_EQ(create("a", true), "ok");
  ASSERT_EQ(create("a/file"), "ok");
  ASSERT_EQ(note("a/file", "before"), "ok");
  const auto take = [](ShareState& state) { return state.take_snapshot(); };
  const Generation first = files.change_state(take);
  ASSERT_EQ(note("a/file", "after"), "ok");
  ASSERT_EQ(create("a/new"), "ok");
  ASSERT_EQ(move("a", "b"), "ok");
  const Generation second = files.change_state(take);
  ASSERT_EQ(remove("b/file"), "ok");

  EXPECT_EQ(files.names(""), "b ");
  EXPECT_EQ(files.names("b"), "new ");
  EXPECT_EQ(files.names("", first), "a ");
  EXPECT_EQ(files.names("a", first), "file ");
  EXPECT_EQ(files.find("a/file", first)->found.entry->metadata[0].second, "before");
  EXPECT_EQ(outcome(files.find("a/new", first)), "not found");
  EXPECT_EQ(files.names("b", second), "file new ");
  EXPECT_EQ(files.find("b/file", second)->found.entry->metadata[0].second, "after");

  const auto count_former = [&] {
    size_t count = 0;
    const store::See see = [&](const store::View::Cursor&) -> store::Result<bool> {
      ++count;
      return true;
    };
    EXPECT_TRUE(
        RunLoop::run(store::scan(store, store::Range::family(files.tree.space, kFormer), see))
            .ok());
    return count;
  };
  EXPECT_EQ(count_former(), 3u);  // The file twice and the directory under its old name.
  const auto forget = [&](Generation generation) {
    files.change_state([&](ShareState& state) {
      state.forget_snapshot(generation);
      return true;
    });
    const jobs::Job job{.name = "former", .rest_s = 0, .budget = {}, .run = [&](jobs::Step& step) {
                          return remove_unseen_states(step, "share", files.tree.space, step.cursor);
                        }};
    RunLoop::run(jobs::run_round(job, store, files.clock));
  };
  forget(first);
  EXPECT_EQ(count_former(), 1u);
  EXPECT_EQ(files.names("b", second), "file new ");
  forget(second);
  EXPECT_EQ(count_former(), 0u);
}

TEST(ExactTrees, NamesAreThemselves) {
  store::MemoryStore store;
  TestTree files(store, kExactNames);
  for (const char* path : {"a", "A", "b", "B", "con", "x:y?*|", "end."})
    EXPECT_EQ(RunLoop::run(files.create(path, true)), "ok") << path;
  EXPECT_EQ(files.names(""), "A B a b con end. x:y?*| ");
  EXPECT_EQ(RunLoop::run(files.create("a/file")), "ok");
  EXPECT_EQ(outcome(files.find("A/file")), "not found");
  EXPECT_EQ(outcome(files.find("a/FILE")), "not found");
  EXPECT_EQ(RunLoop::run(files.move("a", "A/a")), "ok");
  EXPECT_EQ(outcome(files.find("A/a/file")), "ok");
}

TEST(NameRules, DecideWhatANameIs) {
  struct Row {
    std::string path;
    std::optional<Reason> share;
    std::optional<Reason> exact;
  };
  const Row rows[] = {
      {"a/b/", {}, {}},
      {"", {}, {}},
      {"a//b", Reason::kBadName, Reason::kBadName},
      {"a/../b", Reason::kBadName, Reason::kBadName},
      {std::string("a\0b", 3), Reason::kBadName, Reason::kBadName},
      {"\xff", Reason::kBadText, Reason::kBadText},
      {"nul", Reason::kBadName, {}},
      {"a:b", Reason::kBadName, {}},
      {"a\tb", Reason::kBadName, {}},
      {std::string(256, 'a'), Reason::kNameTooLong, {}},
      {std::string(1025, 'a'), Reason::kNameTooLong, Reason::kPathTooLong},
      {std::string(2049, 'a'), Reason::kPathTooLong, Reason::kPathTooLong},
  };
  for (const Row& row : rows) {
    for (const auto& [rules, expected] :
         {std::pair(kShareNames, row.share), std::pair(kExactNames, row.exact)}) {
      const auto parsed = parse_path(rules, row.path, true);
      ASSERT_EQ(parsed.ok(), !expected.has_value()) << row.path.substr(0, 20);
      if (expected) {
        EXPECT_EQ(parsed.error(), Error(*expected)) << row.path.substr(0, 20);
      }
    }
  }
  std::string deep = "a";
  for (int i = 1; i < 64; ++i) deep += "/a";
  EXPECT_TRUE(parse_path(kShareNames, deep, true).ok());
  EXPECT_EQ(parse_path(kExactNames, deep, true).error(), Error(Reason::kPathTooDeep));
  EXPECT_EQ(parse_path(kShareNames, "a../b.", false).value(), (Path{"a", "b"}));
  EXPECT_EQ(parse_path(kExactNames, "a../b.", false).value(), (Path{"a..", "b."}));
}

}  // namespace
}  // namespace kyanite::tree
