#include "base/bytes.h"

#include <gtest/gtest.h>

namespace kyanite {
namespace {

using namespace std::string_literals;

std::string every_byte() {
  std::string bytes;
  for (int i = 0; i < 256; ++i) bytes.push_back(static_cast<char>(i));
  return bytes;
}

TEST(Bytes, IntegersHaveTheirByteOrder) {
  std::string out;
  append_be64(out, 0x0102030405060708);
  EXPECT_EQ(out, "\x01\x02\x03\x04\x05\x06\x07\x08");
  EXPECT_EQ(read_be64(out.data()), 0x0102030405060708u);
  out.clear();
  append_le32(out, 0xfffefdfc);
  EXPECT_EQ(out, "\xfc\xfd\xfe\xff");
  EXPECT_EQ(read_le32(out.data()), 0xfffefdfcu);
}

TEST(Bytes, VarintsAtEveryChangeOfLength) {
  for (int bits = 0; bits <= 64; ++bits) {
    const uint64_t power = bits == 64 ? 0 : uint64_t{1} << bits;
    for (uint64_t value : {power - 1, power, power + 1}) {
      std::string out;
      append_varint(out, value);
      const size_t length = out.size();
      EXPECT_LE(length, 10u);
      // Eight bytes at a time are looked at where there are as many.
      for (const std::string rest : {"", "rest", "\xff\xff\xff\xff\xff\xff\xff\xff"}) {
        const std::string bytes = out + rest;
        std::string_view in = bytes;
        uint64_t read = ~value;
        ASSERT_TRUE(read_varint(in, read)) << value;
        EXPECT_EQ(read, value);
        EXPECT_EQ(in, rest);
      }
      uint64_t read = 0;
      for (size_t cut = 0; cut < length; ++cut) {
        std::string_view part = std::string_view(out).substr(0, cut);
        EXPECT_FALSE(read_varint(part, read)) << value << " cut to " << cut;
      }
    }
  }
}

TEST(Bytes, VarintsLongerThanSixtyFourBitsAreRefused) {
  const std::string nine(9, '\xff');
  uint64_t value = 0;
  std::string largest = nine + "\x01";
  std::string_view in = largest;
  EXPECT_TRUE(read_varint(in, value));
  EXPECT_EQ(value, UINT64_MAX);
  for (const std::string& text : {nine + "\x02", nine + "\x81\x00"s, nine + "\xff\x01", ""s}) {
    in = text;
    EXPECT_FALSE(read_varint(in, value)) << hex(text);
  }
}

TEST(Bytes, HexRoundTripsInEitherCase) {
  EXPECT_EQ(hex("\x00\x7f\xab"s), "007fab");
  EXPECT_EQ(unhex("007FAb"), "\x00\x7f\xab"s);
  EXPECT_EQ(unhex(hex(every_byte())), every_byte());
  for (const char* text : {"0", "0g", "g0", " 0", "0x10", "001"}) EXPECT_FALSE(unhex(text)) << text;
}

TEST(Bytes, Base64OfKnownVectors) {
  const std::pair<const char*, const char*> cases[] = {{"", ""},
                                                       {"f", "Zg=="},
                                                       {"fo", "Zm8="},
                                                       {"foo", "Zm9v"},
                                                       {"foob", "Zm9vYg=="},
                                                       {"fooba", "Zm9vYmE="},
                                                       {"foobar", "Zm9vYmFy"},
                                                       {"\xff\xfe\xfd", "//79"},
                                                       {"\xfb\xef\xbe", "++++"}};
  for (const auto& [bytes, text] : cases) {
    EXPECT_EQ(base64(bytes), text);
    EXPECT_EQ(unbase64(text), bytes);
  }
  std::string bytes = every_byte();
  for (int i = 0; i < 3; ++i, bytes.pop_back()) EXPECT_EQ(unbase64(base64(bytes)), bytes);
}

TEST(Bytes, Base64IsStrict) {
  for (const char* text : {"Z", "Zg", "Zg=", "Zg==\n",
                           " Zg==", "Zg= =", "=Zg=", "Z===", "====", "Zg==Zg==", "Zm8=Zm8=", "Zm-_",
                           "Zm8\xff", "Zm=8", "Zm9v====", "Zm9v="}) {
    EXPECT_FALSE(unbase64(text)) << text;
  }
}

TEST(Bytes, UnsignedNumbers) {
  const std::pair<const char*, uint64_t> good[] = {
      {"0", 0}, {"007", 7}, {"18446744073709551615", UINT64_MAX}};
  for (const auto& [text, value] : good) EXPECT_EQ(parse_uint(text), value) << text;
  for (const char* text :
       {"", "-1", "+1", "-0", " 1", "1 ", "1x", "0x1", "1.0", "18446744073709551616", "\xd9\xa1"}) {
    EXPECT_FALSE(parse_uint(text)) << text;
  }
  std::string out = "n";
  append_uint(out, 0);
  append_uint(out, UINT64_MAX);
  EXPECT_EQ(out, "n018446744073709551615");
}

TEST(Bytes, SignedNumbers) {
  const std::pair<const char*, int64_t> good[] = {{"0", 0},
                                                  {"-0", 0},
                                                  {"-1", -1},
                                                  {"9223372036854775807", INT64_MAX},
                                                  {"-9223372036854775808", INT64_MIN}};
  for (const auto& [text, value] : good) EXPECT_EQ(parse_int(text), value) << text;
  for (const char* text :
       {"", "-", "+1", "--1", "1-", " 1", "9223372036854775808", "-9223372036854775809"}) {
    EXPECT_FALSE(parse_int(text)) << text;
  }
}

TEST(Bytes, AsciiCase) {
  EXPECT_EQ(ascii_lower("AZaz09[`@\xc4"), "azaz09[`@\xc4");
  EXPECT_TRUE(equals_ignoring_case("", ""));
  EXPECT_TRUE(equals_ignoring_case("aZ-09", "Az-09"));
  EXPECT_FALSE(equals_ignoring_case("a", "ab"));
  EXPECT_FALSE(equals_ignoring_case("@", "`"));
  EXPECT_FALSE(equals_ignoring_case("[", "{"));
  EXPECT_FALSE(equals_ignoring_case("\xc4", "\xe4"));
}

TEST(Bytes, TrimsSpacesAndTabs) {
  const std::pair<const char*, const char*> cases[] = {
      {"", ""}, {" \t ", ""}, {"a", "a"}, {"\t a b \t", "a b"}, {"\na\n", "\na\n"}};
  for (const auto& [text, trimmed] : cases) EXPECT_EQ(trim(text), trimmed);
}

TEST(Bytes, ListsSplitAtCommas) {
  using Words = std::vector<std::string_view>;
  const std::pair<const char*, Words> cases[] = {{"", {}},
                                                 {" , ,", {}},
                                                 {"a", {"a"}},
                                                 {"a, b c ,\td", {"a", "b c", "d"}},
                                                 {",a,,b,", {"a", "b"}}};
  for (const auto& [text, words] : cases) EXPECT_EQ(split_list(text), words) << text;
}

TEST(Bytes, ConstantTimeComparisonSeesEveryBit) {
  const std::string secret = "0123456789abcdef";
  EXPECT_TRUE(equals_constant_time("", ""));
  EXPECT_TRUE(equals_constant_time(secret, std::string(secret)));
  EXPECT_FALSE(equals_constant_time(secret, secret.substr(1)));
  EXPECT_FALSE(equals_constant_time(secret, secret + "0"));
  EXPECT_FALSE(equals_constant_time("", "0"));
  for (size_t bit = 0; bit < secret.size() * 8; ++bit) {
    std::string other = secret;
    other[bit / 8] = static_cast<char>(other[bit / 8] ^ (1 << bit % 8));
    EXPECT_FALSE(equals_constant_time(secret, other)) << bit;
  }
}

TEST(Bytes, Utf8) {
  for (const char* text :
       {"", "ascii", "\xc2\x80", "\xdf\xbf", "\xe0\xa0\x80", "\xed\x9f\xbf", "\xee\x80\x80",
        "\xef\xbf\xbf", "\xf0\x90\x80\x80", "\xf4\x8f\xbf\xbf"}) {
    EXPECT_TRUE(is_valid_utf8(text)) << hex(text);
  }
  const char* bad[] = {
      "\x80",              // continuation alone
      "\xc2",              // cut short
      "\xe2\x82",          // cut short
      "\xf0\x90\x80",      // cut short
      "\xc0\x80",          // overlong
      "\xc1\xbf",          // overlong
      "\xe0\x9f\xbf",      // overlong
      "\xf0\x8f\xbf\xbf",  // overlong
      "\xed\xa0\x80",      // surrogate
      "\xed\xbf\xbf",      // surrogate
      "\xf4\x90\x80\x80",  // past the last code point
      "\xf5\x80\x80\x80",
      "\xff",
      "\xc2 ",
      "\xe2\x82 ",
      "a\xe2\x28\xa1",
  };
  for (const char* text : bad) EXPECT_FALSE(is_valid_utf8(text)) << hex(text);
}

TEST(Utf8, LengthInUtf16) {
  EXPECT_EQ(utf16_length(""), 0U);
  EXPECT_EQ(utf16_length("abc"), 3U);
  EXPECT_EQ(utf16_length("\xc3\xa9\xe2\x82\xac"), 2U);
  EXPECT_EQ(utf16_length("\xf0\x9f\x98\x80"), 2U);
  // Wherever a character stands among others.
  for (size_t before = 0; before < 20; ++before) {
    const std::string text = std::string(before, 'a') + "\xf0\x9f\x98\x80" + std::string(20, 'b');
    EXPECT_EQ(utf16_length(text), before + 22);
    EXPECT_TRUE(is_valid_utf8(text));
    EXPECT_FALSE(is_valid_utf8(text.substr(0, before + 2)));
    EXPECT_FALSE(is_valid_utf8(std::string(before, 'a') + "\xff" + std::string(20, 'b')));
  }
}

}  // namespace
}  // namespace kyanite
