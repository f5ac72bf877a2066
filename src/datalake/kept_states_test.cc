// What versions, soft delete, policies and holds promise, and what Data Lake writes do to it.
#include <gtest/gtest.h>

#include <string>

#include "datalake/test_support.h"

namespace kyanite::datalake {
namespace {

using Request = TestLake::Request;

constexpr const char* kHeld = "409 BlobImmutableDueToLegalHold";

// A lake with a flat container beside the one with directories.
class Kept : public TestLake {
 public:
  Kept() {
    set({});
    EXPECT_EQ(send({"PUT", "flat", "restype=container"}).outcome(), "201");
  }
  void set(const service::AccountSettings& settings) {
    around.context.settings = service::SettingsTable(settings);
  }
  void keep_deleted() {
    EXPECT_EQ(send({"PUT",
                    "",
                    "restype=service&comp=properties",
                    {},
                    "<StorageServiceProperties><DeleteRetentionPolicy><Enabled>true</Enabled>"
                    "<Days>7</Days></DeleteRetentionPolicy></StorageServiceProperties>"})
                  .outcome(),
              "202");
  }
  std::string write(const std::string& path, const std::string& body) {
    const auto written = send(put(path, body));
    EXPECT_EQ(written.outcome(), "201");
    return written.header("x-ms-version-id");
  }
  std::string snapshot(const std::string& path) {
    return send({"PUT", path, "comp=snapshot"}).header("x-ms-snapshot");
  }
  std::string hold(const std::string& path, const std::string& query = {}) {
    return send({"PUT", path, "comp=legalhold" + query, {{"x-ms-legal-hold", "true"}}}).outcome();
  }
  // As a server would have left it that let paths be held: the head under this last name, or what
  // lies under its id.
  void plant_hold(const std::string& name, bool on_snapshots) {
    store::Commit commit;
    uint64_t id = 0;
    auto looked = RunLoop::run(around.context.store.look([&](const store::View& view) {
      const auto each = [&](const auto& use) {
        auto cursor = view.scan(store::Range::family(blob::lake_space("account"), blob::kHeads));
        for (; cursor->valid(); cursor->next()) {
          auto key = store::Key::from_bytes(std::string(cursor->key()));
          use(key, store::decode<blob::Blob>((*cursor->record())->value).value());
        }
      };
      each([&](const store::Key& key, const blob::Blob& head) {
        if (std::string(key.partition()).substr(sizeof(uint64_t)) == name) id = head.node_id;
      });
      each([&](const store::Key& key, blob::Blob head) {
        if (head.node_id != id || key.row().empty() == on_snapshots) return;
        head.legal_hold = true;
        commit.put(key, service::to_record(head));
      });
      return store::Result<void>();
    }));
    ASSERT_TRUE(looked.ok());
    ASSERT_FALSE(commit.writes.empty());
    ASSERT_TRUE(RunLoop::run(around.context.store.commit(std::move(commit))).ok());
  }
};

TEST(KeptStates, APathThatIsMadeAgainLeavesAVersion) {
  Kept lake;
  lake.set({.blob_versioning = true});
  const auto version = lake.write("flat/f", "one");
  ASSERT_EQ(lake.send(TestLake::make_file("flat/f")).outcome(), "201");
  EXPECT_EQ(lake.send({"GET", "flat/f"}).body, "");
  EXPECT_EQ(lake.send({"GET", "flat/f", "versionid=" + version}).body, "one");
}

TEST(KeptStates, OtherPropertiesLeaveAVersion) {
  Kept lake;
  lake.set({.blob_versioning = true});
  const auto version = lake.write("flat/f", "one");
  ASSERT_EQ(lake.send({"PATCH", "flat/f", "action=setProperties", {{"x-ms-properties", "a=MQ=="}}})
                .outcome(),
            "200");
  EXPECT_EQ(lake.send({"HEAD", "flat/f"}).header("x-ms-meta-a"), "1");
  const auto before = lake.send({"GET", "flat/f", "versionid=" + version});
  EXPECT_EQ(before.body, "one");
  EXPECT_EQ(before.header("x-ms-meta-a"), "");
}

TEST(KeptStates, APathThatIsMadeAgainLeavesASoftDeletedState) {
  Kept lake;
  lake.keep_deleted();
  lake.write("flat/f", "one");
  ASSERT_EQ(lake.send(TestLake::make_file("flat/f")).outcome(), "201");
  const Request list{"GET", "flat", "restype=container&comp=list&include=deleted,snapshots"};
  EXPECT_NE(lake.send(list).body.find("<Deleted>true</Deleted>"), std::string::npos);
}

TEST(KeptStates, ADeletedPathComesBackWithItsSnapshots) {
  Kept lake;
  lake.keep_deleted();
  lake.write("flat/f", "one");
  const auto snapshot = lake.snapshot("flat/f");
  lake.write("flat/f", "two");
  const auto deleted = lake.send(TestLake::remove("flat/f"));
  EXPECT_EQ(deleted.header("x-ms-delete-type-permanent"), "false");
  ASSERT_EQ(lake.send({"PUT", "flat/f", "comp=undelete"}).outcome(), "200");
  EXPECT_EQ(lake.send({"GET", "flat/f"}).body, "two");
  EXPECT_EQ(lake.send({"GET", "flat/f", "snapshot=" + snapshot}).body, "one");
}

TEST(KeptStates, ADeletedPathLeavesAVersion) {
  Kept lake;
  lake.set({.blob_versioning = true});
  const auto version = lake.write("flat/f", "one");
  const auto deleted = lake.send(TestLake::remove("flat/f"));
  EXPECT_EQ(deleted.header("x-ms-delete-type-permanent"), "false");
  EXPECT_EQ(lake.send({"GET", "flat/f", "versionid=" + version}).body, "one");
}

// What is held goes by none of these, wherever it is.
TEST(KeptStates, WhatIsHeldStays) {
  struct Case {
    Request request;
    bool with_versions;
    bool on_snapshot;
    const char* flat;
    const char* lake;
  };
  // Where there are directories no version keeps what is replaced; snapshots stay with a file.
  const Case cases[] = {
      {TestLake::remove("f"), false, false, kHeld, kHeld},
      {TestLake::remove("f"), true, false, kHeld, kHeld},
      {TestLake::remove("f"), false, true, kHeld, kHeld},
      {TestLake::make_file("f"), false, false, kHeld, kHeld},
      {TestLake::make_file("f"), true, false, "201", kHeld},
      {TestLake::make_file("f"), false, true, "201", "201"},
      {TestLake::put("f", "new"), false, false, kHeld, kHeld},
      {TestLake::put("f", "new"), true, false, "201", kHeld},
      {TestLake::rename("other", "f"), false, false, kHeld, kHeld},
      {TestLake::rename("other", "f"), true, false, "201", kHeld},
      {TestLake::rename("other", "f"), false, true, "201", kHeld},
      {TestLake::rename("f", "other"), false, false, kHeld, kHeld},
  };
  for (const std::string at : {"flat/", "lake/"}) {
    for (const Case& given : cases) {
      Kept lake;
      lake.set({.blob_versioning = given.with_versions, .blob_immutability = true});
      lake.write(at + "f", "held");
      lake.write(at + "other", "other");
      const auto snapshot = given.on_snapshot ? lake.snapshot(at + "f") : "";
      if (at == "lake/") {
        lake.plant_hold("f", given.on_snapshot);
      } else {
        ASSERT_EQ(lake.hold(at + "f", given.on_snapshot ? "&snapshot=" + snapshot : ""), "200");
      }
      Request request = given.request;
      for (auto& [name, value] : request.headers) {
        if (name == "x-ms-rename-source") value = "/" + at + value.substr(1);
      }
      request.path = at + request.path;
      EXPECT_EQ(lake.send(request).outcome(), at == "flat/" ? given.flat : given.lake)
          << request.method << " " << request.path << "?" << request.query << " versions "
          << given.with_versions << " snapshot " << given.on_snapshot;
    }
  }
}

// Single blobs are not held where a tree goes as one step, and there are no versions.
TEST(KeptStates, WithDirectoriesNothingIsPromisedThatIsNotKept) {
  Kept lake;
  lake.set({.blob_versioning = true, .blob_immutability = true, .hierarchical_namespace = true});
  EXPECT_EQ(lake.write("lake/f", "one"), "");
  EXPECT_EQ(lake.send({"HEAD", "lake/f"}).header("x-ms-version-id"), "");
  constexpr const char* kNone = "409 BlobOperationNotSupported";
  EXPECT_EQ(lake.hold("lake/f").substr(4), std::string(kNone).substr(4));
  const TestLake::Headers policy{
      {"x-ms-immutability-policy-until-date", "Fri, 01 Jan 2100 00:00:00 GMT"},
      {"x-ms-immutability-policy-mode", "unlocked"}};
  EXPECT_EQ(lake.send({"PUT", "lake/f", "comp=immutabilityPolicies", policy}).code,
            "BlobOperationNotSupported");
  Request held = TestLake::put("lake/g", "x");
  held.headers.emplace_back("x-ms-legal-hold", "true");
  EXPECT_EQ(lake.send(held).code, "UnsupportedHeader");
  Request kept = TestLake::put("lake/g", "x");
  for (const auto& header : policy) kept.headers.push_back(header);
  EXPECT_EQ(lake.send(kept).code, "UnsupportedHeader");
  EXPECT_EQ(lake.tree(), "f ");
  EXPECT_EQ(lake.send({"DELETE", "lake/f"}).header("x-ms-delete-type-permanent"), "true");
}

}  // namespace
}  // namespace kyanite::datalake
