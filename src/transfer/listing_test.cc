#include "transfer/listing.h"

#include <gtest/gtest.h>

#include "service/test_support.h"

namespace kyanite::transfer {
namespace {

using wire::Code;

TEST(Listing, MarkersCarryAnyBytes) {
  service::TestContext around;
  std::string every_byte;
  for (int i = 0; i < 256; ++i) every_byte.push_back(static_cast<char>(i));
  const std::string names[] = {"a",
                               "ab",
                               "abc",
                               "\xff\xfe\xfd",
                               std::string("a\0b", 3),
                               every_byte,
                               "name with / + = - _ . & %"};
  for (const auto& name : names) {
    const std::string marker = write_marker(name);
    // Safe in a URL without encoding, and in XML without escapes.
    EXPECT_EQ(wire::percent_encode(marker, "!"), marker);
    const std::string query = "marker=" + marker;
    service::TestCall test(around, query);
    const auto page = decode_page(test.call);
    ASSERT_TRUE(page.ok()) << marker;
    EXPECT_EQ(page->start, name);
    EXPECT_EQ(page->marker_text, marker);
  }
}

TEST(Listing, RefusesMarkersItDidNotWrite) {
  service::TestContext around;
  for (const char* query : {"marker=abc", "marker=1!abc", "marker=1!a*c-", "marker=2!YQ--",
                            "marker=1!Y Q-", "marker=1"}) {
    service::TestCall test(around, query);
    const auto page = decode_page(test.call);
    ASSERT_FALSE(page.ok()) << query;
    EXPECT_EQ(page.error().code, Code::kInvalidQueryParameterValue) << query;
    EXPECT_EQ(page.error().status, 400) << query;
  }
}

TEST(Listing, TheSizeOfAPage) {
  service::TestContext around;
  struct Case {
    const char* query;
    uint64_t most;
  };
  const Case cases[] = {{"", 5000},
                        {"maxresults=", 5000},
                        {"maxresults=1", 1},
                        {"maxresults=4999", 4999},
                        {"maxresults=5000", 5000},
                        {"maxresults=5001", 5000},
                        {"maxresults=2147483648", 5000}};
  for (const auto& [query, most] : cases) {
    service::TestCall test(around, query);
    const auto page = decode_page(test.call);
    ASSERT_TRUE(page.ok()) << query;
    EXPECT_EQ(page->most, most) << query;
  }
}

TEST(Listing, RefusesPagesOfNoSize) {
  service::TestContext around;
  const std::pair<const char*, Code> cases[] = {
      {"maxresults=0", Code::kOutOfRangeQueryParameterValue},
      {"maxresults=-1", Code::kOutOfRangeQueryParameterValue},
      {"maxresults=x", Code::kInvalidQueryParameterValue},
      {"maxresults=1x", Code::kInvalidQueryParameterValue},
      {"maxresults=+1", Code::kInvalidQueryParameterValue},
      {"maxresults=1.0", Code::kInvalidQueryParameterValue},
      {"maxresults=9223372036854775808", Code::kInvalidQueryParameterValue},
  };
  for (const auto& [query, code] : cases) {
    service::TestCall test(around, query);
    const auto page = decode_page(test.call);
    ASSERT_FALSE(page.ok()) << query;
    EXPECT_EQ(page.error().code, code) << query;
  }
}

TEST(Listing, EchoesWhatWasSent) {
  service::TestContext around;
  struct Case {
    const char* query;
    const char* written;
  };
  const Case cases[] = {
      {"", ""},
      {"prefix=&marker=&maxresults=", ""},
      {"prefix=a%26b", "<Prefix>a&amp;b</Prefix>"},
      {"maxresults=6000&prefix=p", "<Prefix>p</Prefix><MaxResults>6000</MaxResults>"},
      {"marker=1!YQ--", "<Marker>1!YQ--</Marker>"},
  };
  for (const auto& [query, written] : cases) {
    service::TestCall test(around, query);
    const auto page = decode_page(test.call);
    ASSERT_TRUE(page.ok()) << query;
    wire::XmlWriter xml;
    const std::string head = wire::XmlWriter().take();
    write_page(xml, *page);
    EXPECT_EQ(xml.take(), head + written) << query;
  }
}

TEST(Listing, EncodesWhatXmlCannotHold) {
  service::TestContext around;
  const std::pair<const char*, const char*> cases[] = {
      {"prefix=a%26b", "<Prefix>a&amp;b</Prefix>"},
      {"prefix=a%EF%BF%BEb", "<Prefix Encoded=\"true\">a%EF%BF%BEb</Prefix>"},
      {"prefix=", ""},
  };
  for (const auto& [query, written] : cases) {
    service::TestCall test(around, query);
    wire::XmlWriter xml;
    const std::string head = wire::XmlWriter().take();
    write_page(xml, *decode_page(test.call), true);
    EXPECT_EQ(xml.take(), head + written) << query;
  }
}

TEST(Listing, IncludesKnownWordsOnly) {
  service::TestContext around;
  using Words = std::set<std::string, std::less<>>;
  const std::pair<const char*, Words> cases[] = {
      {"", {}},
      {"include=", {}},
      {"include=metadata", {"metadata"}},
      {"include=MetaData,%20tags", {"metadata", "tags"}},
      {"include=,tags,,tags,", {"tags"}},
  };
  for (const auto& [query, words] : cases) {
    service::TestCall test(around, query);
    const auto include = decode_include(test.call, {"metadata", "tags"});
    ASSERT_TRUE(include.ok()) << query;
    EXPECT_EQ(*include, words) << query;
  }
  for (const char* query : {"include=other", "include=metadata,other", "include=meta"}) {
    service::TestCall test(around, query);
    const auto include = decode_include(test.call, {"metadata", "tags"});
    ASSERT_FALSE(include.ok()) << query;
    EXPECT_EQ(include.error().code, Code::kInvalidQueryParameterValue) << query;
  }
}

}  // namespace
}  // namespace kyanite::transfer
