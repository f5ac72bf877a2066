// What is written through handles: who sees it when, and what a crash leaves of it.
#include "tree/drafts.h"

#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <vector>

#include "tree/handles_test_support.h"

namespace kyanite::tree {
namespace {

class Writes : public testing::Test {
 protected:
  store::MemoryStore store_;
  HandleTree files_{store_};
};

TEST_F(Writes, AreSeenByHandlesAtOnceAndStoredByAFlush) {
  Opened writer = files_.open("file");
  Opened reader = files_.open("file");
  EXPECT_EQ(files_.write(writer, 0, "some bytes"), "ok");
  EXPECT_EQ(files_.read(reader), "some bytes");
  EXPECT_EQ(files_.state(reader).content.length, 10u);
  EXPECT_EQ(files_.stored("file"), "");
  EXPECT_EQ(files_.flush(writer), "ok");
  EXPECT_EQ(files_.stored("file"), "some bytes");
  EXPECT_FALSE(files_.open_files.drafts().has(writer.file));
  EXPECT_EQ(files_.close(writer), "ok");
  EXPECT_EQ(files_.close(reader), "ok");
}

TEST_F(Writes, AreStoredByAClose) {
  Opened writer = files_.open("file");
  EXPECT_EQ(files_.write(writer, 0, "some bytes"), "ok");
  EXPECT_EQ(files_.close(writer), "ok");
  EXPECT_EQ(files_.stored("file"), "some bytes");
}

// A crash takes back either both or the rename alone.
TEST_F(Writes, AreStoredBeforeARename) {
  Opened writer = files_.open("file");
  EXPECT_EQ(files_.write(writer, 0, "some bytes"), "ok");
  Opened old = files_.open("other");
  EXPECT_EQ(files_.close(old), "ok");
  EXPECT_EQ(files_.rename(writer, "other", true), "ok");
  EXPECT_EQ(files_.stored("other"), "some bytes");
  EXPECT_EQ(files_.close(writer), "ok");
}

TEST_F(Writes, AreStoredBeforeAnybodyWithoutAHandleLooks) {
  Opened writer = files_.open("file");
  EXPECT_EQ(files_.write(writer, 0, "some bytes"), "ok");
  store::Occasion occasion(store_, files_.lines, files_.clock);
  const Rules rules{Kind::kFile, FileOperation::kGetFile, {}, false};
  auto located = RunLoop::run(read_entry(occasion, files_.tree, {"file"}, rules));
  ASSERT_TRUE(located.ok());
  EXPECT_EQ(located->found.entry->content.length, 10u);
  EXPECT_EQ(files_.write(writer, 10, "!"), "ok");
  EXPECT_EQ(RunLoop::run(files_.note("file", "x")), "ok");
  EXPECT_EQ(files_.stored("file"), "some bytes!");
  EXPECT_EQ(files_.close(writer), "ok");
}

TEST_F(Writes, AreStoredWhenTheyAreOld) {
  Opened writer = files_.open("file");
  EXPECT_EQ(files_.write(writer, 0, "old"), "ok");
  files_.settle_older();
  EXPECT_EQ(files_.stored("file"), "");
  files_.clock.advance_seconds(1);
  files_.settle_older();
  EXPECT_EQ(files_.stored("file"), "old");
  EXPECT_EQ(files_.close(writer), "ok");
}

TEST_F(Writes, MoveTheWriteTimeALittleLater) {
  Opened writer = files_.open("file");
  const Time before = files_.state(writer).smb.written;
  files_.clock.advance_seconds(10);
  const Time written = files_.clock.now();
  EXPECT_EQ(files_.write(writer, 0, "x"), "ok");
  EXPECT_EQ(files_.state(writer).smb.written, before);
  files_.clock.advance_seconds(1);
  files_.settle_older();
  EXPECT_EQ(files_.stored("file"), "x");
  EXPECT_EQ(files_.state(writer).smb.written, before);
  files_.clock.advance_seconds(1);
  EXPECT_EQ(files_.state(writer).smb.written, written);
  EXPECT_EQ(files_.flush(writer), "ok");
  EXPECT_EQ(files_.find("file")->found.entry->smb.written, written);
  EXPECT_EQ(files_.close(writer), "ok");
}

TEST_F(Writes, AfterTheFirstMoveItWhenTheirWriterIsDone) {
  Opened writer = files_.open("file");
  files_.clock.advance_seconds(10);
  const Time first = files_.clock.now();
  EXPECT_EQ(files_.write(writer, 0, "x"), "ok");
  files_.clock.advance_seconds(10);
  EXPECT_EQ(files_.write(writer, 1, "y"), "ok");
  files_.clock.advance_seconds(10);
  EXPECT_EQ(files_.state(writer).smb.written, first);
  const Time end = files_.clock.now();
  EXPECT_EQ(files_.close(writer), "ok");
  EXPECT_EQ(files_.find("file")->found.entry->smb.written, end);
}

TEST_F(Writes, WhoseWriterIsClosedByOthersMoveItToo) {
  Opened reader = files_.open("file", {Disposition::kOpenIf, Kind::kFile, "R"});
  Opened writer = files_.open("file");
  for (const char* byte : {"x", "y"}) {
    files_.clock.advance_seconds(10);
    EXPECT_EQ(files_.write(writer, 0, byte), "ok");
    files_.settle_older();
  }
  const Time before = files_.state(reader).smb.written;
  files_.clock.advance_seconds(10);
  files_.settle_older();
  EXPECT_EQ(files_.state(reader).smb.written, before) << "the writer is not done";
  EXPECT_TRUE(files_.open_files.force_close(writer.file, false, writer.handle));
  files_.settle_older();
  EXPECT_FALSE(files_.open_files.drafts().has(writer.file));
  EXPECT_EQ(files_.find("file")->found.entry->smb.written, files_.clock.now());
  EXPECT_EQ(files_.close(reader), "ok");
}

// Knows what is kept.
class KeepingStore final : public store::MemoryStore {
 public:
  store::Hold keep(std::vector<store::Ref>) override {
    auto token = std::make_shared<int>();
    kept.push_back(token);
    return store::Hold(std::move(token));
  }
  std::vector<std::weak_ptr<int>> kept;
};

TEST(WritesInExtents, AreKeptUntilWhoHasReadThemIsThrough) {
  KeepingStore store;
  HandleTree files(store);
  Opened file = files.open("file");
  EXPECT_EQ(files.write(file, 0, store::pattern(100'000, 1)), "ok");
  ASSERT_EQ(store.kept.size(), 1u);
  store::Occasion occasion(store, files.lines, files.clock);
  {
    auto bytes = RunLoop::run(read(occasion, file, 0, 100'000));
    ASSERT_TRUE(bytes.ok());
    EXPECT_EQ(files.write(file, 0, store::pattern(100'000, 2)), "ok");
    EXPECT_EQ(files.close(file), "ok");
    EXPECT_FALSE(files.open_files.drafts().has(file.file));
    EXPECT_FALSE(store.kept.front().expired());
  }
  EXPECT_TRUE(store.kept.front().expired());
}

TEST_F(Writes, CanBeLongAndAnywhere) {
  Opened file = files_.open("file");
  std::string model;
  std::mt19937_64 random(1);
  for (int i = 0; i < 60; ++i) {
    const uint64_t offset = random() % 3'000'000;
    const std::string bytes = store::pattern(random() % 400'000, random());
    if (!bytes.empty() && model.size() < offset + bytes.size()) model.resize(offset + bytes.size());
    model.replace(offset, bytes.size(), bytes);
    ASSERT_EQ(files_.write(file, offset, bytes), "ok");
    if (i % 7 == 3) {
      const uint64_t length = random() % 3'500'000;
      model.resize(length);
      ASSERT_EQ(files_.resize(file, length), "ok");
    }
    if (i % 11 == 5) {
      const uint64_t from = random() % model.size();
      const uint64_t to = std::min<uint64_t>(model.size(), from + random() % 1'500'000);
      model.replace(from, to - from, to - from, '\0');
      ASSERT_EQ(files_.clear(file, from, to), "ok");
    }
    if (i % 13 == 6) {
      ASSERT_EQ(files_.flush(file), "ok");
    }
    const uint64_t from = random() % 3'000'000;
    EXPECT_TRUE(files_.read(file, from, 500'000) ==
                (from < model.size() ? model.substr(from, 500'000) : ""))
        << i;
  }
  EXPECT_TRUE(files_.read(file) == model);
  EXPECT_EQ(files_.close(file), "ok");
  EXPECT_TRUE(files_.stored("file") == model);
}

TEST_F(Writes, BeyondALimitWaitUntilTheyAreStored) {
  Opened file = files_.open("file");
  const std::string bytes(32 * 1024, 'x');
  for (uint64_t i = 0; i <= Drafts::kMaxInlineBytes / bytes.size(); ++i)
    ASSERT_EQ(files_.write(file, i * bytes.size(), bytes), "ok");
  EXPECT_EQ(files_.stored("file").size(), 0u);
  ASSERT_EQ(files_.write(file, 0, "y"), "ok");
  EXPECT_EQ(files_.stored("file").size(), Drafts::kMaxInlineBytes + bytes.size());
  EXPECT_EQ(files_.open_files.drafts().inline_bytes(), 1u);
  EXPECT_EQ(files_.close(file), "ok");
}

// Over and over to the same place, each to extents.
TEST_F(Writes, BeyondALimitOfWhatTheyKeepWaitUntilTheyAreStored) {
  Opened file = files_.open("file");
  const std::string bytes(64 * 1024, 'x');
  for (size_t i = 0; i <= Drafts::kMaxKept; ++i) ASSERT_EQ(files_.write(file, 0, bytes), "ok");
  EXPECT_EQ(files_.stored("file").size(), 0u);
  ASSERT_EQ(files_.write(file, 0, bytes), "ok");
  EXPECT_EQ(files_.stored("file").size(), bytes.size());
  EXPECT_EQ(files_.close(file), "ok");
}

TEST_F(Writes, OverLockedRangesAreRefused) {
  Opened writer = files_.open("file");
  Opened holder = files_.open("file");
  ASSERT_TRUE(RunLoop::run(files_.open_files.lock(holder.handle, {{{0, 10}, true}})).ok());
  const std::string conflict =
      "refusal " + std::to_string(static_cast<int>(Refusal::kLockConflict));
  EXPECT_EQ(files_.write(writer, 5, "x"), conflict);
  EXPECT_EQ(files_.write(writer, 10, "x"), "ok");
  EXPECT_EQ(files_.read(writer, 0, 5), "! " + conflict);
  EXPECT_EQ(files_.close(writer), "ok");
  EXPECT_EQ(files_.close(holder), "ok");
}

TEST_F(Writes, ToAFileThatIsDeletedAreForgotten) {
  Opened file = files_.open("file", {Disposition::kCreate, Kind::kFile, "RWD", "RWD", true});
  EXPECT_EQ(files_.write(file, 0, "bytes"), "ok");
  EXPECT_EQ(files_.close(file), "ok");
  EXPECT_FALSE(files_.open_files.drafts().has(file.file));
  EXPECT_EQ(files_.stored("file"), "! not found");
}

TEST_F(Writes, ACopyOfRangesSharesWhatIsStored) {
  Opened source = files_.open("source");
  const std::string bytes = store::pattern(700'000, 3);
  ASSERT_EQ(files_.write(source, 100, bytes), "ok");
  Opened target = files_.open("target");
  ASSERT_EQ(files_.write(target, 0, std::string(300'000, 't')), "ok");
  store::Occasion occasion(store_, files_.lines, files_.clock);
  const auto copy = [&](uint64_t from, uint64_t to, uint64_t length) {
    return outcome(RunLoop::run(copy_range(occasion, source, from, target, to, length)));
  };
  EXPECT_EQ(copy(0, 200'000, 700'100), "ok");
  EXPECT_EQ(copy(700'000, 0, 101), "not found");
  std::string model(300'000, 't');
  model.resize(200'000);
  model += std::string(100, '\0') + bytes;
  EXPECT_TRUE(files_.read(target) == model);
  EXPECT_EQ(files_.close(target), "ok");
  EXPECT_TRUE(files_.stored("target") == model);
  EXPECT_EQ(files_.close(source), "ok");
}

TEST_F(Writes, ClearedRangesAreNotWritten) {
  Opened file = files_.open("file");
  ASSERT_EQ(files_.write(file, 0, std::string(200'000, 'x')), "ok");
  ASSERT_EQ(files_.clear(file, 65'536, 131'072), "ok");
  store::Occasion occasion(store_, files_.lines, files_.clock);
  auto runs = RunLoop::run(written_ranges(occasion, file, 0, UINT64_MAX, 10));
  ASSERT_TRUE(runs.ok());
  ASSERT_EQ(runs->size(), 2u);
  EXPECT_EQ((*runs)[0].end, 65'536u);
  EXPECT_EQ((*runs)[1].start, 131'072u);
  EXPECT_EQ((*runs)[1].end, 200'000u);
  EXPECT_EQ(files_.close(file), "ok");
}

TEST_F(Writes, RangesAreFoundInPartsAndNoMoreThanWereAskedFor) {
  Opened file = files_.open("file");
  constexpr uint64_t kParts = 300;  // More than are looked at at once.
  const uint64_t end = kParts * content::kGridBytes;
  ASSERT_EQ(files_.resize(file, end), "ok");
  // Each second one goes on in the next part of the file.
  for (uint64_t i = 0; i < kParts; ++i) {
    const uint64_t at = i * content::kGridBytes;
    const bool joins = i % 2 == 1;
    ASSERT_EQ(files_.write(file, joins ? at : at + content::kGridBytes - 10, "0123456789"), "ok");
  }
  store::Occasion occasion(store_, files_.lines, files_.clock);
  const auto found = [&](uint64_t from, uint64_t to, size_t most) {
    auto runs = RunLoop::run(written_ranges(occasion, file, from, to, most));
    EXPECT_TRUE(runs.ok());
    for (const auto& run : *runs) EXPECT_EQ(run.end - run.start, 20u) << run.start;
    return runs->size();
  };
  EXPECT_EQ(found(0, UINT64_MAX, 1000), kParts / 2);
  EXPECT_EQ(found(0, UINT64_MAX, kParts / 2), kParts / 2);
  EXPECT_EQ(found(0, UINT64_MAX, 40), 40u);
  EXPECT_EQ(found(end - 4 * content::kGridBytes, end, 40), 2u);
  EXPECT_EQ(found(0, end, 0), 0u);
  EXPECT_EQ(files_.close(file), "ok");
}

TEST_F(Writes, OfWhoOnlyAppendsDoNotOverwrite) {
  const std::string denied = "refusal " + std::to_string(static_cast<int>(Refusal::kAccessDenied));
  Opened file = files_.open("file");
  EXPECT_EQ(files_.write(file, 0, "stored"), "ok");
  EXPECT_EQ(files_.flush(file), "ok");
  Opened log = files_.open("file");
  log.only_appends = true;
  EXPECT_EQ(files_.write(log, 0, "x"), denied);
  EXPECT_EQ(files_.write(log, 5, "xx"), denied);
  EXPECT_EQ(files_.write(log, 6, " more"), "ok");
  EXPECT_EQ(files_.write(log, 6, "x"), denied) << "though it is not stored yet";
  store::Occasion occasion(store_, files_.lines, files_.clock);
  EXPECT_EQ(outcome(RunLoop::run(copy_range(occasion, file, 0, log, 3, 6))), denied);
  EXPECT_EQ(outcome(RunLoop::run(copy_range(occasion, file, 0, log, 11, 6))), "ok");
  EXPECT_EQ(files_.read(file), "stored morestored");
  EXPECT_EQ(files_.close(log), "ok");
  EXPECT_EQ(files_.close(file), "ok");
}

}  // namespace
}  // namespace kyanite::tree
