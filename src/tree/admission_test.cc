// Operations on a tree that wait for clients to give back what they cache.
#include "tree/admission.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "base/started.h"
#include "tree/caching_test_support.h"
#include "tree/test_support.h"

namespace kyanite::tree {
namespace {

class FlushedFirst : public ::testing::Test {
 protected:
  // A client that does something when it is told to give back what it caches.
  struct Client final : CacheHolder {
    void caching_breaks(const CacheBreak& broken) override {
      last = broken;
      if (on_break) on_break();
    }
    CacheBreak last;
    std::function<void()> on_break;
  };

  void SetUp() override {
    ASSERT_EQ(RunLoop::run(files.create("file")), "ok");
    auto located = files.find("file");
    FileOpen request;
    request.file = located->key();
    request.mode = {concurrency::kReadAccess | concurrency::kWriteAccess, concurrency::kFullAccess};
    request.ancestors = {kRootId};
    request.caching.caching = caching("RWH");
    request.caching.lease = lease_name('a', '1');
    request.caching.holder = client;
    ASSERT_TRUE(RunLoop::run(files.open_files.open(request)).ok());
    client->on_break = [this] { detach(flush()); };
  }

  // In line with the operation that asked, which must not keep its turn while it waits.
  Task<void> flush() {
    EXPECT_EQ(co_await note("flushed"), "ok");
    EXPECT_TRUE(files.open_files.acknowledge(lease_name('a', '1'), client->last.to).ok());
  }
  // What the client's own write comes to: a change that asks nobody.
  Task<std::string> note(std::string value) {
    store::Occasion occasion(store, locks, files.clock);
    auto decide = [&](store::Attempt& attempt) -> Task<Result<void>> {
      auto located =
          co_await locate_for_change(attempt, files.tree, files.parse("file"), Kind::kFile);
      if (!located) co_return located.error();
      Entry entry = *located->found.entry;
      entry.metadata = {{"note", value}};
      attempt.commit.expect(located->found.key, located->found.record);
      attempt.commit.put(located->found.key, store::to_record(entry));
      co_return Result<void>();
    };
    co_return outcome(co_await store::transact(occasion, decide));
  }
  std::string noted() { return files.find("file")->found.entry->metadata.at(0).second; }

  Task<Result<Changed>> change(int64_t seconds = 30) {
    store::Occasion occasion(store, locks, files.clock);
    occasion.deadline = Deadline(files.clock, seconds);
    const Edit edit = [&](Entry& entry, store::Commit&, const Located&) -> Task<Result<void>> {
      entry.metadata.at(0).second += " and changed";
      co_return Result<void>();
    };
    const Rules rules{Kind::kFile};
    co_return co_await change_entry(occasion, files.tree, files.parse("file"), rules, edit);
  }
  Task<Result<Located>> read() {
    store::Occasion occasion(store, locks, files.clock);
    const Rules rules{Kind::kFile, concurrency::FileOperation::kGetFile, {}, false};
    co_return co_await read_entry(occasion, files.tree, files.parse("file"), rules);
  }

  store::MemoryStore store;
  store::KeyedLocks locks;
  TestTree files{store};
  std::shared_ptr<Client> client = std::make_shared<Client>();
};

TEST_F(FlushedFirst, AChangeComesAfterWhatTheClientBrings) {
  ASSERT_TRUE(RunLoop::run(change()).ok());
  EXPECT_EQ(noted(), "flushed and changed");
  EXPECT_EQ(text_of(client->last.to), "-");
}

TEST_F(FlushedFirst, AReaderReadsWhatTheClientBrings) {
  auto located = RunLoop::run(read());
  ASSERT_TRUE(located.ok());
  EXPECT_EQ(located->found.entry->metadata.at(0).second, "flushed");
  EXPECT_EQ(text_of(client->last.to), "RH");
}

TEST_F(FlushedFirst, NobodyWaitsForEver) {
  client->on_break = nullptr;
  Started changing(change(5));
  files.clock.advance_seconds(5);
  files.open_files.pass_time();
  auto late = RunLoop::run(changing.join());
  ASSERT_FALSE(late.ok());
  EXPECT_EQ(late.error(), Error(Refusal::kCacheFlushDelay));
  EXPECT_TRUE(files.find("file")->found.entry->metadata.empty());
}

TEST_F(FlushedFirst, WhatIsDeletedMayBeClosedFirst) {
  EXPECT_EQ(RunLoop::run(files.remove("file")), "refusal 0") << "it is in use";
  EXPECT_EQ(text_of(client->last.to), "RW");
}

}  // namespace
}  // namespace kyanite::tree
