#include "wire/query.h"

#include <gtest/gtest.h>

namespace kyanite::wire {
namespace {

using namespace std::string_literals;

TEST(PercentDecoding, Decodes) {
  const std::pair<const char*, std::string> cases[] = {
      {"", ""},        {"plain", "plain"},   {"a%20b", "a b"},
      {"a+b", "a+b"},  {"%41%6a%6A", "Ajj"}, {"%00", "\0"s},
      {"%25", "%"},    {"%2525", "%25"},     {"%e2%82%ac", "\xe2\x82\xac"},
      {"%FF", "\xff"},
  };
  for (const auto& [text, decoded] : cases) EXPECT_EQ(percent_decode(text), decoded) << text;
}

TEST(PercentDecoding, RefusesBrokenEscapes) {
  for (const char* text : {"%", "%4", "a%", "a%4", "%zz", "%4g", "%g4", "%%41", "% 41", "%-1"})
    EXPECT_FALSE(percent_decode(text)) << text;
}

TEST(PercentEncoding, KeepsUnreservedCharactersAndWhatIsAskedFor) {
  EXPECT_EQ(percent_encode("azAZ09-._~"), "azAZ09-._~");
  EXPECT_EQ(percent_encode("a b/c"), "a%20b%2Fc");
  EXPECT_EQ(percent_encode("a b/c", "/"), "a%20b/c");
  EXPECT_EQ(percent_encode("\xe2\x82\xac"), "%E2%82%AC");
}

TEST(PercentEncoding, EveryByteRoundTrips) {
  std::string bytes;
  for (int i = 0; i < 256; ++i) bytes.push_back(static_cast<char>(i));
  EXPECT_EQ(percent_decode(percent_encode(bytes)), bytes);
}

TEST(Query, FindsTheFirstOfANameIgnoringCase) {
  const auto query = Query::parse("comp=list&Prefix=a%2Fb&prefix=second&empty=&bare&x=a=b");
  ASSERT_TRUE(query);
  EXPECT_EQ(query->get("COMP"), "list");
  EXPECT_EQ(query->get("prefix"), "a/b");
  EXPECT_EQ(query->find("empty"), "");
  EXPECT_EQ(query->find("bare"), "");
  EXPECT_FALSE(query->find("absent"));
  EXPECT_EQ(query->get("absent"), "");
  EXPECT_EQ(query->get("x"), "a=b");
  EXPECT_TRUE(query->has("bare"));
}

TEST(Query, ReadsAPlusAsASpaceAndAnEscapedPlusAsOne) {
  const auto query = Query::parse("prefix=a+b%2Bc%20d");
  ASSERT_TRUE(query);
  EXPECT_EQ(query->get("prefix"), "a b+c d");
  EXPECT_EQ(percent_decode("a+b"), "a+b");
}

TEST(Query, KeepsOrderAndSkipsNothingsBetweenAmpersands) {
  const auto query = Query::parse("&&b=2&&a=1&");
  ASSERT_TRUE(query);
  std::string seen;
  for (const auto& [name, value] : *query) seen += name + value;
  EXPECT_EQ(seen, "b2a1");
  EXPECT_TRUE(Query::parse(""));
}

TEST(Query, RefusesBrokenEscapesInNamesAndValues) {
  for (const char* raw : {"a%=1", "a=%4", "ok=1&b=%zz", "%zz"})
    EXPECT_FALSE(Query::parse(raw)) << raw;
}

TEST(Query, LimitsTheNumberOfParameters) {
  std::string raw = "p=0";
  for (size_t i = 1; i < Query::kMaxParameters; ++i) raw += "&p=1";
  EXPECT_TRUE(Query::parse(raw));
  EXPECT_FALSE(Query::parse(raw + "&p=1"));
}

}  // namespace
}  // namespace kyanite::wire
