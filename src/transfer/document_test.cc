#include "transfer/document.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>

#include "base/executor.h"
#include "service/test_service.h"
#include "service/test_support.h"
#include "store/test_support.h"

namespace kyanite::transfer {
namespace {

const std::string kHead = "\xef\xbb\xbf<?xml version=\"1.0\" encoding=\"utf-8\"?>";

// So many entries of so many bytes. Counts how often one was written.
class Numbers final : public Document {
 public:
  Numbers(uint64_t count, size_t bytes, std::atomic<uint64_t>& written,
          uint64_t fails_at = UINT64_MAX, store::Error failure = store::Error::kCorrupt)
      : count_(count),
        text_(bytes, 'x'),
        written_(written),
        fails_at_(fails_at),
        failure_(failure) {}

  void open(wire::XmlWriter& xml) const override { xml.open("List").open("Entries"); }
  store::Result<Progress> write_entries(const Part& part, const Progress& from) const override {
    for (uint64_t i = from.entries; i < count_; ++i) {
      if (i == fails_at_) return failure_;
      part.xml.element("E", text_);
      ++written_;
      if (part.is_enough()) return Progress{std::to_string(i + 1), i + 1, false};
    }
    return Progress{"next", count_, true};
  }
  void close(wire::XmlWriter& xml, const Progress& end) const override {
    xml.close("Entries").element("Next", end.next_marker()).close("List");
  }

 private:
  const uint64_t count_;
  const std::string text_;
  std::atomic<uint64_t>& written_;
  const uint64_t fails_at_;
  const store::Error failure_;
};

std::string expected(uint64_t count, size_t bytes) {
  std::string entries;
  for (uint64_t i = 0; i < count; ++i) entries += "<E>" + std::string(bytes, 'x') + "</E>";
  entries = count == 0 ? "<Entries />" : "<Entries>" + entries + "</Entries>";
  return kHead + "<List>" + entries + "<Next>" + write_marker("next") + "</Next></List>";
}

// The rows of a partition. Counts how often one was written.
class Rows final : public Document {
 public:
  explicit Rows(std::atomic<uint64_t>& written) : written_(written) {}

  void open(wire::XmlWriter& xml) const override { xml.open("Rows"); }
  store::Result<Progress> write_entries(const Part& part, const Progress& from) const override {
    auto cursor = part.view.scan(store::Range::rows(1, 'r', "p"));
    if (!from.next.empty()) cursor->seek(store::Key(1, 'r', "p", from.next).bytes());
    uint64_t count = from.entries;
    for (; cursor->valid(); cursor->next()) {
      const std::string row(store::Key::from_bytes(std::string(cursor->key())).row());
      if (part.is_enough() && count > from.entries) return Progress{row, count, false};
      auto record = cursor->record();
      if (!record) return record.error();
      part.xml.element("Row", row + (*record)->value);
      ++written_;
      ++count;
    }
    if (auto status = cursor->status(); !status) return status.error();
    return Progress{"", count, true};
  }
  void close(wire::XmlWriter& xml, const Progress& end) const override {
    EXPECT_EQ(end.next_marker(), "");
    xml.close("Rows");
  }

 private:
  std::atomic<uint64_t>& written_;
};

// A cursor that cannot go on after a few steps, and the view that has it.
class HaltingCursor final : public store::View::Cursor {
 public:
  HaltingCursor(std::unique_ptr<Cursor> below, int& left) : below_(std::move(below)), left_(left) {}
  bool valid() const override { return left_ > 0 && below_->valid(); }
  std::string_view key() const override { return below_->key(); }
  store::Result<store::RecordPtr> record() const override { return below_->record(); }
  store::Result<std::string_view> value() const override { return below_->value(); }
  void next() override {
    --left_;
    below_->next();
  }
  void seek(std::string_view key) override { below_->seek(key); }
  store::Result<void> status() const override {
    if (left_ > 0) return below_->status();
    return store::Error::kIo;
  }

 private:
  const std::unique_ptr<Cursor> below_;
  int& left_;
};
class HaltingView final : public store::View {
 public:
  HaltingView(const View& below, int& left) : below_(below), left_(left) {}
  store::Result<store::RecordPtr> get(const store::Key& key) const override {
    return below_.get(key);
  }
  std::unique_ptr<Cursor> scan(const store::Range& range) const override {
    return std::make_unique<HaltingCursor>(below_.scan(range), left_);
  }
  bool enough() const override { return below_.enough(); }

 private:
  const View& below_;
  int& left_;
};

// Looks miss something in memory now and then, as they do in the engine, and run again on a thread.
class ColdStore final : public store::MemoryStore {
 public:
  std::unique_ptr<store::Snapshot> snapshot() override {
    return std::make_unique<Cold>(MemoryStore::snapshot(), workers_);
  }

 private:
  class Cold final : public store::Snapshot {
   public:
    Cold(std::unique_ptr<Snapshot> below, Workers& workers)
        : below_(std::move(below)), workers_(workers) {}
    Task<store::Result<void>> look(store::Look look) override {
      int left = (7 * ++looks_) % 80;
      store::Look halting = [&](const store::View& view) { return look(HaltingView(view, left)); };
      auto looked = co_await below_->look(std::move(halting));
      if (left > 0) co_return looked;
      co_return co_await scan(look);
    }
    Task<store::Result<void>> scan(store::Look look) override {
      co_return co_await workers_.run([&] { return RunLoop::run(below_->scan(look)); });
    }

   private:
    const std::unique_ptr<Snapshot> below_;
    Workers& workers_;
    int looks_ = 0;
  };

  Workers workers_{1};
};

class DocumentTest : public testing::Test {
 protected:
  wire::Result<http::Reply> ask(std::unique_ptr<const Document> document) {
    service::TestCall test(around_);
    return RunLoop::run(reply_with_document(test.call, std::move(document)));
  }
  wire::Result<http::Reply> ask(uint64_t count, size_t bytes, uint64_t fails_at = UINT64_MAX) {
    written_ = 0;
    return ask(std::make_unique<Numbers>(count, bytes, written_, fails_at));
  }
  static http::BodyStream* stream_of(http::Reply& reply) {
    auto* stream = std::get_if<std::unique_ptr<http::BodyStream>>(&reply.body);
    return stream == nullptr ? nullptr : stream->get();
  }
  void put(const std::string& row, std::string value) {
    const store::Key key(1, 'r', "p", row);
    ASSERT_TRUE(
        RunLoop::run(store_.commit({{}, {{key, store::record_of(std::move(value))}}})).ok());
  }
  // Two thousand rows, and how they are shown.
  std::string put_rows() {
    std::string shown;
    const std::string value(1000, 'v');
    for (int i = 1000; i < 3000; ++i) {
      put(std::to_string(i), value);
      shown += "<Row>" + std::to_string(i) + value + "</Row>";
    }
    return kHead + "<Rows>" + shown + "</Rows>";
  }

  ColdStore store_;
  service::TestContext around_{store_};
  std::atomic<uint64_t> written_ = 0;
};

TEST_F(DocumentTest, ShortOnesAreAnsweredAsAWhole) {
  for (const auto& [count, bytes] :
       {std::pair(0, 0), {1, 1}, {1, 4000}, {1, 4096}, {50, 100}, {500, 400}, {2, 130'000}}) {
    auto reply = ask(static_cast<uint64_t>(count), static_cast<size_t>(bytes));
    const std::string body = expected(static_cast<uint64_t>(count), static_cast<size_t>(bytes));
    ASSERT_TRUE(reply) << body.size();
    EXPECT_EQ(reply->status, 200);
    EXPECT_TRUE(reply->has_header("Content-Type"));
    if (stream_of(*reply) != nullptr) {
      ASSERT_TRUE(reply->stream_length) << body.size();
      EXPECT_EQ(*reply->stream_length, body.size());
    }
    EXPECT_EQ(service::TestAnswer(std::move(reply)).body, body);
  }
}

TEST_F(DocumentTest, LongOnesAreWrittenNoFasterThanTheyAreSent) {
  constexpr uint64_t kCount = 20'000;
  constexpr size_t kEntry = 100 + sizeof "<E></E>" - 1;
  auto reply = ask(kCount, 100);
  ASSERT_TRUE(reply);
  EXPECT_FALSE(reply->stream_length);
  ASSERT_NE(stream_of(*reply), nullptr);
  std::string sent;
  while (true) {
    auto bytes = RunLoop::run(stream_of(*reply)->next());
    ASSERT_TRUE(bytes);
    if (os::size_of(*bytes) == 0) break;
    sent += std::get<Buffer>(*bytes).view();
    EXPECT_LE(written_ * kEntry, sent.size() + 2 * kChunkBytes);
  }
  EXPECT_EQ(sent, expected(kCount, 100));
}

TEST_F(DocumentTest, EntriesLargerThanAPart) {
  for (const size_t bytes : {kChunkBytes - 100, kChunkBytes, 3 * kChunkBytes + 1}) {
    EXPECT_EQ(service::TestAnswer(ask(3, bytes)).body, expected(3, bytes)) << bytes;
  }
}

TEST_F(DocumentTest, AnErrorBeforeAnythingIsSentIsAnswered) {
  for (const uint64_t fails_at : {0u, 1u, 2000u}) {
    const auto reply = ask(20'000, 100, fails_at);
    ASSERT_FALSE(reply) << fails_at;
    EXPECT_EQ(reply.error().status, 500);
  }
}

TEST_F(DocumentTest, AnErrorLaterBreaksTheBody) {
  const std::string body = service::TestAnswer(ask(20'000, 100, 19'999)).body;
  EXPECT_TRUE(body.ends_with("(failed)"));
  EXPECT_EQ(body.find("</Entries>"), std::string::npos);
}

// How many entries a page shows that ends early, as it should: well-formed, with a marker of the
// next entry.
size_t entries_of_early_end(const std::string& body) {
  size_t count = 0;
  for (size_t at = 0; (at = body.find("<E>", at)) != std::string::npos; ++at) ++count;
  const std::string end =
      "</Entries><Next>" + write_marker(std::to_string(count)) + "</Next></List>";
  EXPECT_TRUE(body.ends_with(end)) << count << " " << body.substr(body.size() - 100);
  return count;
}

TEST_F(DocumentTest, APageThatTakesTooLongEndsEarly) {
  service::TestCall test(around_);
  test.call.deadline = Deadline(around_.clock, 30);
  auto reply = RunLoop::run(reply_with_document(
      test.call, std::make_unique<Numbers>(uint64_t{20'000}, size_t{100}, written_)));
  ASSERT_TRUE(reply);
  around_.clock.advance_seconds(30);
  const size_t shown = entries_of_early_end(service::TestAnswer(std::move(reply)).body);
  EXPECT_GT(shown, 0u);
  EXPECT_LT(shown, 20'000u);
}

TEST_F(DocumentTest, APageThatFindsNoPlaceInTheQueueEndsEarly) {
  auto reply = ask(std::make_unique<Numbers>(uint64_t{20'000}, size_t{100}, written_, 19'999,
                                             store::Error::kBusy));
  const size_t shown = entries_of_early_end(service::TestAnswer(std::move(reply)).body);
  EXPECT_GT(shown, 0u);
  EXPECT_LT(shown, 20'000u);
}

TEST_F(DocumentTest, APageWithoutAnyEntryCannotEndEarly) {
  service::TestCall late(around_);
  late.call.deadline = Deadline(around_.clock, 0);
  auto reply = RunLoop::run(
      reply_with_document(late.call, std::make_unique<Numbers>(uint64_t{9}, size_t{1}, written_)));
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code, wire::Code::kOperationTimedOut);
  reply = ask(std::make_unique<Numbers>(uint64_t{9}, size_t{1}, written_, 0, store::Error::kBusy));
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code, wire::Code::kServerBusy);
}

// However often a part is written again on another thread, and whatever is committed meanwhile.
TEST_F(DocumentTest, AllPartsAreOfOneSnapshot) {
  const std::string rows = put_rows();
  auto reply = ask(std::make_unique<Rows>(written_));
  ASSERT_TRUE(reply);
  ASSERT_NE(stream_of(*reply), nullptr);
  for (int i = 1000; i < 3000; ++i) put(std::to_string(i) + "a", "torn");
  put("2999", "overwritten");
  EXPECT_EQ(service::TestAnswer(std::move(reply)).body, rows);
}

// Whoever shares the thread is not kept waiting for the end of a page.
TEST_F(DocumentTest, OthersHaveTheirTurnBetweenParts) {
  const std::string rows = put_rows();
  auto reply = ask(std::make_unique<Rows>(written_));
  ASSERT_TRUE(reply);
  bool ended = false;
  int turns = 0;
  const auto other = [&]() -> Task<void> {
    while (!ended) {
      written_ = 0;
      co_await Executor::yield();
      ++turns;
      EXPECT_LE(written_.load(), 200U);  // Twice, when it has to be on a worker.
    }
  };
  const auto both = [&]() -> Task<int> {
    detach(other());
    const std::string body = co_await service::read_all(*stream_of(*reply));
    EXPECT_EQ(body, rows);
    ended = true;
    co_await Executor::yield();
    co_return 0;
  };
  RunLoop::run(both());
  EXPECT_GT(turns, 20);
}

}  // namespace
}  // namespace kyanite::transfer
