#include "queue/place.h"

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "queue/receipt.h"

namespace kyanite::queue {
namespace {

const Time kMade = Time::from_unix_seconds(1'700'000'000);

TEST(MessageId, LooksLikeAGuidAndComesBack) {
  const auto id = MessageId::make(kMade);
  const std::string text = id.text();
  EXPECT_EQ(text.size(), 36u);
  EXPECT_EQ(text[14], '6');
  EXPECT_EQ(MessageId::parse(text), id);
}

TEST(MessageId, GrowsWithinOneInstant) {
  auto before = MessageId::make(kMade);
  for (int i = 0; i < 100; ++i) {
    const auto id = MessageId::make(kMade);
    EXPECT_LT(before, id);
    before = id;
  }
}

TEST(MessageId, RefusesOtherText) {
  for (const char* text :
       {"", "x", "00112233445566778899aabbccddeeff", "00112233-4455-6677-8899-aabbccddeefg"}) {
    EXPECT_FALSE(MessageId::parse(text)) << text;
  }
}

TEST(MessagePlace, KeysSortByTimeAndComeBack) {
  const Position early{{100}, {7, 9}};
  const Position late{{101}, {1, 2}};
  const auto early_key = message_key(5, {Lane::kReady, early});
  EXPECT_LT(early_key, message_key(5, {Lane::kReady, late}));
  EXPECT_EQ(position_of(early_key.bytes()), early);
  EXPECT_TRUE(early_key.same_partition(message_key(5, {Lane::kHidden, late})));
  EXPECT_TRUE(early_key.same_partition(text_key(5, early.id)));
  const auto range = lane_range(5, Lane::kReady, early);
  EXPECT_EQ(range.from(), early_key.bytes());
  EXPECT_LT(message_key(5, {Lane::kReady, Position::last()}).bytes(), range.to());
}

TEST(Receipt, ComesBack) {
  const Receipt receipt{Lane::kHidden, kMade, 0x0123456789abcdef};
  const auto parsed = Receipt::parse(receipt.text());
  ASSERT_TRUE(parsed && *parsed);
  EXPECT_EQ((*parsed)->lane, receipt.lane);
  EXPECT_EQ((*parsed)->visible, receipt.visible);
  EXPECT_EQ((*parsed)->number, receipt.number);
}

TEST(Receipt, TellsMalformedFromForeign) {
  for (const std::string text : {"", "notareceipt", "AAAA=", "=", "a b="}) {
    const auto parsed = Receipt::parse(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_EQ(parsed.error().code, wire::Code::kInvalidQueryParameterValue);
  }
  for (const size_t length : {1, 19, 20, 24}) {
    const std::string text = base64(std::string(length, '\3'));
    const auto parsed = Receipt::parse(text);
    ASSERT_TRUE(parsed) << text;
    EXPECT_FALSE(*parsed) << text;
    EXPECT_EQ(Receipt::has_length(text), length >= 20) << text;
  }
}

}  // namespace
}  // namespace kyanite::queue
