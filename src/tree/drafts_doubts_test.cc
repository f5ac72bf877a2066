// What was written while nobody knows what became of a commit, or where the file is.
#include <gtest/gtest.h>

#include <new>
#include <optional>

#include "tree/drafts.h"
#include "tree/handles_test_support.h"

namespace kyanite::tree {
namespace {

class DoubtfulStore final : public store::MemoryStore {
 public:
  Task<store::Result<void>> commit(store::Commit commit) override {
    if (throws) throw std::bad_alloc();
    if (fails) co_return store::Error::kUnknown;
    if (std::exchange(doubts, false)) {
      doubtful = std::move(commit);
      co_return store::Error::kUnknown;
    }
    if (doubtful) {
      auto done = co_await MemoryStore::commit(std::move(*doubtful));
      EXPECT_TRUE(done.ok());
      doubtful.reset();
    }
    co_return co_await MemoryStore::commit(std::move(commit));
  }
  bool throws = false;
  bool fails = false;   // Nothing is written.
  bool doubts = false;  // The next one is done before the one behind it.
  std::optional<store::Commit> doubtful;
};

const std::string kUnknown = describe(store::Error::kUnknown);
const std::string kLost = describe(store::Error::kCorrupt);

class WritesInDoubt : public testing::Test {
 protected:
  std::string move(Opened* by, const std::string& from, const std::string& to) {
    if (by != nullptr) return files_.rename(*by, to);
    return RunLoop::run(files_.move(from, to, Kind::kFile));
  }
  // The file is taken away by nobody who would say so.
  void lose(const Opened& file) {
    store::Commit commit;
    commit.remove(entry_key(files_.tree.space, file.parent, file.folded));
    EXPECT_TRUE(RunLoop::run(store_.commit(std::move(commit))).ok());
  }

  DoubtfulStore store_;
  HandleTree files_{store_};
};

TEST_F(WritesInDoubt, StayWhereTheyAreWhenTheyCannotBeStoredBeforeARename) {
  Opened file = files_.open("file");
  for (Opened* by : {&file, static_cast<Opened*>(nullptr)}) {
    EXPECT_EQ(files_.write(file, 0, "bytes"), "ok");
    store_.fails = true;
    EXPECT_EQ(move(by, "file", "there"), kUnknown);
    store_.fails = false;
    EXPECT_TRUE(files_.open_files.drafts().perhaps_at(file.file).empty());
    EXPECT_EQ(files_.flush(file), "ok");
    EXPECT_EQ(files_.stored("file"), "bytes");
  }
  EXPECT_EQ(files_.close(file), "ok");
}

TEST_F(WritesInDoubt, GoWhereTheFileTurnsOutToBe) {
  for (const bool by_handle : {true, false}) {
    const std::string from = by_handle ? "one" : "other";
    const std::string to = from + " there";
    Opened file = files_.open(from);
    store_.doubts = true;
    EXPECT_EQ(move(by_handle ? &file : nullptr, from, to), kUnknown);
    Opened late = files_.open(from);
    EXPECT_EQ(files_.write(file, 0, "bytes"), "ok");
    EXPECT_EQ(files_.flush(file), "ok");
    EXPECT_EQ(files_.stored(from), "! not found");
    EXPECT_EQ(files_.stored(to), "bytes");
    EXPECT_EQ(files_.write(late, 5, "!"), "ok");
    EXPECT_EQ(files_.state(late).content.length, 6u);
    EXPECT_EQ(files_.read(file), "bytes!");
    EXPECT_EQ(files_.close(late), "ok");
    EXPECT_EQ(files_.stored(to), "bytes!");
    EXPECT_EQ(files_.rename(file, from + " again"), "ok");
    EXPECT_TRUE(files_.open_files.drafts().perhaps_at(file.file).empty());
    EXPECT_EQ(files_.write(file, 6, "!"), "ok");
    EXPECT_EQ(files_.close(file), "ok");
    EXPECT_EQ(files_.stored(from + " again"), "bytes!!");
  }
  EXPECT_TRUE(files_.is_idle());
}

TEST_F(WritesInDoubt, AreToldToBeLostWhenTheFileIsNowhere) {
  for (const bool flushes : {true, false}) {
    Opened file = files_.open("file");
    EXPECT_EQ(files_.write(file, 0, "bytes"), "ok");
    lose(file);
    if (flushes) {
      EXPECT_EQ(files_.flush(file), kLost);
    }
    EXPECT_EQ(files_.close(file), flushes ? "ok" : kLost);
  }
}

TEST_F(WritesInDoubt, AreMissedByNobodyOnceTheFileIsRemoved) {
  const std::pair<const char*, std::function<std::string()>> ways[] = {
      {"deleted", [&] { return RunLoop::run(files_.remove("file")); }},
      {"replaced",
       [&] {
         EXPECT_EQ(RunLoop::run(files_.create("source")), "ok");
         Creation destination;
         destination.replaces = true;
         return RunLoop::run(files_.move("source", "file", Kind::kFile, destination));
       }},
  };
  for (const auto& [how, remove] : ways) {
    Drafts& drafts = files_.open_files.drafts();
    Opened file = files_.open("file");
    const uint64_t given_up = drafts.given_up(file.file);
    EXPECT_EQ(files_.write(file, 0, "bytes"), "ok");
    store_.fails = true;
    EXPECT_EQ(files_.close(file), kUnknown);
    store_.fails = false;
    EXPECT_EQ(remove(), "ok") << how;
    EXPECT_TRUE(files_.is_idle()) << how;
    EXPECT_EQ(drafts.given_up(file.file), given_up);
  }
}

TEST_F(WritesInDoubt, AreKeptWhenMemoryIsShort) {
  Opened file = files_.open("file");
  EXPECT_EQ(files_.write(file, 0, "bytes"), "ok");
  store_.throws = true;
  EXPECT_EQ(files_.flush(file), describe(store::Error::kBusy));
  store_.throws = false;
  EXPECT_EQ(files_.flush(file), "ok");
  EXPECT_EQ(files_.stored("file"), "bytes");
  EXPECT_EQ(files_.close(file), "ok");
}

}  // namespace
}  // namespace kyanite::tree
