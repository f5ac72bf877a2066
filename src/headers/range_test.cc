#include "headers/range.h"

#include <gtest/gtest.h>

#include "service/test_support.h"

namespace kyanite::headers {
namespace {

struct Expected {
  uint64_t first;
  std::optional<uint64_t> last;
};

struct Case {
  const char* text;
  std::optional<Expected> range;
};
const Case kCases[] = {
    {"bytes=0-0", Expected{0, 0}},
    {"bytes=0-", Expected{0, {}}},
    {"bytes=5-9", Expected{5, 9}},
    {"bytes=5-5", Expected{5, 5}},
    {"bytes=0-9223372036854775807", Expected{0, INT64_MAX}},
    {"bytes=9223372036854775807-", Expected{INT64_MAX, {}}},
    {"bytes=0-9223372036854775808", {}},
    {"bytes=0-18446744073709551615", {}},
    {"bytes=18446744073709551615-", {}},
    {"bytes=6-5", {}},
    {"bytes=-5", {}},
    {"bytes=", {}},
    {"bytes=5", {}},
    {"bytes=a-b", {}},
    {"bytes=0-1,3-4", {}},
    {"bytes=0-18446744073709551616", {}},
    {"bytes= 0-1", {}},
    {"0-1", {}},
    {"lines=0-1", {}},
};

void expect_range(const std::optional<ByteRange>& range, const std::optional<Expected>& expected) {
  ASSERT_EQ(range.has_value(), expected.has_value());
  if (!range) return;
  EXPECT_EQ(range->first, expected->first);
  EXPECT_EQ(range->last, expected->last);
}

TEST(Range, TheStandardHeaderIsIgnoredWhenMalformed) {
  service::TestContext around;
  for (const auto& [text, expected] : kCases) {
    SCOPED_TRACE(text);
    service::TestCall test(around, "", {{"Range", text}});
    const auto range = decode_range(test.call);
    ASSERT_TRUE(range.ok());
    expect_range(*range, expected);
  }
}

TEST(Range, OfReadsIsIgnoredWhenMalformed) {
  service::TestContext around;
  for (const auto& [text, expected] : kCases) {
    SCOPED_TRACE(text);
    for (const std::string_view header : {"Range", "x-ms-range"}) {
      service::TestCall test(around, "", {{header, text}});
      expect_range(decode_read_range(test.call), expected);
    }
  }
  // Even malformed the service's own header counts and the standard one does not.
  service::TestCall both(around, "", {{"Range", "bytes=1-2"}, {"x-ms-range", "bytes=0--1"}});
  expect_range(decode_read_range(both.call), {});
}

TEST(Range, TheServicesOwnHeaderIsRefusedInWritesWhenMalformed) {
  service::TestContext around;
  for (const auto& [text, expected] : kCases) {
    SCOPED_TRACE(text);
    service::TestCall test(around, "", {{"x-ms-range", text}});
    const auto range = decode_range(test.call);
    ASSERT_EQ(range.ok(), expected.has_value());
    if (range) {
      expect_range(*range, expected);
    } else {
      EXPECT_EQ(range.error().code, wire::Code::kInvalidHeaderValue);
    }
  }
}

TEST(Range, TheServicesOwnHeaderWins) {
  service::TestContext around;
  service::TestCall both(around, "", {{"Range", "bytes=1-2"}, {"x-ms-range", "bytes=3-4"}});
  expect_range(*decode_range(both.call), Expected{3, 4});
  service::TestCall empty(around, "", {{"Range", "bytes=1-2"}, {"x-ms-range", ""}});
  expect_range(*decode_range(empty.call), Expected{1, 2});
  service::TestCall neither(around);
  expect_range(*decode_range(neither.call), {});
}

TEST(Range, IsClippedToTheContent) {
  struct Clip {
    ByteRange range;
    uint64_t length;
    std::optional<std::pair<uint64_t, uint64_t>> span;
  };
  using Pair = std::pair<uint64_t, uint64_t>;
  const Clip cases[] = {
      {{0, {}}, 10, Pair{0, 10}},
      {{0, 9}, 10, Pair{0, 10}},
      {{0, 10}, 10, Pair{0, 10}},
      {{0, UINT64_MAX}, 10, Pair{0, 10}},
      {{9, {}}, 10, Pair{9, 1}},
      {{9, 9}, 10, Pair{9, 1}},
      {{3, 5}, 10, Pair{3, 3}},
      {{10, {}}, 10, {}},
      {{UINT64_MAX, {}}, 10, {}},
      {{0, {}}, 0, {}},
      {{0, 0}, 0, {}},
  };
  for (size_t i = 0; i < std::size(cases); ++i) {
    SCOPED_TRACE(i);
    const auto span = clip(cases[i].range, cases[i].length);
    ASSERT_EQ(span.has_value(), cases[i].span.has_value());
    if (!span) continue;
    EXPECT_EQ(Pair(span->offset, span->count), *cases[i].span);
  }
}

}  // namespace
}  // namespace kyanite::headers
