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
