#include "wire/structured.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "base/bytes.h"
#include "wire/crc64.h"

namespace kyanite::wire {
namespace {

std::string le(uint64_t value, size_t bytes) {
  std::string out;
  for (size_t i = 0; i < bytes; ++i) out.push_back(static_cast<char>(value >> (8 * i) & 0xff));
  return out;
}

std::string segment(uint16_t number, const std::string& content) {
  return le(number, 2) + le(content.size(), 8) + content + le(crc64(0, content), 8);
}

std::string message(const std::vector<std::string>& contents) {
  std::string body;
  std::string whole;
  for (size_t i = 0; i < contents.size(); ++i) {
    body += segment(static_cast<uint16_t>(i + 1), contents[i]);
    whole += contents[i];
  }
  body += le(crc64(0, whole), 8);
  return le(1, 1) + le(13 + body.size(), 8) + le(1, 2) + le(contents.size(), 2) + body;
}

struct Outcome {
  std::string content;
  std::optional<StructuredError> error;
};

Outcome parse(std::string bytes, size_t cut) {
  StructuredParser parser;
  Outcome outcome;
  for (size_t at = 0; at < bytes.size(); at += cut) {
    auto kept = parser.feed(bytes.data() + at, std::min(cut, bytes.size() - at));
    if (!kept) return {outcome.content, kept.error()};
    outcome.content.append(bytes, at, *kept);
  }
  if (auto end = parser.finish(); !end) outcome.error = end.error();
  return outcome;
}

TEST(Structured, Forms) {
  for (const char* good : {"XSM/1.0; properties=crc64", "xsm/1.0;properties=CRC64"})
    EXPECT_TRUE(is_structured_form(good)) << good;
  for (const char* bad : {"", "XSM/1.0", "XSM/2.0; properties=crc64", "XSM/1.0; properties=md5",
                          "XSM/1.0; properties=crc64; more"})
    EXPECT_FALSE(is_structured_form(bad)) << bad;
}

TEST(Structured, IsTakenApartHoweverItIsCut) {
  const std::vector<std::vector<std::string>> cases = {
      {}, {""}, {"a"}, {"hello", "world"}, {std::string(1000, 'x'), "", "tail"}};
  for (const auto& contents : cases) {
    std::string whole;
    for (const auto& content : contents) whole += content;
    for (size_t cut : {1, 2, 7, 13, 100, 100'000}) {
      const auto outcome = parse(message(contents), cut);
      EXPECT_FALSE(outcome.error) << whole << " in " << cut;
      EXPECT_EQ(outcome.content, whole);
    }
  }
}

TEST(Structured, WithoutChecksums) {
  const std::string content = "plain";
  const std::string body = le(1, 2) + le(content.size(), 8) + content;
  const std::string bytes = le(1, 1) + le(13 + body.size(), 8) + le(0, 2) + le(1, 2) + body;
  const auto outcome = parse(bytes, 3);
  EXPECT_FALSE(outcome.error);
  EXPECT_EQ(outcome.content, content);
}

TEST(Structured, DamageIsNoticed) {
  const std::string good = message({"first", "second"});
  struct Case {
    const char* what;
    size_t at;
    StructuredError error;
  };
  const Case cases[] = {
      {"version", 0, StructuredError::kMalformed},
      {"length", 1, StructuredError::kMalformed},
      {"flags", 9, StructuredError::kMalformed},  // Without checksums nothing fits any more.
      {"unknown flags", 10, StructuredError::kMalformed},
      {"number of segments", 11, StructuredError::kMalformed},
      {"number of a segment", 13, StructuredError::kMalformed},
      {"length of a segment", 15, StructuredError::kCrc64},
      {"content", 23, StructuredError::kCrc64},
      {"checksum of a segment", 28, StructuredError::kCrc64},
      {"checksum of all", good.size() - 1, StructuredError::kCrc64},
  };
  for (const auto& each : cases) {
    std::string bad = good;
    bad[each.at] = static_cast<char>(bad[each.at] ^ 1);
    const auto outcome = parse(bad, 5);
    ASSERT_TRUE(outcome.error) << each.what;
    EXPECT_EQ(*outcome.error, each.error) << each.what;
  }
}

TEST(Structured, DamageIsToldWithBothChecksums) {
  const std::string good = message({"first", "second"});
  for (const size_t at : {size_t{28}, good.size() - 8}) {  // Of the first segment, and of all.
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 1);
    StructuredParser parser;
    ASSERT_FALSE(parser.feed(bad.data(), bad.size())) << at;
    EXPECT_EQ(parser.sent_crc64(), parser.computed_crc64() ^ 1) << at;
    EXPECT_EQ(parser.computed_crc64(), crc64(0, at == 28 ? "first" : "firstsecond")) << at;
  }
}

TEST(Structured, NeitherShortNorLong) {
  const std::string good = message({"content"});
  for (size_t length = 0; length < good.size(); ++length) {
    const auto outcome = parse(good.substr(0, length), 4);
    ASSERT_TRUE(outcome.error) << length;
    EXPECT_EQ(*outcome.error, StructuredError::kMalformed);
  }
  EXPECT_TRUE(parse(good + "x", 4).error);
}

TEST(Structured, ASegmentLongerThanTheMessageIsRefusedAtOnce) {
  std::string bytes = le(1, 1) + le(100, 8) + le(1, 2) + le(1, 2) + le(1, 2) + le(101, 8);
  StructuredParser parser;
  EXPECT_FALSE(parser.feed(bytes.data(), bytes.size()));
}

TEST(Structured, WrittenMessagesAreReadBack) {
  for (uint64_t length : {uint64_t{0}, uint64_t{1}, StructuredWriter::kSegmentBytes - 1,
                          StructuredWriter::kSegmentBytes, StructuredWriter::kSegmentBytes + 1,
                          3 * StructuredWriter::kSegmentBytes}) {
    const std::string content(length, 'c');
    StructuredWriter writer(length);
    std::string bytes;
    uint64_t sent = 0;
    do {
      bytes += writer.before_content();
      const std::string part =
          content.substr(sent, std::min<uint64_t>(writer.segment_left(), 1'000'000));
      writer.add(part);
      bytes += part;
      sent += part.size();
      bytes += writer.after_content();
    } while (sent < length);
    EXPECT_EQ(bytes.size(), writer.message_length());
    EXPECT_EQ(writer.before_content(), "");
    const auto outcome = parse(bytes, 65'536);
    EXPECT_FALSE(outcome.error) << length;
    EXPECT_EQ(outcome.content, content);
  }
}

TEST(Structured, VeryLongContentHasFewEnoughSegments) {
  const uint64_t length = uint64_t{8} << 40;
  StructuredWriter writer(length);
  EXPECT_GT(writer.message_length(), length);
  EXPECT_LT(writer.message_length() - length, 2'000'000u);
}

}  // namespace
}  // namespace kyanite::wire
