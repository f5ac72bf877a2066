// What holds of a tree of paths when requests interleave in any way, without the lines in which
// writers wait.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "datalake/test_support.h"
#include "store/interleaving.h"

namespace kyanite::datalake {
namespace {

using Request = TestLake::Request;
using Outcomes = std::vector<std::string>;

struct Race {
  // What the requests are answered, all begun at once, but that those after the first let others go
  // on `late` times before they begin.
  Outcomes run(uint64_t seed, const std::vector<Request>& requests, uint64_t late = 0) {
    Outcomes outcomes(requests.size());
    std::vector<Task<void>> tasks;
    for (size_t i = 0; i < requests.size(); ++i)
      tasks.push_back(answer(requests[i], i == 0 ? 0 : late, outcomes[i]));
    store::Interleaving(seed).run(std::move(tasks), [] {});
    return outcomes;
  }
  // The answer to a request beside others that come one after the other.
  Answer beside(uint64_t seed, const Request& request, const std::vector<Request>& others) {
    Answer answer;
    std::vector<Task<void>> tasks;
    tasks.push_back(fetch(request, answer));
    tasks.push_back(one_by_one(others));
    store::Interleaving(seed).run(std::move(tasks), [] {});
    return answer;
  }
  // What a request is answered while this container is deleted and what lay in it is cleared away.
  std::string beside_clearing(uint64_t seed, const Request& request, const std::string& container) {
    Answer answer;
    std::vector<Task<void>> tasks;
    tasks.push_back(fetch(request, answer));
    tasks.push_back(delete_and_clear(container));
    store::Interleaving(seed).run(std::move(tasks), [] {});
    return answer.outcome();
  }
  void clear() { RunLoop::run(clear_away()); }
  // File systems that are made from now on have no directories.
  void be_flat() {
    lake.around.context.settings = service::SettingsTable();
    for (const char* name : {"flat", "other"}) send({"PUT", name, "restype=container"});
  }
  void send(const Request& request) {
    const auto outcome = lake.send(request).outcome();
    ASSERT_TRUE(outcome.starts_with("20")) << outcome;
  }

  store::InterleavedStore store;
  TestLake lake{store};

 private:
  Task<void> answer(Request request, uint64_t late, std::string& outcome) {
    for (uint64_t i = 0; i < late; ++i) co_await Executor::yield();
    TestLake::Apart apart(lake.around.context);
    outcome = (co_await lake.serve(apart.context, std::move(request))).outcome();
  }
  Task<void> fetch(Request request, Answer& answer) {
    TestLake::Apart apart(lake.around.context);
    answer = co_await lake.serve(apart.context, std::move(request));
  }
  Task<void> clear_away() {
    const auto jobs = lake.service.make_jobs(lake.around.context);
    for (const char* name : {"dead-containers", "dead-trees"}) {
      for (const auto& job : jobs) {
        if (job.name == name) co_await jobs::run_round(job, store, lake.around.clock);
      }
    }
  }
  Task<void> delete_and_clear(std::string container) {
    Answer answer;
    const Request remove{"DELETE", container, "restype=container"};
    co_await fetch(remove, answer);
    EXPECT_EQ(answer.outcome(), "202");
    co_await clear_away();
  }
  Task<void> one_by_one(std::vector<Request> requests) {
    for (const Request& request : requests) {
      Answer answer;
      co_await fetch(request, answer);
      EXPECT_TRUE(answer.outcome().starts_with("20")) << answer.outcome();
    }
  }
};

constexpr uint64_t kSeeds = 100;

TEST(LakeRaces, WhatIsMadeInADirectoryThatIsRenamedIsInOnePlace) {
  std::set<std::string> seen;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    Race race;
    race.send(TestLake::make_directory("lake/a"));
    const auto outcomes =
        race.run(seed, {TestLake::rename("lake/a", "lake/b"), TestLake::make_file("lake/a/x")});
    EXPECT_EQ(outcomes, (Outcomes{"201", "201"})) << "seed " << seed;
    // The file came before the rename and went along, or after it and made the directory anew.
    seen.insert(race.lake.tree());
    EXPECT_EQ(race.lake.out_of_reach(), 0U);
  }
  EXPECT_EQ(seen, (std::set<std::string>{"b/ b/x ", "a/ a/x b/ "}));
}

TEST(LakeRaces, DirectoriesThatAreMovedIntoEachOtherDoNotCutARing) {
  std::set<std::string> seen;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    Race race;
    race.send(TestLake::make_directory("lake/a"));
    race.send(TestLake::make_directory("lake/b"));
    const auto outcomes = race.run(
        seed, {TestLake::rename("lake/a", "lake/b/a"), TestLake::rename("lake/b", "lake/a/b")});
    EXPECT_EQ(std::count(outcomes.begin(), outcomes.end(), "201"), 1) << "seed " << seed;
    seen.insert(race.lake.tree());
    EXPECT_EQ(race.lake.out_of_reach(), 0U);
  }
  EXPECT_EQ(seen, (std::set<std::string>{"b/ b/a/ ", "a/ a/b/ "}));
}

TEST(LakeRaces, ADirectoryIsNotDeletedFromUnderWhatIsMadeInIt) {
  std::set<std::string> seen;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    Race race;
    race.send(TestLake::make_directory("lake/a"));
    const auto outcomes =
        race.run(seed, {TestLake::remove("lake/a", false), TestLake::put("lake/a/x", "content")});
    EXPECT_EQ(outcomes[1], "201");
    EXPECT_EQ(race.lake.tree(), "a/ a/x ") << "seed " << seed;
    EXPECT_EQ(race.lake.out_of_reach(), 0U);
    seen.insert(outcomes[0]);
  }
  EXPECT_EQ(seen, (std::set<std::string>{"200", "409 DirectoryNotEmpty"}));
}

// Of two that want it empty, one has seen that it was before something came into it.
TEST(LakeRaces, ADirectoryIsNotReplacedByTwoFromUnderWhatIsMadeInIt) {
  for (uint64_t seed = 0; seed < 20 * kSeeds; ++seed) {
    Race race;
    for (const char* name : {"lake/a", "lake/b", "lake/c", "lake/d"})
      race.send(TestLake::make_directory(name));
    race.run(seed, {TestLake::rename("lake/a", "lake/b"), TestLake::rename("lake/c", "lake/b"),
                    TestLake::rename("lake/d", "lake/b"), TestLake::put("lake/b/x", "content")});
    EXPECT_NE(race.lake.tree().find("b/x "), std::string::npos) << "seed " << seed;
    EXPECT_EQ(race.lake.out_of_reach(), 0U) << "seed " << seed;
  }
}

TEST(LakeRaces, WhatIsMadeInATreeThatIsDeletedGoesWithItOrComesAfter) {
  std::set<std::string> seen;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    Race race;
    race.send(TestLake::put("lake/a/b/c", std::string(10'000, 'c')));
    const auto outcomes = race.run(
        seed, {TestLake::remove("lake/a"), TestLake::put("lake/a/b/x", std::string(10'000, 'x'))});
    EXPECT_EQ(outcomes, (Outcomes{"200", "201"})) << "seed " << seed;
    seen.insert(race.lake.tree());
    EXPECT_EQ(race.lake.out_of_reach(), 0U);
  }
  EXPECT_EQ(seen, (std::set<std::string>{"", "a/ a/b/ a/b/x "}));
}

// What leaves a tree whose access control is being set leaves it as a whole, before or after.
TEST(LakeRaces, ADirectoryThatLeavesATreeIsChangedAsAWholeOrNotAtAll) {
  const Request set{"PATCH",
                    "lake/d",
                    "action=setAccessControlRecursive&mode=modify",
                    {{"x-ms-acl", "user:ann:rwx"}}};
  std::set<bool> seen;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    Race race;
    race.send(TestLake::put("lake/d/a/f", "content"));
    const auto outcomes = race.run(seed, {set, TestLake::rename("lake/d/a", "lake/out")});
    EXPECT_EQ(outcomes, (Outcomes{"200", "201"})) << "seed " << seed;
    const auto is_set = [&](const char* path) {
      const auto acl = race.lake.send({"HEAD", path, "action=getAccessControl"}).header("x-ms-acl");
      return acl.find("user:ann") != std::string::npos;
    };
    EXPECT_TRUE(is_set("lake/d"));
    EXPECT_EQ(is_set("lake/out"), is_set("lake/out/f")) << "seed " << seed;
    seen.insert(is_set("lake/out"));
  }
  EXPECT_EQ(seen.size(), 2U);
}

// A path is followed name by name, and the directory may be another's place meanwhile.
TEST(LakeRaces, WhatIsWrittenAfterARenameIsNotReadUnderTheOldPath) {
  std::set<std::string> seen;
  for (uint64_t seed = 0; seed < 5 * kSeeds; ++seed) {
    Race race;
    race.send(TestLake::put("lake/a/f", "old"));
    const auto read =
        race.beside(seed, {"GET", "lake/a/f"},
                    {TestLake::rename("lake/a", "lake/b"), TestLake::put("lake/b/f", "new")});
    seen.insert(read.status == 200 ? read.body : read.outcome());
  }
  EXPECT_EQ(seen, (std::set<std::string>{"old", "404 BlobNotFound"}));
}

TEST(LakeRaces, ADirectoryThatWentAndCameBackIsNotTheOneThatWasFollowed) {
  std::set<std::string> seen;
  for (uint64_t seed = 0; seed < 5 * kSeeds; ++seed) {
    Race race;
    race.send(TestLake::put("lake/a/f", "old"));
    const auto read =
        race.beside(seed, {"GET", "lake/a/f"},
                    {TestLake::rename("lake/a", "lake/b"), TestLake::put("lake/b/f", "hidden"),
                     TestLake::put("lake/b/f", "new"), TestLake::rename("lake/b", "lake/a")});
    seen.insert(read.status == 200 ? read.body : read.outcome());
  }
  EXPECT_EQ(seen.count("hidden"), 0U);
  EXPECT_EQ(seen.count("old"), 1U);
}

TEST(LakeRaces, NobodyIsRefusedForWhatWasNeverAtItsPath) {
  const Request first{"PUT", "lake/a/f", "resource=file", {{"If-None-Match", "*"}}};
  for (uint64_t seed = 0; seed < 5 * kSeeds; ++seed) {
    Race race;
    race.send(TestLake::make_directory("lake/a"));
    const auto made = race.beside(
        seed, first, {TestLake::rename("lake/a", "lake/b"), TestLake::put("lake/b/f", "content")});
    EXPECT_EQ(made.outcome(), "201") << "seed " << seed;
  }
}

// The one who comes second finds nothing to be renamed, rather than its own work in its way.
TEST(LakeRaces, OfTwoThatRenameTheSameOneIsToldThatItIsGone) {
  for (uint64_t seed = 0; seed < 5 * kSeeds; ++seed) {
    Race race;
    race.send(TestLake::put("lake/a/f", "content"));
    const Request move = TestLake::rename("lake/a", "lake/b");
    auto outcomes = race.run(seed, {move, move});
    std::sort(outcomes.begin(), outcomes.end());
    EXPECT_EQ(outcomes, (Outcomes{"201", "404 SourcePathNotFound"})) << "seed " << seed;
  }
}

TEST(LakeRaces, TwoThatRenameToOnePlaceLeaveOneOfThem) {
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    Race race;
    race.send(TestLake::put("lake/a", "a"));
    race.send(TestLake::put("lake/b", "b"));
    const auto outcomes = race.run(
        seed, {TestLake::rename("lake/a", "lake/c"), TestLake::rename("lake/b", "lake/c")});
    EXPECT_EQ(outcomes, (Outcomes{"201", "201"})) << "seed " << seed;
    EXPECT_EQ(race.lake.tree(), "c ");
    EXPECT_EQ(race.lake.out_of_reach(), 0U);
  }
}

TEST(LakeRaces, OnlyOneOfThoseWhoMustBeFirstIs) {
  const Request first{"PUT", "lake/a/lock", "resource=file", {{"If-None-Match", "*"}}};
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    Race race;
    auto outcomes = race.run(seed, {first, first, first});
    std::sort(outcomes.begin(), outcomes.end());
    EXPECT_EQ(outcomes, (Outcomes{"201", "409 BlobAlreadyExists", "409 BlobAlreadyExists"}))
        << "seed " << seed;
  }
}

TEST(LakeRaces, AFlushTakesEveryAppendThatWasAcknowledgedBefore) {
  const auto append = [](int at, const std::string& body) -> Request {
    return {"PATCH", "lake/f", "action=append&position=" + std::to_string(at), {}, body};
  };
  const Request flush{"PATCH", "lake/f", "action=flush&position=4"};
  std::set<std::string> seen;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    Race race;
    race.send(TestLake::make_file("lake/f"));
    race.send(append(0, "ab"));
    const auto outcomes = race.run(seed, {append(2, "cd"), flush});
    EXPECT_EQ(outcomes[0], "202") << "seed " << seed;
    const bool flushed = outcomes[1] == "200";
    const auto read = race.lake.send({"GET", "lake/f"});
    EXPECT_EQ(read.body, flushed ? "abcd" : "");
    if (!flushed) race.send(flush);
    seen.insert(outcomes[1]);
  }
  EXPECT_EQ(seen, (std::set<std::string>{"200", "400 InvalidFlushPosition"}));
}

// A container that is deleted while something is renamed out of it.
TEST(LakeRaces, WhatLeavesAContainerThatIsClearedLeavesWhole) {
  const std::string content(100'000, 'x');
  std::set<std::string> seen;
  for (uint64_t seed = 0; seed < 10 * kSeeds; ++seed) {
    Race race;
    race.send({"PUT", "other", "restype=container"});
    race.send(TestLake::put("other/f", content));
    race.send(TestLake::put("other/d/g", content));
    const bool directory = seed % 2 == 1;
    const auto move =
        directory ? TestLake::rename("other/d", "lake/d") : TestLake::rename("other/f", "lake/f");
    const auto moved = race.beside_clearing(seed, move, "other");
    seen.insert(moved);
    if (moved == "201") {
      const auto read = race.lake.send({"GET", directory ? "lake/d/g" : "lake/f"});
      EXPECT_EQ(read.outcome(), "200") << "seed " << seed;
      EXPECT_TRUE(read.body == content) << "seed " << seed;
    }
    race.clear();
    EXPECT_EQ(race.lake.out_of_reach(), 0U) << "seed " << seed;
  }
  EXPECT_TRUE(seen.contains("201"));
  EXPECT_TRUE(seen.contains("404 ContainerNotFound"));
}

// A store that lets others come in between, just before it is asked for the n-th record, or for the
// n-th commit.
class OpenedStore final : public store::MemoryStore {
 public:
  Task<store::Result<void>> commit(store::Commit commit) override {
    if (commits_left > 0 && --commits_left == 0) co_await meanwhile();
    co_return co_await store::MemoryStore::commit(std::move(commit));
  }
  Task<store::Result<store::RecordPtr>> get(const store::Key& key) override {
    if (left > 0 && --left == 0) co_await meanwhile();
    co_return co_await store::MemoryStore::get(key);
  }
  int left = 0;
  int commits_left = 0;
  std::function<Task<void>()> meanwhile;
};

// What is listed is what was admitted, though another directory came to its place.
TEST(LakeRaces, NothingIsListedThatMustNotBe) {
  constexpr int kMostRecords = 12;
  auth::Caller ann;
  ann.kind = auth::Caller::Kind::kBearer;
  ann.object_id = "ann";
  ann.role = auth::Role::kNone;
  Request paths{"GET", "lake", "resource=filesystem&recursive=true&directory=d/e"};
  Request blobs{"GET", "lake", "restype=container&comp=list&prefix=d/e/"};
  paths.caller = blobs.caller = ann;
  for (const Request& list : {paths, blobs}) {
    for (int left = 0; left < kMostRecords; ++left) {
      OpenedStore store;
      TestLake lake(store);
      ASSERT_EQ(lake.send(TestLake::put("lake/d/e/open", "content")).outcome(), "201");
      ASSERT_EQ(lake.send(TestLake::put("lake/closed/e/secret", "content")).outcome(), "201");
      for (const char* path : {"lake/", "lake/d", "lake/d/e", "lake/closed/e"}) {
        const TestLake::Headers all{{"x-ms-permissions", "0777"}};
        ASSERT_EQ(lake.send({"PATCH", path, "action=setAccessControl", all}).outcome(), "200");
      }
      store.meanwhile = [&]() -> Task<void> {
        TestLake::Apart apart(lake.around.context);
        for (const auto& move :
             {TestLake::rename("lake/d", "lake/x"), TestLake::rename("lake/closed", "lake/d")}) {
          const auto answer = co_await lake.serve(apart.context, move);
          EXPECT_EQ(answer.outcome(), "201");
        }
      };
      store.left = left;
      const auto listed = lake.send(list);
      EXPECT_EQ(listed.body.find("secret"), std::string::npos) << "record " << left;
      if (left == 0) {
        EXPECT_NE(listed.body.find("open"), std::string::npos);
      }
      if (left == 1) {
        EXPECT_EQ(listed.outcome(), "403 AuthorizationPermissionMismatch");
      }
    }
  }
}

// A SAS for one path takes no directory along that came to the place of a file meanwhile.
// Where there are no directories a tree moves blob by blob. Each blob is in one place at any time.
TEST(LakeRaces, WhatIsWrittenOrDeletedBelowAFlatDirectoryThatIsRenamed) {
  std::set<std::string> seen;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    Race race;
    race.be_flat();
    for (const char* path : {"flat/a/1", "flat/a/2", "flat/a/3"})
      race.send(TestLake::put(path, "old"));
    const auto outcomes = race.run(seed,
                                   {TestLake::rename("flat/a", "flat/b"),
                                    TestLake::put("flat/a/2", "new"),
                                    {"DELETE", "flat/a/3"}},
                                   seed);
    EXPECT_EQ(outcomes[0], "201") << "seed " << seed;
    EXPECT_EQ(outcomes[1], "201") << "seed " << seed;
    const auto read = [&](const char* path) { return race.lake.send({"GET", path}).body; };
    EXPECT_EQ(read("flat/b/1"), "old");
    // Written before it moved, or as another one behind it.
    const std::string second = read("flat/a/2") + "|" + read("flat/b/2");
    EXPECT_TRUE(second == "|new" || second == "new|old") << "seed " << seed << " " << second;
    // Deleted before it moved, or not found any more.
    EXPECT_EQ(read("flat/a/3"), "") << "seed " << seed;
    EXPECT_EQ(read("flat/b/3"), outcomes[2] == "202" ? "" : "old") << "seed " << seed;
    seen.insert(second + " " + outcomes[2]);
  }
  EXPECT_GE(seen.size(), 3U);
}

// Between two file systems a blob is in both for a while. It ends in one place, as it was last
// written.
TEST(LakeRaces, WhatIsWrittenWhileItGoesToAnotherFlatFileSystem) {
  std::set<std::string> seen;
  for (uint64_t seed = 0; seed < 5 * kSeeds; ++seed) {
    Race race;
    race.be_flat();
    race.send(TestLake::put("flat/a/1", "old"));
    Request move = TestLake::rename("flat/a", "other/b");
    move.headers.emplace_back("If-None-Match", "*");
    const auto outcomes = race.run(seed, {move, TestLake::put("flat/a/1", "new")}, seed % kSeeds);
    EXPECT_EQ(outcomes, (Outcomes{"201", "201"})) << "seed " << seed;
    const auto read = [&](const char* path) { return race.lake.send({"GET", path}).body; };
    const std::string both = read("flat/a/1") + "|" + read("other/b/1");
    EXPECT_TRUE(both == "|new" || both == "new|old") << "seed " << seed << " " << both;
    seen.insert(both);
  }
  EXPECT_EQ(seen.size(), 2U);
}

// Two that rename the same end with all of it in one place, and neither is told that it failed in
// between.
TEST(LakeRaces, TwoThatRenameTheSameFlatDirectory) {
  for (const char* to : {"flat/b", "other/b"}) {
    for (uint64_t seed = 0; seed < kSeeds; ++seed) {
      Race race;
      race.be_flat();
      race.send(TestLake::put("flat/a/1", "1"));
      race.send(TestLake::put("flat/a/2", "2"));
      const Request move = TestLake::rename("flat/a", to);
      const auto outcomes = race.run(seed, {move, move}, seed);
      EXPECT_GE(std::count(outcomes.begin(), outcomes.end(), "201"), 1) << "seed " << seed;
      const auto read = [&](const std::string& path) { return race.lake.send({"GET", path}).body; };
      EXPECT_EQ(read("flat/a/1") + read("flat/a/2"), "") << "seed " << seed;
      EXPECT_EQ(read(std::string(to) + "/1") + read(std::string(to) + "/2"), "12")
          << "seed " << seed << " " << outcomes[0] << " " << outcomes[1];
    }
  }
}

// Somebody else renames the same meanwhile and deletes it at its new place: nothing brings it back.
TEST(LakeRaces, WhatWasDeletedInAnotherFlatFileSystemStaysDeleted) {
  constexpr int kMostRecords = 40;
  constexpr int kMostCommits = 4;
  int met = 0;
  for (int left = -kMostCommits; left < kMostRecords; ++left) {
    OpenedStore store;
    TestLake lake(store);
    lake.around.context.settings = service::SettingsTable();
    for (const char* name : {"flat", "other"})
      ASSERT_EQ(lake.send({"PUT", name, "restype=container"}).outcome(), "201");
    ASSERT_EQ(lake.send(TestLake::put("flat/f", "content")).outcome(), "201");
    const Request move = TestLake::rename("flat/f", "other/f");
    const Request remove{"DELETE", "other/f"};
    bool came = false;
    store.meanwhile = [&]() -> Task<void> {
      TestLake::Apart apart(lake.around.context);
      const auto moved = co_await lake.serve(apart.context, move);
      const auto gone = co_await lake.serve(apart.context, remove);
      came = moved.outcome() == "201" && gone.outcome() == "202";
    };
    store.left = std::max(left, 0);
    store.commits_left = std::max(-left, 0);
    const auto outcome = lake.send(move).outcome();
    if (!came) continue;
    ++met;
    EXPECT_EQ(lake.send({"GET", "flat/f"}).outcome(), "404 BlobNotFound") << "record " << left;
    EXPECT_EQ(lake.send({"GET", "other/f"}).outcome(), "404 BlobNotFound") << "record " << left;
    EXPECT_TRUE(outcome == "201" || outcome == "404 SourcePathNotFound") << outcome;
  }
  EXPECT_GE(met, 5);
}

// A rename ends by replacing the directory that marks its way, and no other rename's.
TEST(LakeRaces, ARenameThatEndsReplacesItsOwnMark) {
  constexpr int kMostRecords = 60;
  int met = 0;
  for (int left = 1; left < kMostRecords; ++left) {
    OpenedStore store;
    TestLake lake(store);
    lake.around.context.settings = service::SettingsTable();
    ASSERT_EQ(lake.send({"PUT", "flat", "restype=container"}).outcome(), "201");
    ASSERT_EQ(lake.send(TestLake::make_directory("flat/d")).outcome(), "201");
    ASSERT_EQ(lake.send(TestLake::put("flat/d/f", "content")).outcome(), "201");
    // As if the mark had gone with its directory, and another rename had begun.
    bool came = false;
    store.meanwhile = [&]() -> Task<void> {
      store::Commit commit;
      auto looked = co_await store.look([&](const store::View& view) -> store::Result<void> {
        commit = {};
        const store::Key key(lifetime::directory_space("account"), lifetime::kContainersFamily,
                             "flat");
        const auto space = store::decode<blob::Container>((*view.get(key))->value)->space;
        const store::Key at(space, blob::kHeads, "e");
        auto record = view.get(at);
        if (!record || *record == nullptr) return {};
        auto head = store::decode<blob::Blob>((*record)->value).value();
        if (!head.arrival) return {};
        head.arrival->from = "flat/another";
        commit.put(at, service::to_record(head));
        return {};
      });
      EXPECT_TRUE(looked.ok());
      if (commit.writes.empty()) co_return;
      came = true;
      EXPECT_TRUE((co_await store.commit(std::move(commit))).ok());
    };
    store.left = left;
    const auto outcome = lake.send(TestLake::rename("flat/d", "flat/e")).outcome();
    if (!came) {
      EXPECT_EQ(outcome, "201") << "record " << left;
      continue;
    }
    ++met;
    EXPECT_EQ(outcome, "409 PathAlreadyExists") << "record " << left;
    EXPECT_EQ(lake.send({"HEAD", "flat/d"}).outcome(), "200") << "record " << left;
  }
  EXPECT_GE(met, 3);
}

TEST(LakeRaces, ASasForOnePathTakesNoTree) {
  auth::Caller one;
  one.kind = auth::Caller::Kind::kServiceSas;
  one.permissions = "d";
  one.scope = auth::Scope::kObject;
  one.container = "lake";
  for (uint64_t seed = 0; seed < 20 * kSeeds; ++seed) {
    Race race;
    race.send(TestLake::put("lake/f", "content"));
    race.send(TestLake::put("lake/d/1", "content"));
    Request remove = TestLake::remove("lake/f");
    remove.caller = one;
    race.run(seed,
             {remove, TestLake::rename("lake/f", "lake/g"), TestLake::rename("lake/d", "lake/f")});
    const auto tree = race.lake.tree();
    EXPECT_NE(tree.find("/1 "), std::string::npos) << "seed " << seed << " " << tree;
  }
}

}  // namespace
}  // namespace kyanite::datalake
