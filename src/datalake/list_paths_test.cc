// Listings of paths while others change them, and paths that are kept when they are deleted.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "blob/overdue_blobs.h"
#include "datalake/test_support.h"

namespace kyanite::datalake {
namespace {

using Request = TestLake::Request;

// The texts behind `begin` and before `end`, each with a blank behind it.
std::string all_between(const std::string& body, const std::string& begin, const std::string& end) {
  std::string found;
  for (size_t at = 0; (at = body.find(begin, at)) != std::string::npos;) {
    at += begin.size();
    found += body.substr(at, body.find(end, at) - at) + " ";
  }
  return found;
}

struct Page {
  std::string names;
  std::string next;
};

Page list(TestLake& lake, const std::string& query, const std::string& next = {}) {
  const auto answer =
      lake.send({"GET", "lake",
                 "resource=filesystem&" + query + (next.empty() ? "" : "&continuation=" + next)});
  EXPECT_EQ(answer.outcome(), "200") << answer.body;
  return {all_between(answer.body, "\"name\":\"", "\""), answer.header("x-ms-continuation")};
}

// Lists what was deleted as "path#id ".
std::string deleted(TestLake& lake, const std::string& query = {}) {
  const auto answer =
      lake.send({"GET", "lake", "restype=container&comp=list&showonly=deleted" + query});
  EXPECT_EQ(answer.outcome(), "200") << answer.body;
  return all_between(answer.body, "<Name>", "</Name>");
}

void keep_deleted(TestLake& lake) {
  const auto answer = lake.send({"PUT",
                                 "",
                                 "restype=service&comp=properties",
                                 {},
                                 "<StorageServiceProperties><DeleteRetentionPolicy><Enabled>true"
                                 "</Enabled><Days>7</Days></DeleteRetentionPolicy>"
                                 "</StorageServiceProperties>"});
  EXPECT_EQ(answer.outcome(), "202");
}

Request undelete(const std::string& path, const std::string& source) {
  return {"PUT", path, "comp=undelete", {{"x-ms-undelete-source", source}}};
}

void make(TestLake& lake, const std::vector<std::string>& files) {
  for (const auto& file : files)
    ASSERT_EQ(lake.send(TestLake::make_file("lake/" + file)).outcome(), "201");
}

TEST(ListPaths, GoesOnWhereItWasWhateverIsRenamedOrDeletedMeanwhile) {
  TestLake lake;
  make(lake, {"a/b/1", "a/b/2", "a/c", "d/e", "f"});
  const auto first = list(lake, "recursive=true&maxResults=3");
  EXPECT_EQ(first.names, "a a/b a/b/1 ");
  // Where it is to go on is not there any more.
  EXPECT_EQ(lake.send(TestLake::rename("lake/a/b", "lake/z")).outcome(), "201");
  const auto second = list(lake, "recursive=true&maxResults=3", first.next);
  EXPECT_EQ(second.names, "a/c d d/e ");
  EXPECT_EQ(lake.send(TestLake::remove("lake/f")).outcome(), "200");
  const auto third = list(lake, "recursive=true&maxResults=3", second.next);
  EXPECT_EQ(third.names, "z z/1 z/2 ");
  EXPECT_EQ(third.next, "");
}

TEST(ListPaths, OfOneDirectoryWithAndWithoutWhatIsBelow) {
  TestLake lake;
  make(lake, {"a/b/1", "a/c", "d"});
  EXPECT_EQ(list(lake, "recursive=false").names, "a d ");
  EXPECT_EQ(list(lake, "recursive=false&directory=a").names, "a/b a/c ");
  EXPECT_EQ(list(lake, "recursive=true&directory=a/").names, "a/b a/b/1 a/c ");
  EXPECT_EQ(list(lake, "recursive=true&directory=a&beginFrom=b/1").names, "a/b/1 a/c ");
  EXPECT_EQ(list(lake, "recursive=false&beginFrom=b").names, "d ");
  // Clients make continuations of their own: a checksum, a zero, and a name.
  EXPECT_EQ(list(lake, "recursive=false&directory=a", "LTYzMTU5NzIwMTg0MzUwMzI4IDAgYw%3D%3D").names,
            "a/c ");
  // A file is listed as itself.
  EXPECT_EQ(list(lake, "recursive=true&directory=d").names, "d ");
  EXPECT_EQ(list(lake, "recursive=false&directory=/a/b/1").names, "a/b/1 ");
  const auto refused = [&](const std::string& query) {
    return lake.send({"GET", "lake", "resource=filesystem&" + query}).outcome();
  };
  EXPECT_EQ(refused("recursive=true&directory=none"), "404 PathNotFound");
  EXPECT_EQ(refused("recursive=true&directory=d/none"), "404 PathNotFound");
  EXPECT_EQ(refused(""), "400 MissingRequiredQueryParameter");
  EXPECT_EQ(refused("recursive=maybe"), "400 InvalidQueryParameterValue");
  EXPECT_EQ(refused("recursive=false&beginFrom=a/b"), "400 InvalidQueryParameterValue");
  EXPECT_EQ(refused("recursive=false&continuation=!"), "400 InvalidQueryParameterValue");
}

TEST(ListPaths, WithoutDirectoriesNamesAreFolded) {
  TestLake lake;
  lake.around.context.settings = service::SettingsTable(service::AccountSettings());
  ASSERT_EQ(lake.send({"PUT", "flat", "restype=container"}).outcome(), "201");
  for (const char* name : {"a/1", "a-b", "a/2/3", "marked/x"})
    ASSERT_EQ(lake.send(TestLake::put("flat/" + std::string(name), "x")).outcome(), "201");
  ASSERT_EQ(lake.send({"PUT",
                       "flat/marked",
                       {},
                       {{"x-ms-blob-type", "BlockBlob"}, {"x-ms-meta-hdi_isfolder", "true"}}})
                .outcome(),
            "201");
  const auto names = [&](const std::string& query) {
    const auto answer = lake.send({"GET", "flat", "resource=filesystem&" + query});
    return answer.status == 200 ? all_between(answer.body, "\"name\":\"", "\"") : answer.outcome();
  };
  EXPECT_EQ(names("recursive=true"), "a-b a/1 a/2/3 marked marked/x ");
  EXPECT_EQ(names("recursive=false"), "a-b a marked ");
  EXPECT_EQ(names("recursive=false&directory=a"), "a/1 a/2 ");
  EXPECT_EQ(names("recursive=false&directory=none"), "404 PathNotFound");
  const auto answer = lake.send({"GET", "flat", "resource=filesystem&recursive=false"});
  EXPECT_EQ(all_between(answer.body, "\"isDirectory\":\"", "\""), "true true ");
  EXPECT_EQ(answer.body.find("owner"), std::string::npos);
}

// A store for whose looks others always wait: each ends as soon as it may.
class HastyStore final : public store::MemoryStore {
 public:
  std::unique_ptr<store::Snapshot> snapshot() override {
    return std::make_unique<Hasty>(store::MemoryStore::snapshot(), looks);
  }
  size_t looks = 0;

 private:
  class HastyView final : public store::View {
   public:
    explicit HastyView(const store::View& view) : view_(view) {}
    store::Result<store::RecordPtr> get(const store::Key& key) const override {
      return view_.get(key);
    }
    std::unique_ptr<Cursor> scan(const store::Range& range) const override {
      return view_.scan(range);
    }
    bool enough() const override { return true; }

   private:
    const store::View& view_;
  };
  class Hasty final : public store::Snapshot {
   public:
    Hasty(std::unique_ptr<store::Snapshot> all, size_t& looks)
        : all_(std::move(all)), looks_(looks) {}
    Task<store::Result<void>> look(store::Look look) override { return scan(std::move(look)); }
    Task<store::Result<void>> scan(store::Look look) override {
      ++looks_;
      const store::Look hasty = [look = std::move(look)](const store::View& view) {
        return look(HastyView(view));
      };
      co_return co_await all_->scan(hasty);
    }

   private:
    const std::unique_ptr<store::Snapshot> all_;
    size_t& looks_;
  };
};

TEST(ListPaths, WithoutDirectoriesFormerStatesAreJumpedOver) {
  constexpr size_t kSnapshots = 2000;
  HastyStore store;
  TestLake lake(store);
  service::AccountSettings settings;
  settings.blob_versioning = true;
  lake.around.context.settings = service::SettingsTable(settings);
  ASSERT_EQ(lake.send({"PUT", "flat", "restype=container"}).outcome(), "201");
  for (const char* name : {"a", "b/1", "b/2", "c", "d", "e/1"})
    ASSERT_EQ(lake.send(TestLake::put("flat/" + std::string(name), "x")).outcome(), "201");
  lake.around.context.settings = service::SettingsTable();
  for (size_t i = 0; i < kSnapshots; ++i)
    ASSERT_EQ(lake.send({"PUT", "flat/a", "comp=snapshot"}).status, 201);
  lake.around.context.settings = service::SettingsTable(settings);
  // Of these only versions are left.
  for (const char* name : {"flat/c", "flat/d", "flat/e/1"})
    ASSERT_EQ(lake.send({"DELETE", name}).status, 202);
  const struct {
    const char* query;
    const char* names;
    size_t most_looks;
  } cases[] = {
      {"recursive=true", "a b/1 b/2 ", 7},
      {"recursive=false", "a b ", 6},
      {"recursive=true&directory=b", "b/1 b/2 ", 3},
      {"recursive=true&directory=e", "404 PathNotFound", 2},
      {"recursive=true&maxResults=1", "a ", 3},
  };
  for (const auto& given : cases) {
    store.looks = 0;
    const auto answer =
        lake.send({"GET", "flat", std::string("resource=filesystem&") + given.query});
    EXPECT_EQ(
        answer.status == 200 ? all_between(answer.body, "\"name\":\"", "\"") : answer.outcome(),
        given.names)
        << given.query;
    EXPECT_LE(store.looks, given.most_looks) << given.query;
  }
}

TEST(DeletedPaths, EachDeletionOfANameIsRestoredByItsId) {
  TestLake lake;
  keep_deleted(lake);
  ASSERT_EQ(lake.send(TestLake::put("lake/d/f", "one")).outcome(), "201");
  const auto one = lake.send(TestLake::remove("lake/d/f"));
  EXPECT_EQ(one.header("x-ms-delete-type-permanent"), "false");
  ASSERT_EQ(lake.send(TestLake::put("lake/d/f", "two")).outcome(), "201");
  const auto two = lake.send({"DELETE", "lake/d/f", {}, {{"Accept", "application/xml"}}});
  EXPECT_EQ(two.outcome(), "202");
  ASSERT_NE(one.header("x-ms-deletion-id"), two.header("x-ms-deletion-id"));
  EXPECT_EQ(deleted(lake), "d/f d/f ");
  EXPECT_EQ(deleted(lake, "&prefix=d/"), "d/f d/f ");
  EXPECT_EQ(deleted(lake, "&prefix=x"), "");
  EXPECT_EQ(deleted(lake, "&delimiter=/"), "d/ ");
  EXPECT_EQ(list(lake, "recursive=true").names, "d ");
  const auto source = [](const Answer& answer) {
    return "?deletionid=" + answer.header("x-ms-deletion-id");
  };
  EXPECT_EQ(lake.send(undelete("lake/d/f", source(one))).outcome(), "200");
  EXPECT_EQ(lake.send({"GET", "lake/d/f"}).body, "one");
  EXPECT_EQ(lake.send(undelete("lake/d/f", source(two))).outcome(), "409 BlobAlreadyExists");
  EXPECT_EQ(lake.send(undelete("lake/d/g", "d%2Ff" + source(two))).outcome(), "200");
  EXPECT_EQ(lake.send({"GET", "lake/d/g"}).body, "two");
  EXPECT_EQ(lake.send(undelete("lake/d/h", "d/f" + source(two))).outcome(), "404 BlobNotFound");
  EXPECT_EQ(deleted(lake), "");
}

TEST(DeletedPaths, ADirectoryComesBackWithAllThatWasInIt) {
  TestLake lake;
  keep_deleted(lake);
  make(lake, {"a/b/1", "a/2"});
  const auto gone = lake.send(TestLake::remove("lake/a"));
  EXPECT_EQ(deleted(lake), "a ");
  EXPECT_EQ(lake.tree(), "");
  EXPECT_EQ(lake.send(undelete("lake/none/a", "a?deletionid=" + gone.header("x-ms-deletion-id")))
                .outcome(),
            "404 BlobNotFound");
  const auto back = lake.send(undelete("lake/a", "?deletionid=" + gone.header("x-ms-deletion-id")));
  EXPECT_EQ(back.outcome(), "200");
  EXPECT_EQ(back.header("x-ms-resource-type"), "directory");
  EXPECT_EQ(lake.tree(), "a/ a/2 a/b/ a/b/1 ");
  EXPECT_EQ(lake.out_of_reach(), 0U);
}

TEST(DeletedPaths, AreListedInPages) {
  TestLake lake;
  keep_deleted(lake);
  for (const char* name : {"b", "a", "a", "c/d"}) {
    make(lake, {name});
    lake.send(TestLake::remove("lake/" + std::string(name)));
  }
  std::string names, marker;
  do {
    const auto answer =
        lake.send({"GET", "lake",
                   "restype=container&comp=list&showonly=deleted&maxresults=1&marker=" + marker});
    names += all_between(answer.body, "<Name>", "</Name>");
    marker = all_between(answer.body, "<NextMarker>", "<");
    if (!marker.empty()) marker.pop_back();
  } while (!marker.empty());
  EXPECT_EQ(names, "a a b c/d ");
}

TEST(DeletedPaths, AreGoneAfterTheirRetention) {
  TestLake lake;
  keep_deleted(lake);
  make(lake, {"a/b/1"});
  ASSERT_EQ(lake.send(TestLake::put("lake/f", std::string(20'000, 'x'))).outcome(), "201");
  const auto tree = lake.send(TestLake::remove("lake/a"));
  lake.send(TestLake::remove("lake/f"));
  lake.around.clock.advance_seconds(7 * 24 * 3600);
  EXPECT_EQ(deleted(lake), "");
  EXPECT_EQ(
      lake.send(undelete("lake/a", "?deletionid=" + tree.header("x-ms-deletion-id"))).outcome(),
      "404 BlobNotFound");
  const jobs::Job job = blob::remove_overdue_paths_job();
  EXPECT_EQ(RunLoop::run(jobs::run_round(job, lake.around.context.store, lake.around.clock)), 2U);
  EXPECT_EQ(lake.out_of_reach(), 0U);
}

TEST(DeletedPaths, GoWithTheirContainer) {
  TestLake lake;
  keep_deleted(lake);
  ASSERT_EQ(lake.send({"PUT", "other", "restype=container"}).outcome(), "201");
  for (const char* path : {"other/a/1", "other/b"})
    ASSERT_EQ(lake.send(TestLake::put(path, std::string(20'000, 'x'))).outcome(), "201");
  lake.send(TestLake::remove("other/a"));
  lake.send(TestLake::remove("other/b"));
  ASSERT_EQ(lake.send({"DELETE", "other", "restype=container"}).outcome(), "202");
  for (const auto& job : LakeService().make_jobs(lake.around.context)) {
    if (job.name == "dead-containers")
      RunLoop::run(jobs::run_round(job, lake.around.context.store, lake.around.clock));
  }
  EXPECT_EQ(lake.out_of_reach(), 0U);
}

}  // namespace
}  // namespace kyanite::datalake
