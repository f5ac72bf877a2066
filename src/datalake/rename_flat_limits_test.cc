// What renames where there are no directories must not do, whenever they are asked to go on.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "datalake/flat_tree.h"
#include "datalake/test_flat.h"
#include "store/memory.h"

namespace kyanite::datalake {
namespace {

using Request = TestLake::Request;

// A request that comes again when all is done finds what others made since.
TEST(RenameFlatLimits, AContinuationEndsWithItsRename) {
  for (const bool marked : {false, true}) {
    for (const char* to : {"flat/e", "other/e"}) {
      TestFlat flat;
      flat.write(numbered("flat/d/", 150));
      if (marked) flat.write({"flat/d/"});
      Request move = TestLake::rename("flat/d", to);
      move.query = "mode=legacy&timeout=1";
      const std::string token = flat.send(move).header("x-ms-continuation");
      ASSERT_NE(token, "");
      Request late = move;
      late.query += "&continuation=" + wire::percent_encode(token);
      EXPECT_EQ(flat.send(late).outcome(), "201");
      EXPECT_EQ(flat.send(late).outcome(), "201");
      flat.write({"flat/d/9999"});
      EXPECT_EQ(flat.send(late).outcome(), "400 InvalidQueryParameterValue");
      EXPECT_EQ(flat.content("flat/d/9999"), "flat/d/9999");
      // Nor is it that of others that go there.
      ASSERT_EQ(flat.send(TestLake::remove(to)).outcome(), "200");
      flat.write(numbered("flat/x/", 150));
      Request other = TestLake::rename("flat/x", to);
      other.query = move.query;
      ASSERT_NE(flat.send(other).header("x-ms-continuation"), "");
      EXPECT_EQ(flat.send(late).outcome(), "400 InvalidQueryParameterValue");
      EXPECT_EQ(flat.send(other).outcome(), "201");
    }
  }
}

// As clients do that make sure of a directory before they write to it.
TEST(RenameFlatLimits, ADirectoryThatIsMadeAgainStaysOnItsWay) {
  for (const bool marked : {false, true}) {
    for (const bool goes_on : {false, true}) {
      TestFlat flat;
      flat.write(numbered("flat/d/", 150));
      if (marked) flat.write({"flat/d/"});
      Request move = TestLake::rename("flat/d", "flat/e");
      move.query = "mode=legacy&timeout=1";
      const std::string token = flat.send(move).header("x-ms-continuation");
      ASSERT_NE(token, "");
      flat.write({"flat/e/"});
      if (goes_on) move.query += "&continuation=" + wire::percent_encode(token);
      EXPECT_EQ(flat.send(move).outcome(), "201");
      const auto heads = flat.heads("flat");
      EXPECT_EQ(heads.size(), 151U);
      ASSERT_TRUE(heads.contains("e"));
      EXPECT_FALSE(heads.at("e").arrival);
    }
  }
}

// What no longer says that it is a directory is somebody's file.
TEST(RenameFlatLimits, AFileOnTheWayIsNotReplaced) {
  for (const bool marked : {false, true}) {
    for (const char* to : {"flat/e", "other/e"}) {
      TestFlat flat;
      flat.write(numbered("flat/d/", 150));
      if (marked) flat.write({"flat/d/"});
      Request move = TestLake::rename("flat/d", to);
      move.query = "mode=legacy&timeout=1";
      const std::string token = flat.send(move).header("x-ms-continuation");
      ASSERT_NE(token, "");
      ASSERT_EQ(flat.send({"PUT", to, "comp=metadata"}).outcome(), "200");
      ASSERT_EQ(
          flat.send({"PATCH", to, "action=append&position=0&flush=true", {}, "bytes"}).outcome(),
          "202");
      EXPECT_EQ(flat.send(move).outcome(), "409 InvalidSourceOrDestinationResourceType");
      move.query += "&continuation=" + wire::percent_encode(token);
      EXPECT_EQ(flat.send(move).outcome(), "400 InvalidQueryParameterValue");
      EXPECT_EQ(flat.content(to), "bytes");
      EXPECT_EQ(flat.content("flat/d/1149"), "flat/d/1149");
    }
  }
}

// Nobody could name them any more.
TEST(RenameFlatLimits, NothingGetsANameThatNoBlobMayHave) {
  const std::string deep(1000, 'd');
  const std::string file(100, 'f');
  TestFlat flat;
  flat.write({"flat/" + deep + "/", "other/" + deep + "/"});
  flat.write({"flat/" + file, "flat/" + file + "d/", "flat/1"});
  const struct {
    std::string from;
    std::string to;
    const char* outcome;
  } cases[] = {
      {file, "flat/" + deep, "400 OutOfRangeInput"},
      {file, "other/" + deep, "400 OutOfRangeInput"},
      {file + "d", "flat/" + deep, "400 OutOfRangeInput"},
      {file + "d", "other/" + deep, "400 OutOfRangeInput"},
      {"1", "flat//", "400 InvalidUri"},
      {file + "d", "other//", "400 InvalidUri"},
  };
  for (const auto& given : cases) {
    Request move = TestLake::rename("flat/" + given.from, given.to);
    move.query = "mode=posix";
    EXPECT_EQ(flat.send(move).outcome(), given.outcome) << given.to.substr(0, 20);
    EXPECT_EQ(flat.names(), "1 " + deep + "/ " + file + " " + file + "d/ ");
    EXPECT_EQ(flat.names("other"), deep + "/ ");
  }
}

TEST(RenameFlatLimits, NorDoesWhatComesWhileItIsUnderWay) {
  const std::string deep(1000, 'd');
  for (const std::string& to : {"flat/" + deep, "other/" + deep}) {
    TestFlat flat;
    flat.write(numbered("flat/d/", 150));
    Request move = TestLake::rename("flat/d", to);
    move.query = "mode=legacy&timeout=1";
    const std::string token = flat.send(move).header("x-ms-continuation");
    ASSERT_NE(token, "");
    const std::string late = "flat/d/" + std::string(100, '9');
    flat.write({late});
    EXPECT_EQ(flat.send(move).outcome(), "400 OutOfRangeInput");
    move.query += "&continuation=" + wire::percent_encode(token);
    EXPECT_EQ(flat.send(move).outcome(), "400 OutOfRangeInput");
    EXPECT_EQ(flat.content(late), late);
    ASSERT_EQ(flat.send({"DELETE", late}).status, 202);
    EXPECT_EQ(flat.send(move).outcome(), "201");
    EXPECT_EQ(flat.content(to + "/1149"), "flat/d/1149");
  }
}

// What marks the way is a blob like others: a hold keeps it.
TEST(RenameFlatLimits, ADirectoryThatIsHeldOnItsWayStays) {
  for (const char* to : {"flat/e", "other/e"}) {
    TestFlat flat;
    flat.set({.blob_versioning = true, .blob_immutability = true});
    flat.write(numbered("flat/d/", 150));
    flat.write({"flat/d/"});
    Request move = TestLake::rename("flat/d", to);
    move.query = "mode=legacy&timeout=1";
    ASSERT_NE(flat.send(move).header("x-ms-continuation"), "");
    const auto hold = [&](const char* held) {
      return flat.send({"PUT", to, "comp=legalhold", {{"x-ms-legal-hold", held}}}).outcome();
    };
    ASSERT_EQ(hold("true"), "200");
    EXPECT_EQ(flat.all_pages(move).second.outcome(), "409 BlobImmutableDueToLegalHold");
    EXPECT_EQ(flat.send({"HEAD", to}).header("x-ms-legal-hold"), "true");
    ASSERT_EQ(hold("false"), "200");
    EXPECT_EQ(flat.all_pages(move).second.outcome(), "201");
    EXPECT_EQ(flat.content(std::string(to) + "/1149"), "flat/d/1149");
  }
}

// A store that knows how much the largest commit wrote.
class WeighingStore final : public store::MemoryStore {
 public:
  Task<store::Result<void>> commit(store::Commit commit) override {
    size_t bytes = 0;
    for (const auto& write : commit.writes)
      bytes += write.record == nullptr ? 0 : write.record->value.size();
    largest = std::max(largest, bytes);
    co_return co_await MemoryStore::commit(std::move(commit));
  }
  size_t largest = 0;
};

// Small blocks lie in the records: few blobs may be much.
TEST(RenameFlatLimits, OneCommitMovesNoMoreThanItShould) {
  constexpr int kBlobs = 20;
  constexpr size_t kBlockBytes = 8 * 1024;
  constexpr size_t kBlocks = 128;
  std::string list = "<BlockList>";
  for (size_t i = 0; i < kBlocks; ++i) list += "<Latest>QUFB</Latest>";
  list += "</BlockList>";
  for (const char* to : {"flat/e", "other/e"}) {
    WeighingStore store;
    TestFlat flat(store);
    for (const std::string& name : numbered("flat/d/", kBlobs)) {
      const std::string block(kBlockBytes, 'x');
      ASSERT_EQ(flat.send({"PUT", name, "comp=block&blockid=QUFB", {}, block}).outcome(), "201");
      ASSERT_EQ(flat.send({"PUT", name, "comp=blocklist", {}, list}).outcome(), "201");
    }
    store.largest = 0;
    EXPECT_EQ(flat.send(TestLake::rename("flat/d", to)).outcome(), "201");
    EXPECT_LE(store.largest, kEnoughBytes + 2 * kBlocks * kBlockBytes);
    EXPECT_EQ(flat.content(std::string(to) + "/1019").size(), kBlocks * kBlockBytes);
  }
}

}  // namespace
}  // namespace kyanite::datalake
