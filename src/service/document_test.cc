#include "service/document.h"

#include <gtest/gtest.h>

#include <future>
#include <memory>
#include <string>

#include "base/executor.h"
#include "service/test_service.h"
#include "service/test_support.h"

namespace kyanite::service {
namespace {

const std::string kHead = "\xef\xbb\xbf<?xml version=\"1.0\" encoding=\"utf-8\"?>";

// Reads run on a thread of their own, as they do in the engine.
class ThreadedStore final : public store::MemoryStore {
 public:
  Task<store::Result<void>> read(
      std::function<store::Result<void>(const store::View&)> look) override {
    co_return co_await workers_.run([&] { return RunLoop::run(MemoryStore::read(look)); });
  }

 private:
  Workers workers_{1};
};

class DocumentTest : public testing::Test {
 protected:
  wire::Result<http::Reply> ask(WriteDocument write) {
    TestCall test(around_);
    return RunLoop::run(reply_with_document(test.call, std::move(write)));
  }
  static bool is_streamed(const http::Reply& reply) {
    return std::holds_alternative<std::unique_ptr<http::BodyStream>>(reply.body) &&
           !reply.stream_length;
  }

  // Outlives the store, whose end waits for those who wait for this.
  std::promise<void> go_on_;
  std::shared_future<void> told_to_go_on_ = go_on_.get_future();
  ThreadedStore store_;
  TestContext around_{store_};
};

// Writes so many bytes, then waits to be told, then the end.
WriteDocument halting(size_t bytes, std::shared_future<void> told,
                      store::Result<void> how = store::Result<void>()) {
  return [=](const store::View&, wire::XmlWriter& xml) {
    xml.open("A").text(std::string(bytes, 'x'));
    told.wait();
    xml.close("A");
    return how;
  };
}
std::string expected(size_t bytes) { return kHead + "<A>" + std::string(bytes, 'x') + "</A>"; }

TEST_F(DocumentTest, ShortOnesAreAnsweredAsAWhole) {
  go_on_.set_value();
  for (const size_t bytes : {1u, 4000u, 4096u, 5000u, 130'000u, 260'000u}) {
    auto reply = ask(halting(bytes, told_to_go_on_));
    ASSERT_TRUE(reply) << bytes;
    EXPECT_FALSE(is_streamed(*reply)) << bytes;
    EXPECT_TRUE(reply->has_header("Content-Type"));
    if (reply->stream_length) {
      EXPECT_EQ(*reply->stream_length, expected(bytes).size());
    }
    EXPECT_EQ(TestAnswer(std::move(reply)).body, expected(bytes)) << bytes;
  }
}

// The reply is there while the document is not: else this would never end.
TEST_F(DocumentTest, LongOnesAreSentWhileTheyAreWritten) {
  for (const size_t bytes : {3 * kChunkBytes, 20 * kChunkBytes + 17}) {
    std::promise<void> go_on;
    auto reply = ask(halting(bytes, go_on.get_future()));
    ASSERT_TRUE(reply);
    EXPECT_EQ(reply->status, 200);
    EXPECT_TRUE(is_streamed(*reply));
    go_on.set_value();
    EXPECT_EQ(TestAnswer(std::move(reply)).body, expected(bytes));
  }
}

TEST_F(DocumentTest, AnErrorBeforeAnythingIsSentIsAnswered) {
  go_on_.set_value();
  for (const size_t bytes : {1u, 5000u, 260'000u}) {
    const auto reply = ask(halting(bytes, told_to_go_on_, store::Error::kIo));
    ASSERT_FALSE(reply) << bytes;
    EXPECT_EQ(reply.error().status, 500);
  }
}

TEST_F(DocumentTest, AnErrorLaterBreaksTheBody) {
  auto reply = ask(halting(3 * kChunkBytes, told_to_go_on_, store::Error::kCorrupt));
  ASSERT_TRUE(reply);
  go_on_.set_value();
  const std::string body = TestAnswer(std::move(reply)).body;
  EXPECT_TRUE(body.ends_with("(failed)"));
  EXPECT_EQ(body.find("</A>"), std::string::npos);
}

// Neither the connection nor its event loop is there any more when the writer goes on.
TEST_F(DocumentTest, TheWriterMayOutliveWhoAsked) {
  auto alive = std::make_shared<int>();
  const std::weak_ptr<int> watched = alive;
  {
    auto write = [told = told_to_go_on_, held = std::move(alive)](const store::View&,
                                                                  wire::XmlWriter& xml) {
      xml.open("A").text(std::string(3 * kChunkBytes, 'x'));
      told.wait();
      xml.text(std::string(3 * kChunkBytes, 'y')).close("A");
      return store::Result<void>();
    };
    auto reply = ask(std::move(write));
    ASSERT_TRUE(reply);
    EXPECT_TRUE(is_streamed(*reply));
  }
  EXPECT_FALSE(watched.expired());
  go_on_.set_value();
  // One thread: the next read comes after the one that was left.
  ASSERT_TRUE(RunLoop::run(store_.read([](const store::View&) { return store::Result<void>(); })));
  EXPECT_TRUE(watched.expired());
}

}  // namespace
}  // namespace kyanite::service
