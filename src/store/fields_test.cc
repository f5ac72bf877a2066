#include "store/fields.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace kyanite::store {
namespace {

struct Inner {
  std::string name;
  int64_t number = 0;
  template <class Io>
  void fields(Io& io) {
    io(1, name);
    io(2, number);
  }
  bool operator==(const Inner&) const = default;
};

enum class Colour { kRed, kGreen };

struct Outer {
  std::string text;
  uint64_t count = 0;
  int64_t signed_count = 0;
  bool flag = false;
  Colour colour = Colour::kRed;
  Time time;
  std::optional<uint64_t> maybe;
  std::vector<std::pair<std::string, std::string>> pairs;
  std::vector<Inner> inners;
  Inner inner;
  template <class Io>
  void fields(Io& io) {
    io(1, text);
    io(2, count);
    io(3, signed_count);
    io(4, flag);
    io(6, colour);
    io(7, time);
    io(8, maybe);
    io(9, pairs);
    io(10, inners);
    io(11, inner);
  }
  bool operator==(const Outer&) const = default;
};

struct Older {  // Knows two of the fields only.
  uint64_t count = 0;
  bool flag = false;
  template <class Io>
  void fields(Io& io) {
    io(2, count);
    io(4, flag);
  }
};

Outer full() {
  Outer value;
  value.text = std::string("a\0b", 3);
  value.count = UINT64_MAX;
  value.signed_count = INT64_MIN;
  value.flag = true;
  value.colour = Colour::kGreen;
  value.time = {638000000000000000};
  value.maybe = 0;  // Present though zero.
  value.pairs = {{"k", "v"}, {"", ""}};
  value.inners = {{"x", -1}, {}};
  value.inner = {"y", 2};
  return value;
}

TEST(Fields, RoundTrip) {
  EXPECT_EQ(decode<Outer>(encode(full())), full());
  EXPECT_EQ(decode<Outer>(encode(Outer())), Outer());
  EXPECT_EQ(encode(Outer()).size(), 1u) << "defaults take no space";
}

TEST(Fields, UnknownTagsAreSkippedAndMissingOnesKeepDefaults) {
  auto older = decode<Older>(encode(full()));
  ASSERT_TRUE(older);
  EXPECT_EQ(older->count, UINT64_MAX);
  EXPECT_TRUE(older->flag);
  auto newer = decode<Outer>(encode(Older{7, true}));
  ASSERT_TRUE(newer);
  EXPECT_EQ(newer->count, 7u);
  EXPECT_EQ(newer->text, "");
}

TEST(Fields, ReadingAgainLeavesNothingOfTheValueBefore) {
  Outer other;
  other.text = "other";
  other.inner.number = 5;
  Outer value;
  for (const Outer& expected : {full(), other, Outer(), full()}) {
    const std::string bytes = encode(expected);
    auto reader = read_again(bytes);
    ASSERT_TRUE(reader);
    value.fields(*reader);
    EXPECT_TRUE(reader->ok());
    EXPECT_EQ(value, expected);
  }
  EXPECT_FALSE(read_again(""));
  EXPECT_FALSE(read_again("\x02"));
  auto cut = read_again("\x01\x01");
  value.fields(*cut);
  EXPECT_FALSE(cut->ok());
}

TEST(Fields, TheRestIsWhatWasNotRead) {
  const std::string whole = encode(full());
  const std::string first = encode([] {
    Outer value;
    value.text = full().text;
    value.count = full().count;
    return value;
  }());
  auto reader = read_again(whole);
  std::string text;
  uint64_t count = 0;
  (*reader)(1, text);
  (*reader)(2, count);
  EXPECT_EQ(reader->rest(3), std::string_view(whole).substr(first.size()));
  EXPECT_EQ(reader->rest(5), reader->rest(6)) << "there is no field 5";
  Inner inner;
  (*reader)(11, inner);
  EXPECT_EQ(inner, full().inner) << "asking for the rest reads nothing";
  EXPECT_EQ(reader->rest(12), "");
  EXPECT_TRUE(reader->ok());
}

TEST(Fields, CutAndForeignBytesAreRefusedOrDecodedNeverRead) {
  EXPECT_FALSE(decode<Outer>(""));
  EXPECT_FALSE(decode<Outer>("\x02"));
  const std::string whole = encode(full());
  for (size_t length = 1; length < whole.size(); ++length) {
    (void)decode<Outer>(std::string_view(whole).substr(
        0, length));  // Must not read past the end (sanitizers watch).
  }
  for (int round = 0; round < 2000; ++round) {
    std::string noise = whole;
    noise[1 + random_u64() % (noise.size() - 1)] = static_cast<char>(random_u64());
    (void)decode<Outer>(noise);
  }
}

}  // namespace
}  // namespace kyanite::store
