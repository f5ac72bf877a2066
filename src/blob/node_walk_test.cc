#include "blob/node_walk.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "base/task.h"
#include "blob/hierarchy.h"
#include "store/memory.h"
#include "store/stored.h"

namespace kyanite::blob {
namespace {

constexpr store::SpaceId kSpace = 7;
constexpr uint64_t kRoot = 0x0100'0000'0000'0001;  // Zero bytes are escaped in keys.

// A tree of heads in a store, made by paths; a directory ends with a slash.
class Forest {
 public:
  void add(const std::string& path) {
    const bool directory = path.ends_with('/');
    const std::string own = directory ? path.substr(0, path.size() - 1) : path;
    const size_t slash = own.rfind('/');
    const uint64_t above = slash == std::string::npos ? kRoot : ids_.at(own.substr(0, slash));
    Blob blob;
    blob.node_id = ++last_id_ * 0x0001'0000'0100;
    blob.node.emplace();
    blob.node->directory = directory;
    if (directory) ids_[own] = blob.node_id;
    put(kHeads, named_partition(above, own.substr(slash + 1)), {}, blob);
    if (!directory) put(kHeads, named_partition(blob.node_id, {}), "s2345678", blob);
  }
  // Blocks that wait under this path.
  void stage(const std::string& path) {
    const size_t slash = path.rfind('/');
    const uint64_t above = slash == std::string::npos ? kRoot : ids_.at(path.substr(0, slash));
    for (const char* row : {"1", "2"})
      put(kBlocks, named_partition(above, path.substr(slash + 1)), row, Blob());
  }
  void add_root() {
    Blob root;
    root.node_id = kRoot;
    root.node.emplace();
    root.node->directory = true;
    put(kHeads, named_partition(kRoot, {}), {}, root);
  }

  // What a walk sees from `first` on, with blanks between; at most `most`.
  std::string walk(const std::string& directory = "", const std::string& prefix = "",
                   const std::string& first = "", size_t most = SIZE_MAX, bool blocks = false) {
    std::string seen;
    look([&](const store::View& view) -> store::Result<void> {
      auto id = find_directory(view, kSpace, kRoot, directory);
      if (!id) return id.error();
      if (!*id) {
        seen = "nothing";
        return {};
      }
      NodeWalk walk(view, kSpace, **id, directory.empty() ? "" : directory + "/", prefix,
                    blocks ? NodeWalk::Uncommitted::kSeen : NodeWalk::Uncommitted::kLeftOut);
      const auto directory_id = [&]() -> store::Result<uint64_t> {
        if (walk.uncommitted()) return uint64_t{0};
        const auto blob = store::decode<Blob>(*walk.value());
        return blob->is_directory() ? blob->node_id : 0;
      };
      if (auto started = start_at(walk, first, directory_id); !started) return started;
      for (size_t count = 0; walk.valid() && count < most; ++count) {
        const auto id_here = directory_id();
        EXPECT_TRUE(walk.path().ends_with(walk.name()));
        seen += walk.path() + (*id_here != 0 ? "/ " : walk.uncommitted() ? "? " : " ");
        if (*id_here != 0) {
          walk.enter(*id_here);
        } else {
          walk.next();
        }
      }
      return walk.status();
    });
    return seen;
  }

 private:
  void put(store::Family family, const std::string& partition, std::string_view row,
           const Blob& blob) {
    store::Commit commit;
    commit.put(store::Key(kSpace, family, partition, row), store::to_record(blob));
    ASSERT_TRUE(RunLoop::run(store_.commit(std::move(commit))).ok());
  }
  void look(store::Look look) { ASSERT_TRUE(RunLoop::run(store_.look(std::move(look))).ok()); }

  store::MemoryStore store_;
  std::map<std::string, uint64_t> ids_;
  uint64_t last_id_ = 0;
};

TEST(NodeWalk, ADirectoryComesBeforeWhatIsInItAndThatBeforeWhatIsBesideIt) {
  Forest forest;
  for (const char* path : {"a/", "a-b", "a/x", "a/d/", "a/d/e", "a!", "b", "empty/"})
    forest.add(path);
  EXPECT_EQ(forest.walk(), "a/ a/d/ a/d/e a/x a! a-b b empty/ ");
  EXPECT_EQ(forest.walk("a"), "a/d/ a/d/e a/x ");
  EXPECT_EQ(forest.walk("empty"), "");
  EXPECT_EQ(forest.walk("b"), "nothing");
  EXPECT_EQ(forest.walk("a/none"), "nothing");
  EXPECT_EQ(forest.walk("a//d"), "nothing");
}

TEST(NodeWalk, SeesNothingOfTheRootItself) {
  Forest forest;
  forest.add_root();
  EXPECT_EQ(forest.walk(), "");
  forest.add("x");
  EXPECT_EQ(forest.walk(), "x ");
}

TEST(NodeWalk, APrefixIsOfNamesInTheFirstDirectory) {
  Forest forest;
  for (const char* path : {"ab/", "ab/z", "abc", "b/", "b/ab"}) forest.add(path);
  EXPECT_EQ(forest.walk("", "ab"), "ab/ ab/z abc ");
  EXPECT_EQ(forest.walk("", "abc"), "abc ");
  EXPECT_EQ(forest.walk("", "c"), "");
  EXPECT_EQ(forest.walk("b", "a"), "b/ab ");
  EXPECT_EQ(forest.walk("", "ab", "abb"), "abc ");
  EXPECT_EQ(forest.walk("", "ab", "b"), "");
}

TEST(NodeWalk, BlocksThatWaitAreSeenInTheirPlace) {
  Forest forest;
  for (const char* path : {"a/", "a/m", "b"}) forest.add(path);
  for (const char* path : {"a/b", "a/m", "a/z", "A", "c"}) forest.stage(path);
  EXPECT_EQ(forest.walk("", "", "", SIZE_MAX, true), "A? a/ a/b? a/m a/z? b c? ");
  EXPECT_EQ(forest.walk("", "", "a/c", SIZE_MAX, true), "a/m a/z? b c? ");
  EXPECT_EQ(forest.walk(), "a/ a/m b ");
}

TEST(NodeWalk, GoesOnFromWhatIsGone) {
  Forest forest;
  for (const char* path : {"a/", "a/b/", "a/b/c", "a/d", "e"}) forest.add(path);
  EXPECT_EQ(forest.walk("", "", "a/b/c/d"), "a/d e ");  // c is a file.
  EXPECT_EQ(forest.walk("", "", "a/bb/x"), "a/d e ");   // There is no bb.
  EXPECT_EQ(forest.walk("", "", "a/b/"), "a/b/c a/d e ");
  EXPECT_EQ(forest.walk("", "", "a/b"), "a/b/ a/b/c a/d e ");
  EXPECT_EQ(forest.walk("", "", "b"), "e ");
  EXPECT_EQ(forest.walk("", "", "f"), "");
}

TEST(NodeWalk, PagesOfAnyTreeAreTheWholeInOrder) {
  std::mt19937 random(20);
  for (int round = 0; round < 20; ++round) {
    Forest forest;
    std::vector<std::string> directories{""};
    std::vector<std::string> paths;
    for (int i = 0; i < 60; ++i) {
      const std::string above = directories[random() % directories.size()];
      const std::string name = above + std::string(1, "!-.a0~"[random() % 6]) + std::to_string(i);
      const bool directory = random() % 3 == 0;
      paths.push_back(name);
      if (directory) directories.push_back(name + "/");
      forest.add(directory ? name + "/" : name);
    }
    std::sort(paths.begin(), paths.end(), path_before);
    std::string whole;
    for (const auto& path : paths) {
      const bool directory =
          std::find(directories.begin(), directories.end(), path + "/") != directories.end();
      whole += path + (directory ? "/ " : " ");
    }
    ASSERT_EQ(forest.walk(), whole);
    std::string pages;
    for (size_t i = 0; i < paths.size(); i += 7) pages += forest.walk("", "", paths[i], 7);
    EXPECT_EQ(pages, whole);
  }
}

}  // namespace
}  // namespace kyanite::blob
