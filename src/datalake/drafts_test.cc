// What waits to be flushed, what one flush takes, and what no flush is needed for.
#include "datalake/drafts.h"

#include <gtest/gtest.h>

#include <string>

#include "base/bytes.h"
#include "datalake/test_support.h"

namespace kyanite::datalake {
namespace {

// Puts as many parts of one byte behind the content of the only file as appends would.
void plant_parts(TestLake& lake, uint64_t first, uint64_t count) {
  store::Commit commit;
  auto looked = RunLoop::run(lake.around.context.store.look([&](const store::View& view) {
    auto cursor = view.scan(store::Range::family(blob::lake_space("account"), blob::kHeads));
    for (; cursor->valid(); cursor->next()) {
      const auto key = store::Key::from_bytes(std::string(cursor->key()));
      const auto head = store::decode<blob::Blob>((*cursor->record())->value).value();
      if (head.is_directory()) continue;
      const std::string named = key.partition();
      const blob::Place place(blob::lake_space("account"), named, head);
      content::Piece piece;
      piece.length = 1;
      piece.inline_bytes = "x";
      for (uint64_t i = first; i < first + count; ++i)
        put_appended(place, head, i, {piece}, {}, lake.around.clock.now(), commit);
    }
    return store::Result<void>();
  }));
  ASSERT_TRUE(looked.ok());
  ASSERT_EQ(commit.writes.size(), count);
  ASSERT_TRUE(RunLoop::run(lake.around.context.store.commit(std::move(commit))).ok());
}

TEST(Drafts, AFlushTakesFiftyThousandPartsAndNoMore) {
  constexpr uint64_t kMost = 50'000;
  TestLake lake;
  ASSERT_EQ(lake.send(TestLake::make_file("lake/f")).outcome(), "201");
  plant_parts(lake, 0, kMost + 1);
  const auto flush = [&](uint64_t position) {
    return lake
        .send({"PATCH", "lake/f",
               "action=flush&retainUncommittedData=true&position=" + std::to_string(position)})
        .outcome();
  };
  EXPECT_EQ(flush(kMost + 1), "400 InvalidFlushPosition");
  EXPECT_EQ(lake.send({"GET", "lake/f"}).body, "");
  EXPECT_EQ(flush(kMost), "200");
  EXPECT_EQ(lake.send({"GET", "lake/f"}).body.size(), kMost);
  // The rest by another one.
  EXPECT_EQ(flush(kMost + 1), "200");
  EXPECT_EQ(lake.send({"GET", "lake/f"}).body, std::string(kMost + 1, 'x'));
}

using Request = TestLake::Request;

Request append(const std::string& path, uint64_t position, const std::string& bytes) {
  return {"PATCH", path, "action=append&position=" + std::to_string(position), {}, bytes};
}
Request flush_at(const std::string& path, uint64_t position) {
  return {"PATCH", path, "action=flush&position=" + std::to_string(position)};
}
Request put_block(const std::string& path) {
  return {"PUT", path, "comp=block&blockid=MDAx", {}, "block"};
}
Request put_block_list(const std::string& path, const std::string& ids) {
  return {"PUT", path, "comp=blocklist", {}, "<BlockList>" + ids + "</BlockList>"};
}
const char* const kOneBlock = "<Latest>MDAx</Latest>";

// What one API began, the other replaces as a whole and adds nothing to.
TEST(Drafts, OneFileIsWrittenByOneApi) {
  for (const std::string container : {"lake", "flat"}) {
    TestLake lake;
    lake.around.context.settings = service::SettingsTable();
    ASSERT_EQ(lake.send({"PUT", "flat", "restype=container"}).outcome(), "201");
    const std::string made = container + "/made", blocks = container + "/blocks";
    ASSERT_EQ(lake.send(TestLake::make_file(made)).outcome(), "201");
    EXPECT_EQ(lake.send(put_block(made)).outcome(), "409 BlobOperationNotSupported");
    EXPECT_EQ(lake.send(put_block_list(made, "")).outcome(), "409 BlobOperationNotSupported");
    ASSERT_EQ(lake.send(append(made, 0, "lake")).outcome(), "202");
    ASSERT_EQ(lake.send(flush_at(made, 4)).outcome(), "200");
    EXPECT_EQ(lake.send(put_block(made)).outcome(), "409 BlobOperationNotSupported");
    EXPECT_EQ(lake.send({"GET", made}).body, "lake");
    // As a whole it is replaced, and then it is the other's.
    ASSERT_EQ(lake.send(TestLake::put(made, "blob")).outcome(), "201");
    EXPECT_EQ(lake.send(put_block(made)).outcome(), "201");
    EXPECT_EQ(lake.send(put_block_list(made, kOneBlock)).outcome(), "201");
    EXPECT_EQ(lake.send({"GET", made}).body, "block");

    ASSERT_EQ(lake.send(put_block(blocks)).outcome(), "201");
    ASSERT_EQ(lake.send(put_block_list(blocks, kOneBlock)).outcome(), "201");
    EXPECT_EQ(lake.send(append(blocks, 5, "x")).outcome(), "409 InvalidAppendOperation");
    EXPECT_EQ(lake.send(flush_at(blocks, 5)).outcome(), "409 InvalidFlushOperation");
    EXPECT_EQ(lake.send({"GET", blocks}).body, "block");
    ASSERT_EQ(lake.send(TestLake::make_file(blocks)).outcome(), "201");
    EXPECT_EQ(lake.send(append(blocks, 0, "x")).outcome(), "202");
  }
}

// A flush says anew what the content is, like a list of blocks; what it does not say goes.
TEST(Drafts, AFlushReplacesWhatIsSaidOfTheContent) {
  const TestLake::Headers all{
      {"x-ms-content-type", "a/b"},       {"x-ms-content-encoding", "gzip"},
      {"x-ms-content-language", "en"},    {"x-ms-content-disposition", "inline"},
      {"x-ms-cache-control", "no-store"}, {"x-ms-properties", "user=Yg=="}};
  const struct {
    const char* query;
    TestLake::Headers headers;
    std::string body;
    const char* type;
    const char* language;
  } cases[] = {
      {"action=flush&position=0", {}, "", "application/octet-stream", ""},
      {"action=flush&position=0", {{"x-ms-content-type", "c/d"}}, "", "c/d", ""},
      {"action=flush&position=0",
       {{"x-ms-content-language", "de"}},
       "",
       "application/octet-stream",
       "de"},
      {"action=append&position=0&flush=true", {{"Content-Type", "e/f"}}, "x", "e/f", ""},
      {"action=append&position=0&flush=true", {}, "x", "application/octet-stream", ""},
      {"action=append&position=0", {{"Content-Type", "e/f"}}, "x", "a/b", "en"},
  };
  for (const auto& given : cases) {
    TestLake lake;
    ASSERT_EQ(lake.send({"PUT", "lake/f", "resource=file", all}).outcome(), "201");
    const auto written = lake.send({"PATCH", "lake/f", given.query, given.headers, given.body});
    ASSERT_TRUE(written.outcome().starts_with("20")) << written.outcome();
    const auto seen = lake.send({"HEAD", "lake/f"});
    const bool stays = std::string(given.language) == "en";
    EXPECT_EQ(seen.header("Content-Type"), given.type) << given.query;
    EXPECT_EQ(seen.header("Content-Language"), given.language) << given.query;
    EXPECT_EQ(seen.header("Content-Encoding"), stays ? "gzip" : "") << given.query;
    EXPECT_EQ(seen.header("Content-Disposition"), stays ? "inline" : "") << given.query;
    EXPECT_EQ(seen.header("Cache-Control"), stays ? "no-store" : "") << given.query;
    EXPECT_EQ(seen.header("x-ms-meta-user"), "b") << given.query;
  }
}

TEST(Drafts, AnAppendBlobTakesBytesAtOnce) {
  const Request append_block{"PUT", "lake/f", "comp=appendblock", {}, "blob"};
  TestLake lake;
  const Request make{"PUT", "lake/f", "resource=file&blobtype=appendblob"};
  ASSERT_EQ(lake.send(make).outcome(), "201");
  const auto first = lake.send(append("lake/f", 0, "ab"));
  EXPECT_EQ(first.outcome(), "202");
  EXPECT_NE(first.header("ETag"), "");
  EXPECT_EQ(lake.send({"GET", "lake/f"}).body, "ab");
  // Only at its end.
  for (const uint64_t position : {0, 1, 3})
    EXPECT_EQ(lake.send(append("lake/f", position, "x")).outcome(),
              "400 InvalidQueryParameterValue");
  auto with_flush = append("lake/f", 2, "c");
  with_flush.query += "&flush=true";
  EXPECT_EQ(lake.send(with_flush).outcome(), "202");
  EXPECT_EQ(lake.send(flush_at("lake/f", 3)).outcome(), "200");
  EXPECT_EQ(lake.send(append_block).outcome(), "409 BlobOperationNotSupported");
  const auto read = lake.send({"GET", "lake/f"});
  EXPECT_EQ(read.body, "abc");
  EXPECT_EQ(read.header("x-ms-blob-type"), "AppendBlob");
  EXPECT_EQ(read.header("x-ms-blob-committed-block-count"), "2");

  // Made by the Blob API it is that one's.
  ASSERT_EQ(lake.send({"DELETE", "lake/f"}).outcome(), "202");
  ASSERT_EQ(lake.send({"PUT", "lake/f", "", {{"x-ms-blob-type", "AppendBlob"}}}).outcome(), "201");
  EXPECT_EQ(lake.send(append("lake/f", 0, "x")).outcome(), "409 InvalidAppendOperation");
  EXPECT_EQ(lake.send(append_block).outcome(), "201");
  EXPECT_EQ(lake.send({"GET", "lake/f"}).body, "blob");
}

TEST(Drafts, AppendBlobsAreFilesOfFileSystemsWithDirectories) {
  TestLake lake;
  EXPECT_EQ(lake.send({"PUT", "lake/d", "resource=directory&blobtype=appendblob"}).outcome(),
            "400 InvalidQueryParameterValue");
  EXPECT_EQ(lake.send({"PUT", "lake/f", "resource=file&blobtype=pageblob"}).outcome(),
            "400 InvalidQueryParameterValue");
  lake.around.context.settings = service::SettingsTable();
  ASSERT_EQ(lake.send({"PUT", "flat", "restype=container"}).outcome(), "201");
  EXPECT_EQ(lake.send({"PUT", "flat/f", "resource=file&blobtype=appendblob"}).outcome(),
            "400 HierarchicalNamespaceNotEnabled");
  EXPECT_EQ(lake.send({"GET", "flat/f"}).outcome(), "404 BlobNotFound");
}

// Where there are no directories what waits lies by the name of its file.
TEST(Drafts, WhatIsNotFlushedGoesAlongWhenItsFileIsRenamed) {
  const struct {
    const char* from;
    const char* to;
    const char* file;
    const char* moved;
  } cases[] = {
      {"flat/f", "flat/g", "flat/f", "flat/g"},     {"flat/f", "other/g", "flat/f", "other/g"},
      {"flat/d", "flat/e", "flat/d/f", "flat/e/f"}, {"flat/d", "other/e", "flat/d/f", "other/e/f"},
      {"lake/d", "lake/e", "lake/d/f", "lake/e/f"},
  };
  for (const auto& given : cases) {
    SCOPED_TRACE(std::string(given.from) + " " + given.to);
    TestLake lake;
    lake.around.context.settings = service::SettingsTable();
    for (const char* name : {"flat", "other"})
      ASSERT_EQ(lake.send({"PUT", name, "restype=container"}).outcome(), "201");
    ASSERT_EQ(lake.send(TestLake::make_file(given.file)).outcome(), "201");
    ASSERT_EQ(lake.send(append(given.file, 0, "flushed ")).outcome(), "202");
    ASSERT_EQ(lake.send(flush_at(given.file, 8)).outcome(), "200");
    ASSERT_EQ(lake.send(append(given.file, 8, "waits ")).outcome(), "202");
    ASSERT_EQ(lake.send(append(given.file, 14, "here")).outcome(), "202");
    ASSERT_EQ(lake.send(TestLake::rename(given.from, given.to)).outcome(), "201");
    EXPECT_EQ(lake.send({"GET", given.moved}).body, "flushed ");
    EXPECT_EQ(lake.send(flush_at(given.moved, 18)).outcome(), "200");
    EXPECT_EQ(lake.send({"GET", given.moved}).body, "flushed waits here");
    // Nothing of it waits for whoever comes to the old name.
    ASSERT_EQ(lake.send(TestLake::make_file(given.file)).outcome(), "201");
    EXPECT_EQ(lake.send(flush_at(given.file, 10)).outcome(), "400 InvalidFlushPosition");
  }
}

}  // namespace
}  // namespace kyanite::datalake
