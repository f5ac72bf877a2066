#include "wire/readable.h"

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "wire/xml.h"

namespace kyanite::wire {
namespace {

TEST(Readable, ReplacesWhatDocumentsCannotHold) {
  using namespace std::string_view_literals;
  const struct {
    std::string_view text, expected;
  } rows[] = {
      {"", ""},
      {"plain \t\r\n <&>", "plain \t\r\n <&>"},
      {"\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80", "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80"},
      {"a\xff z", "a\xef\xbf\xbd z"},
      {"\xc3", "\xef\xbf\xbd"},
      {"\xe2\x82", "\xef\xbf\xbd\xef\xbf\xbd"},
      {"\x01\0b"sv, "\xef\xbf\xbd\xef\xbf\xbd\x62"},
      {"\xef\xbf\xbe\xef\xbf\xbf", "\xef\xbf\xbd\xef\xbf\xbd"},
      {"\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},  // A half of a surrogate pair.
  };
  for (const auto& [text, expected] : rows) {
    const std::string result = readable(text);
    EXPECT_EQ(result, expected) << hex(text);
    EXPECT_TRUE(xml_can_hold(result));
  }
}

}  // namespace
}  // namespace kyanite::wire
