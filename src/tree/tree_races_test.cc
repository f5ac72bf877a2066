// What holds of a tree when changes interleave in any way, without the lines in which writers wait.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "store/interleaving.h"
#include "tree/test_support.h"

namespace kyanite::tree {
namespace {

constexpr uint64_t kSeeds = 200;
using Outcomes = std::vector<std::string>;

Task<void> keep(Task<std::string> task, std::string& outcome) {
  outcome = co_await std::move(task);
}

Outcomes race(uint64_t seed, std::vector<Task<std::string>> changes) {
  Outcomes outcomes(changes.size());
  std::vector<Task<void>> tasks;
  for (size_t i = 0; i < changes.size(); ++i)
    tasks.push_back(keep(std::move(changes[i]), outcomes[i]));
  store::Interleaving(seed).run(std::move(tasks), [] {});
  return outcomes;
}

template <class... Changes>
std::vector<Task<std::string>> together(Changes... changes) {
  std::vector<Task<std::string>> tasks;
  (tasks.push_back(std::move(changes)), ...);
  return tasks;
}

void make_directories(TestTree& files, const std::vector<std::string>& paths) {
  for (const auto& path : paths) ASSERT_EQ(RunLoop::run(files.create(path, true)), "ok");
}

TEST(TreeRaces, WhatIsCreatedInAMovedDirectoryMovesWithIt) {
  std::set<Outcomes> seen;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    store::InterleavedStore store;
    TestTree files(store);
    make_directories(files, {"a"});
    const auto outcomes =
        race(seed, together(files.move("a", "b"), files.create("a/file"), files.create("b/other")));
    seen.insert({outcomes[0], outcomes[1]});
    EXPECT_EQ(outcomes[0], "ok");
    EXPECT_EQ(outcome(files.find("a")), "not found");
    EXPECT_EQ(outcome(files.find("b/file")), outcomes[1] == "ok" ? "ok" : "not found");
    EXPECT_EQ(outcome(files.find("b/other")), outcomes[2] == "ok" ? "ok" : "not found");
  }
  EXPECT_EQ(seen, (std::set<Outcomes>{{"ok", "ok"}, {"ok", "no parent"}}));
}

TEST(TreeRaces, NothingIsPutIntoADirectoryThatIsGone) {
  std::set<Outcomes> seen;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    store::InterleavedStore store;
    TestTree files(store);
    make_directories(files, {"a"});
    const auto outcomes = race(seed, together(files.remove("a", true), files.create("a/file")));
    seen.insert(outcomes);
    EXPECT_EQ(outcome(files.find("a/file")), outcomes[1]);
  }
  EXPECT_EQ(seen, (std::set<Outcomes>{{"ok", "no parent"}, {"not empty", "ok"}}));
}

// One who has seen it empty before something came into it must not renew the mark of another.
TEST(TreeRaces, HoweverManyWantItGone) {
  for (uint64_t seed = 0; seed < 20 * kSeeds; ++seed) {
    store::InterleavedStore store;
    TestTree files(store);
    make_directories(files, {"a"});
    const auto outcomes = race(seed, together(files.remove("a", true), files.remove("a", true),
                                              files.remove("a", true), files.create("a/file")));
    EXPECT_EQ(outcome(files.find("a/file")), outcomes[3]) << "seed " << seed;
  }
}

TEST(TreeRaces, NorMovedIntoIt) {
  std::set<Outcomes> seen;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    store::InterleavedStore store;
    TestTree files(store);
    make_directories(files, {"a", "b"});
    const auto outcomes = race(seed, together(files.remove("a", true), files.move("b", "a/b")));
    seen.insert(outcomes);
    EXPECT_EQ(outcome(files.find(outcomes[1] == "ok" ? "a/b" : "b")), "ok");
  }
  EXPECT_EQ(seen, (std::set<Outcomes>{{"ok", "no parent"}, {"not empty", "ok"}}));
}

TEST(TreeRaces, DirectoriesAreNotMovedIntoEachOther) {
  std::set<Outcomes> seen;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    store::InterleavedStore store;
    TestTree files(store);
    make_directories(files, {"a", "b"});
    const auto outcomes = race(seed, together(files.move("a", "b/a"), files.move("b", "a/b")));
    seen.insert(outcomes);
    EXPECT_EQ(outcome(files.find(outcomes[0] == "ok" ? "b/a" : "a/b")), "ok");
  }
  EXPECT_EQ(seen, (std::set<Outcomes>{{"ok", "no parent"}, {"no parent", "ok"}}));
}

TEST(TreeRaces, OneOfManyCreates) {
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    store::InterleavedStore store;
    TestTree files(store);
    auto outcomes = race(
        seed, together(files.create("file"), files.create("FILE"), files.create("File", true)));
    std::sort(outcomes.begin(), outcomes.end());
    EXPECT_EQ(outcomes, (Outcomes{"exists", "exists", "ok"}));
  }
}

}  // namespace
}  // namespace kyanite::tree
