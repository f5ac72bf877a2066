#include "http/chars.h"

#include <gtest/gtest.h>

#include <string>

namespace kyanite::http {
namespace {

TEST(Chars, FindsAControlByteWhereverItIs) {
  for (size_t size = 0; size < 70; ++size) {
    const std::string clean(size, size % 2 == 0 ? '\t' : '\x80');
    EXPECT_EQ(find_control(clean), size);
    for (size_t at = 0; at < size; ++at) {
      std::string text = clean;
      text[at] = '\r';
      EXPECT_EQ(find_control(text), at) << size;
      EXPECT_TRUE(has_control(text)) << size << " " << at;
    }
  }
}

TEST(Chars, EveryByteIsJudgedTheSameAloneAndInABlock) {
  for (int value = 0; value < 256; ++value) {
    const char c = static_cast<char>(value);
    const bool control = (value < 0x20 && value != '\t') || value == 0x7f;
    EXPECT_EQ(is_control(c), control) << value;
    EXPECT_EQ(has_control(std::string(1, c)), control) << value;
    EXPECT_EQ(has_control(std::string(9, c)), control) << value;
    EXPECT_EQ(has_control(std::string(40, c)), control) << value;
  }
}

TEST(Chars, Tokens) {
  EXPECT_TRUE(is_token("x-ms-meta-A_1!#$%&'*+.^`|~"));
  for (const std::string bad : {"", " ", "a b", "a:", "a(", "a\"", "a/", "\x80", "a\t"}) {
    EXPECT_FALSE(is_token(bad)) << bad;
  }
}

}  // namespace
}  // namespace kyanite::http
