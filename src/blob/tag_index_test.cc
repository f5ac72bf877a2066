// Find Blobs by Tags: what the index has, and that it never lacks a true entry, however changes,
// finds and the removal of entries interleave.
#include "blob/tag_index.h"

#include <gtest/gtest.h>

#include "blob/lost_tags.h"
#include "blob/overdue_blobs.h"
#include "blob/tag_entry.h"
#include "blob/test_support.h"
#include "blob/untrue_tags.h"
#include "jobs/test_support.h"
#include "lifetime/deleted.h"
#include "lifetime/directory.h"
#include "service/storage.h"
#include "store/interleaving.h"

namespace kyanite::blob {
namespace {

const std::string kWhere = "%22a%22%3D%271%27";  // "a"='1'

uint64_t count_entries(TestService& blobs) {
  uint64_t count = 0;
  auto looked = RunLoop::run(blobs.around.context.store.look([&](const store::View& view) {
    auto cursor = view.scan(store::Range::family(tag_space("account"), kTagEntries));
    for (; cursor->valid(); cursor->next()) ++count;
    return cursor->status();
  }));
  EXPECT_TRUE(looked.ok());
  return count;
}

// A whole round of a job; how many records it changed.
Task<uint64_t> do_round(jobs::Job job, service::Context& context) {
  co_return co_await jobs::run_round(job, context.store, context.clock);
}

class TagIndex : public testing::Test {
 protected:
  void SetUp() override {
    service::AccountSettings settings;
    settings.container_retention_days = 7;
    blobs.around.context.settings = service::SettingsTable(settings);
    ASSERT_EQ(blobs.make_container("box").outcome(), "201");
  }
  void remove_untrue() { RunLoop::run(do_round(remove_untrue_tags_job(), blobs.around.context)); }
  // An entry as servers wrote it whose entries did not name the change that made them.
  void add_old_entry(const std::string& blob, store::SpaceId space) {
    struct Old {
      store::SpaceId space = 0;
      void fields(store::FieldWriter& io) { io(1, space); }
    };
    store::Commit commit;
    const store::Key key(tag_space("account"), kTagEntries, tag_partition("a", "1"),
                         std::string("box") + '\0' + blob);
    commit.put(key, service::to_record(Old{space}));
    ASSERT_TRUE(RunLoop::run(blobs.around.context.store.commit(std::move(commit))).ok());
  }
  store::SpaceId space_of_box() {
    const store::Key key(lifetime::directory_space("account"), lifetime::kContainersFamily, "box");
    auto record = RunLoop::run(blobs.around.context.store.get(key));
    return store::decode<Container>((*record)->value)->space;
  }

  store::InterleavedStore store;
  TestService blobs{store};
};

TEST_F(TagIndex, FollowsTheBlob) {
  ASSERT_EQ(blobs.send(blobs.put("box/one", "a=1&b=2")).outcome(), "201");
  ASSERT_EQ(blobs.send(blobs.put("box/two", "a=1")).outcome(), "201");
  EXPECT_EQ(blobs.find(kWhere), "one two ");
  ASSERT_EQ(blobs.send(blobs.set_tags("box/one", "a", "2")).outcome(), "204");
  EXPECT_EQ(blobs.find(kWhere), "two ");
  ASSERT_EQ(blobs.send({"DELETE", "box/two"}).outcome(), "202");
  EXPECT_EQ(blobs.find(kWhere), "");
  EXPECT_EQ(count_entries(blobs), 4U);
  remove_untrue();
  EXPECT_EQ(count_entries(blobs), 1U);
  EXPECT_EQ(blobs.find("%22a%22%3E%271%27"), "one ");
}

TEST_F(TagIndex, AFindRemovesNothing) {
  ASSERT_EQ(blobs.send(blobs.put("box/one", "a=1")).outcome(), "201");
  ASSERT_EQ(blobs.send({"DELETE", "box/one"}).outcome(), "202");
  EXPECT_EQ(blobs.find(kWhere), "");
  EXPECT_EQ(count_entries(blobs), 1U);
}

TEST_F(TagIndex, TagsOfTheCurrentVersionAreThoseOfTheBlob) {
  service::AccountSettings settings;
  settings.blob_versioning = true;
  blobs.around.context.settings = service::SettingsTable(settings);
  const auto made = blobs.send(blobs.put("box/one"));
  auto request = blobs.set_tags("box/one", "a", "1");
  request.query += "&versionid=" + made.header("x-ms-version-id");
  ASSERT_EQ(blobs.send(request).outcome(), "204");
  EXPECT_EQ(blobs.find(kWhere), "one ");
}

TEST_F(TagIndex, WhatComesBackIsFoundAgain) {
  ASSERT_EQ(blobs.keep_deleted().outcome(), "202");
  ASSERT_EQ(blobs.send(blobs.put("box/one", "a=1")).outcome(), "201");
  ASSERT_EQ(blobs.send({"DELETE", "box/one"}).outcome(), "202");
  remove_untrue();
  EXPECT_EQ(blobs.find(kWhere), "");
  ASSERT_EQ(blobs.send({"PUT", "box/one", "comp=undelete"}).outcome(), "200");
  EXPECT_EQ(blobs.find(kWhere), "one ");
  // The container, too, although another one had its name and the same blob meanwhile.
  ASSERT_EQ(blobs.send({"DELETE", "box", "restype=container"}).outcome(), "202");
  const auto version = lifetime::deletion_version(blobs.around.clock.now());
  blobs.around.clock.advance_seconds(1);
  ASSERT_EQ(blobs.make_container("box").outcome(), "201");
  EXPECT_EQ(blobs.find(kWhere), "");
  ASSERT_EQ(blobs.send(blobs.put("box/one", "a=1")).outcome(), "201");
  EXPECT_EQ(blobs.find(kWhere), "one ");
  ASSERT_EQ(blobs.send({"DELETE", "box", "restype=container"}).outcome(), "202");
  remove_untrue();
  ASSERT_EQ(blobs
                .send({"PUT",
                       "box",
                       "restype=container&comp=undelete",
                       {{"x-ms-deleted-container-name", "box"},
                        {"x-ms-deleted-container-version", version}}})
                .outcome(),
            "201");
  EXPECT_EQ(blobs.find(kWhere), "one ");
}

TEST_F(TagIndex, OldEntriesAreFoundOnceAndGoWhenTheyAreNotNeeded) {
  ASSERT_EQ(blobs.send(blobs.put("box/one", "a=1")).outcome(), "201");
  add_old_entry("one", space_of_box());   // Has one of the new form beside it.
  add_old_entry("gone", space_of_box());  // Is of no blob.
  ASSERT_EQ(blobs.send(blobs.put("box/two", "a=1")).outcome(), "201");
  EXPECT_EQ(blobs.find(kWhere), "one two ");
  remove_untrue();
  EXPECT_EQ(count_entries(blobs), 2U);
  // One that is all there is stays.
  store::Commit commit;
  commit.writes.push_back(
      {tag_entry_key("account", tag_partition("a", "1"), "box", "one", space_of_box()), nullptr});
  ASSERT_TRUE(RunLoop::run(store.commit(std::move(commit))).ok());
  add_old_entry("one", space_of_box());
  remove_untrue();
  EXPECT_EQ(blobs.find(kWhere), "one two ");
}

TEST_F(TagIndex, APageLooksAtSoManyEntries) {
  constexpr uint64_t kUntrue = kEntriesPerPage;
  std::vector<store::Commit> commits(1);
  for (uint64_t i = 0; i < kUntrue; ++i) {
    commits.front().writes.push_back(
        {tag_entry_key("account", tag_partition("a", "1"), "box", "a" + std::to_string(i), 7),
         service::to_record(TagEntry{7, 1})});
  }
  ASSERT_TRUE(RunLoop::run(commit_together(store, std::move(commits))).front().ok());
  ASSERT_EQ(blobs.send(blobs.put("box/last", "a=1")).outcome(), "201");
  const auto first = blobs.send({"GET", "", "comp=blobs&where=" + kWhere});
  EXPECT_EQ(first.body.find("<Name>"), std::string::npos);
  EXPECT_NE(first.body.find("<NextMarker>"), std::string::npos);
  int pages = 0;
  EXPECT_EQ(blobs.find(kWhere, &pages), "last ");
  EXPECT_EQ(pages, 2);
  // Those of another container are not looked at where one is named.
  pages = 0;
  ASSERT_EQ(blobs.make_container("other").outcome(), "201");
  ASSERT_EQ(blobs.send(blobs.put("other/one", "a=1")).outcome(), "201");
  EXPECT_EQ(blobs.find("%40container%3D%27other%27+AND+" + kWhere, &pages), "one ");
  EXPECT_EQ(pages, 1);
}

TEST_F(TagIndex, AChangeThatWasGivenUpStopsNobodyForLong) {
  ASSERT_EQ(blobs.send(blobs.put("box/one")).outcome(), "201");
  store::Commit commit;
  const store::Key key(space_of_box(), kTagChanges, "one", "given up");
  commit.put(key, service::to_record(TagChange{1, blobs.around.clock.now()}));
  ASSERT_TRUE(RunLoop::run(store.commit(std::move(commit))).ok());
  add_old_entry("one", space_of_box());
  remove_untrue();
  EXPECT_EQ(count_entries(blobs), 1U);
  blobs.around.clock.advance_seconds(kTagChangeLifeSeconds);
  EXPECT_EQ(RunLoop::run(do_round(remove_overdue_job(), blobs.around.context)), 1U);
  remove_untrue();
  EXPECT_EQ(count_entries(blobs), 0U);
}

TEST_F(TagIndex, WhatAnEarlierVersionLostIsWrittenAgainOnce) {
  const auto mend = [&] { return RunLoop::run(do_round(mend_tags_job(), blobs.around.context)); };
  const auto lose = [&] {
    store::Commit commit;
    commit.writes.push_back(
        {tag_entry_key("account", tag_partition("a", "1"), "box", "one", space_of_box()), nullptr});
    ASSERT_TRUE(RunLoop::run(store.commit(std::move(commit))).ok());
    EXPECT_EQ(blobs.find(kWhere), "");
  };
  ASSERT_EQ(blobs.send(blobs.put("box/one", "a=1&b=2")).outcome(), "201");
  ASSERT_EQ(blobs.send(blobs.put("box/two")).outcome(), "201");
  lose();
  EXPECT_EQ(mend(), 1U);
  EXPECT_EQ(blobs.find(kWhere), "one ");
  EXPECT_EQ(count_entries(blobs), 2U);
  remove_untrue();
  EXPECT_EQ(blobs.find(kWhere), "one ");
  // Nothing is lost any more, so nobody looks again.
  lose();
  EXPECT_EQ(mend(), 0U);
  EXPECT_EQ(blobs.find(kWhere), "");
}

// Of every blob that requests can reach, or that can come back, all tags have their entries.
class AllTagsAreIndexed {
 public:
  explicit AllTagsAreIndexed(store::InterleavedStore& store) : store_(store) {}

  std::string problem() {
    std::string wrong;
    auto looked = store_.look_now([&](const store::View& view) -> store::Result<void> {
      const auto directory = lifetime::directory_space("account");
      for (const auto family : {lifetime::kContainersFamily, lifetime::kDeletedContainersFamily}) {
        auto cursor = view.scan(store::Range::family(directory, family));
        for (; cursor->valid(); cursor->next()) {
          const auto key = store::Key::from_bytes(std::string(cursor->key()));
          const auto bytes = (*cursor->record())->value;
          const auto space = family == lifetime::kContainersFamily
                                 ? store::decode<Container>(bytes)->space
                                 : store::decode<lifetime::Deleted<Container>>(bytes)->value.space;
          wrong += missing(view, key.partition(), space);
        }
      }
      return {};
    });
    return looked.ok() ? wrong : "cannot be read";
  }

 private:
  static std::string missing(const store::View& view, const std::string& container,
                             store::SpaceId space) {
    std::string wrong;
    auto cursor = view.scan(store::Range::family(space, kHeads));
    for (; cursor->valid(); cursor->next()) {
      const auto key = store::Key::from_bytes(std::string(cursor->key()));
      if (!key.row().empty()) continue;
      const auto blob = store::decode<Blob>((*cursor->record())->value);
      for (const auto& [tag, value] : blob->tags) {
        const auto entry =
            tag_entry_key("account", tag_partition(tag, value), container, key.partition(), space);
        if (*view.get(entry) == nullptr) wrong += key.partition() + " " + tag + "=" + value + " ";
      }
    }
    return wrong;
  }

  store::InterleavedStore& store_;
};

// What one client does, one request after the other.
Task<void> change_often(TestService& blobs, uint64_t seed) {
  TestService::Apart apart(blobs.around.context);
  std::mt19937_64 random(seed);
  for (int i = 0; i < 4; ++i) {
    const std::string path = random() % 4 == 0 ? "box/two" : "box/one";
    TestService::Request request = blobs.put(path, "a=1");
    switch (random() % 8) {
      case 0:
        request = blobs.put(path);
        break;
      case 1:
        request = blobs.put(path, "a=2&b=1");
        break;
      case 2:
        request = blobs.set_tags(path, "a", "1");
        break;
      case 3:
        request = {"DELETE", path};
        break;
      case 4:
        request = {"PUT", path, "comp=undelete"};
        break;
      case 5:
        request = {
            "PUT",
            path,
            {},
            {{"x-ms-copy-source", "http://127.0.0.1:10000/account/box/two"}, {"x-ms-tags", "b=1"}}};
        break;
      default:
        break;
    }
    const auto answer = co_await blobs.serve(apart.context, std::move(request));
    EXPECT_NE(answer.status, 503);
    // The clock goes on by an hour now and then, which is more than a request has.
    if (answer.status == 500) {
      EXPECT_EQ(answer.outcome(), "500 OperationTimedOut");
    }
  }
}

// Takes every announcement for one that was given up, which must be safe as well.
Task<void> tidy_up(TestService& blobs, uint64_t seed) {
  std::mt19937_64 random(seed);
  for (int i = 0; i < 6; ++i) {
    co_await do_round(remove_untrue_tags_job(), blobs.around.context);
    if (random() % 2 == 0) continue;
    blobs.around.clock.advance_seconds(kTagChangeLifeSeconds);
    co_await do_round(remove_overdue_job(), blobs.around.context);
  }
}

TEST(TagIndexAlways, HasEveryTrueEntryHoweverItIsChanged) {
  for (uint64_t seed = 0; seed < 200 && !testing::Test::HasFailure(); ++seed) {
    store::InterleavedStore store;
    TestService blobs(store);
    ASSERT_EQ(blobs.make_container("box").outcome(), "201");
    ASSERT_EQ(blobs.keep_deleted().outcome(), "202");
    AllTagsAreIndexed all(store);
    std::vector<Task<void>> tasks;
    for (uint64_t client = 0; client < 3; ++client)
      tasks.push_back(change_often(blobs, seed * 10 + client));
    tasks.push_back(tidy_up(blobs, seed));
    store::Interleaving turns(seed);
    turns.run(std::move(tasks), [&] {
      if (!testing::Test::HasFailure()) {
        EXPECT_EQ(all.problem(), "") << "seed " << seed;
      }
    });
  }
}

}  // namespace
}  // namespace kyanite::blob
