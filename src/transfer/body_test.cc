#include "transfer/body.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "service/test_service.h"
#include "transfer/upload.h"

namespace kyanite::transfer {
namespace {

// Another limit for the memory of bodies, for one test.
class MemoryOf {
 public:
  explicit MemoryOf(uint64_t bytes) : before_(body_memory().total()) {
    body_memory().set_total(bytes);
  }
  ~MemoryOf() {
    EXPECT_EQ(body_memory().used(), 0u);
    body_memory().set_total(before_);
  }
  MemoryOf(const MemoryOf&) = delete;
  MemoryOf& operator=(const MemoryOf&) = delete;

 private:
  const uint64_t before_;
};

// A call with a body, from a peer.
struct Sent {
  Sent(service::TestContext& around, std::string_view text, std::string_view peer = "192.0.2.1",
       std::string_view account = "account")
      : body(text), sent(around) {
    sent.request.body = &body;
    sent.request.peer = peer;
    sent.call.target.account = account;
  }
  wire::Result<WholeBody> read(size_t most = kMaxXmlBody) {
    return RunLoop::run(read_body(sent.call, most));
  }

  service::StringBody body;
  service::TestCall sent;
};

std::string told(const wire::Result<WholeBody>& body) {
  return body ? std::to_string(body->size()) : std::string(wire::name(body.error().code));
}

TEST(ReadBody, GivesTheWholeUpToItsLimit) {
  service::TestContext around;
  const std::string text(kChunkBytes + 5, 'x');
  EXPECT_EQ(told(Sent(around, text).read(text.size())), std::to_string(text.size()));
  EXPECT_EQ(told(Sent(around, text).read(text.size() - 1)), "RequestBodyTooLarge");
  EXPECT_EQ(told(Sent(around, "").read(0)), "0");
}

TEST(ReadBody, SmallBodiesDoNotCount) {
  service::TestContext around;
  const MemoryOf none(0);
  EXPECT_EQ(told(Sent(around, std::string(kUncountedBytes / 2, 'x')).read()),
            std::to_string(kUncountedBytes / 2));
  EXPECT_EQ(told(Sent(around, std::string(kUncountedBytes / 2 + 1, 'x')).read()), "ServerBusy");
}

TEST(ReadBody, HoldsMemoryAsLongAsItLives) {
  service::TestContext around;
  const std::string text(100'000, 'x');
  const MemoryOf enough(400'000);  // For a body and its copy while it is received, twice.
  Sent first(around, text);
  auto body = first.read();
  ASSERT_TRUE(body);
  EXPECT_EQ(body_memory().used(), 200'000u);

  auto refused = Sent(around, text).read();
  EXPECT_EQ(told(refused), "ServerBusy");
  EXPECT_EQ(refused.error().status, 503);
  ASSERT_EQ(refused.error().headers.size(), 1u);
  EXPECT_EQ(refused.error().headers.front().first, "Retry-After");

  body = wire::Error(wire::Code::kInvalidInput);
  EXPECT_EQ(body_memory().used(), 0u);
  EXPECT_EQ(told(Sent(around, text).read()), "100000");
}

TEST(ReadBody, OnePeerOrAccountLeavesMemoryToOthers) {
  service::TestContext around;
  const std::string text(100'000, 'x');
  const MemoryOf enough(600'000);
  Sent first(around, text, "192.0.2.1", "one");
  const auto body = first.read();
  ASSERT_TRUE(body);
  EXPECT_EQ(told(Sent(around, text, "192.0.2.1", "two").read()), "ServerBusy");
  EXPECT_EQ(told(Sent(around, text, "192.0.2.2", "one").read()), "100000");
  body_memory().set_total(245'000);  // Less than an eighth of it is left.
  const std::string shorter(10'000, 'x');
  EXPECT_EQ(told(Sent(around, shorter, "192.0.2.2", "one").read()), "ServerBusy");
  EXPECT_EQ(told(Sent(around, shorter, "192.0.2.2", "two").read()), "10000");
}

TEST(ReadBody, CountsWhatHasComeNotWhatWasAnnounced) {
  service::TestContext around;
  const std::string text(4 * kChunkBytes, 'x');
  // Enough for two chunks and their copies only.
  const MemoryOf little(8 * kChunkBytes);
  Sent sent(around, text);
  EXPECT_EQ(told(sent.read()), "ServerBusy");
  EXPECT_EQ(RunLoop::run(sent.body.next())->size(), kChunkBytes);  // The third was not asked for.
  EXPECT_EQ(RunLoop::run(sent.body.next())->size(), kChunkBytes);
  EXPECT_EQ(RunLoop::run(sent.body.next())->size(), 0u);
}

TEST(ReceiveBody, GoesOnWithOneChunkWhereThereIsNoMemoryForTwo) {
  service::TestContext around;
  const std::string text(5 * kChunkBytes + 7, 'x');
  for (const uint64_t chunks : {1, 2, 3}) {
    const MemoryOf limited(2 * chunks * kChunkBytes);
    Sent sent(around, text);
    const auto uploaded = RunLoop::run(receive_body(sent.sent.call, text.size(), Md5::kWhenSent));
    ASSERT_TRUE(uploaded) << chunks;
    EXPECT_EQ(uploaded->length, text.size());
  }
  const MemoryOf too_little(2 * kChunkBytes - 1);
  Sent sent(around, text);
  const auto refused = RunLoop::run(receive_body(sent.sent.call, text.size(), Md5::kWhenSent));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, wire::Code::kServerBusy);
  EXPECT_EQ(RunLoop::run(sent.body.next())->size(), kChunkBytes);  // Nothing was asked for.
}

}  // namespace
}  // namespace kyanite::transfer
