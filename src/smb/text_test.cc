#include "smb/text.h"

#include <gtest/gtest.h>

#include "base/bytes.h"

namespace kyanite::smb {
namespace {

std::string utf16_of(std::string_view utf8) {
  std::string out;
  append_utf16(out, utf8);
  return out;
}

TEST(Text, GoesThereAndBack) {
  struct Row {
    std::string_view utf8;
    std::string_view utf16;
  };
  for (const Row& row : {
           Row{"", ""},
           Row{"a\\b", "61005c006200"},
           Row{"\xC3\xA9", "e900"},
           Row{"\xE2\x82\xAC", "ac20"},
           Row{"\xF0\x9F\x98\x80", "3dd800de"},
           Row{"\xF4\x8F\xBF\xBF", "ffdbffdf"},
           Row{"\xEF\xBF\xBF", "ffff"},
           Row{"\x7F\xC2\x80\xDF\xBF\xE0\xA0\x80", "7f008000ff070008"},
       }) {
    EXPECT_EQ(hex(utf16_of(row.utf8)), row.utf16);
    EXPECT_EQ(utf8_of(*unhex(row.utf16)), row.utf8);
  }
}

TEST(Text, WithoutAUtf8FormIsRefused) {
  for (const std::string_view bad : {
           "61",            // Half a unit.
           "6100000062",    // Another half.
           "0000",          // NUL,
           "610000006200",  // also inside.
           "00d8",          // A high surrogate at the end,
           "00d86100",      // before something else,
           "00d800d8",      // before another.
           "00dc",          // A low one alone.
           "3dd800de00dc",
       }) {
    EXPECT_EQ(utf8_of(*unhex(bad)), std::nullopt) << bad;
  }
}

TEST(Text, HasALimit) {
  EXPECT_TRUE(utf8_of(utf16_of(std::string(kMaxTextUnits, 'x'))));
  EXPECT_FALSE(utf8_of(utf16_of(std::string(kMaxTextUnits + 1, 'x'))));
}

TEST(Text, ThatIsNotUtf8IsReplaced) {
  for (const std::string_view bad :
       {"\x80", "\xFF", "\xC3", "\xC0\x80", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xE2\x82"}) {
    const std::string out = utf16_of(bad);
    EXPECT_EQ(out.size(), 2 * bad.size());
    EXPECT_EQ(hex(out).substr(0, 4), "fdff");
  }
}

}  // namespace
}  // namespace kyanite::smb
