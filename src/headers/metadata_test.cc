#include "headers/metadata.h"

#include <gtest/gtest.h>

namespace kyanite::headers {
namespace {

using wire::Code;

TEST(Metadata, TakesHeadersWithThePrefixInAnyCaseAndKeepsNames) {
  http::Headers headers;
  headers.add("x-ms-version", "2019-12-12");
  headers.add("X-MS-Meta-Name", "Value");
  headers.add("x-ms-meta-_other1", "");
  headers.add("x-ms-meta", "no prefix");
  headers.add("x-ms-meta-utf8", "\xe2\x82\xac");
  const auto metadata = decode_metadata(headers);
  ASSERT_TRUE(metadata.ok());
  EXPECT_EQ(*metadata, (Metadata{{"Name", "Value"}, {"_other1", ""}, {"utf8", "\xe2\x82\xac"}}));
}

TEST(Metadata, ErrorsOfEmptyNamesTellTheValue) {
  http::Headers headers;
  headers.add("x-ms-meta-", "v");
  const auto metadata = decode_metadata(headers);
  ASSERT_FALSE(metadata.ok());
  ASSERT_EQ(metadata.error().details.size(), 1U);
  EXPECT_EQ(metadata.error().details.front().first, "MetadataValue");
  EXPECT_EQ(metadata.error().details.front().second, "v");
}

TEST(Metadata, RefusesNamesAndValuesThatCannotBe) {
  struct Case {
    const char* name;
    const char* value;
    Code code;
  };
  const Case cases[] = {
      {"x-ms-meta-", "v", Code::kEmptyMetadataKey},
      {"x-ms-meta-1abc", "v", Code::kInvalidMetadata},
      {"x-ms-meta-a-b", "v", Code::kInvalidMetadata},
      {"x-ms-meta-a.b", "v", Code::kInvalidMetadata},
      {"x-ms-meta-a b", "v", Code::kInvalidMetadata},
      {"x-ms-meta-a", "\x01", Code::kInvalidMetadata},
      {"x-ms-meta-a", "latin \xe9", Code::kInvalidMetadata},
      {"x-ms-meta-a", "\xef\xbf\xbf", Code::kInvalidMetadata},
  };
  for (const auto& c : cases) {
    http::Headers headers;
    headers.add(c.name, c.value);
    const auto metadata = decode_metadata(headers);
    ASSERT_FALSE(metadata.ok()) << c.name;
    EXPECT_EQ(metadata.error().code, c.code) << c.name;
    EXPECT_EQ(metadata.error().status, 400) << c.name;
  }
}

TEST(Metadata, RefusesNamesThatDifferInCaseAlone) {
  http::Headers headers;
  headers.add("x-ms-meta-name", "1");
  headers.add("x-ms-meta-NAME", "2");
  const auto metadata = decode_metadata(headers);
  ASSERT_FALSE(metadata.ok());
  EXPECT_EQ(metadata.error().code, Code::kInvalidMetadata);
}

TEST(Metadata, LimitsNamesAndValuesTogether) {
  const std::string largest(kMaxMetadataBytes - 3, 'v');
  const std::string too_large(kMaxMetadataBytes - 2, 'v');
  http::Headers headers;
  headers.add("x-ms-meta-a", "");
  headers.add("x-ms-meta-bc", largest);
  EXPECT_TRUE(decode_metadata(headers).ok());
  headers.set("x-ms-meta-bc", too_large);
  const auto metadata = decode_metadata(headers);
  ASSERT_FALSE(metadata.ok());
  EXPECT_EQ(metadata.error().code, Code::kMetadataTooLarge);
}

TEST(Metadata, IsWrittenAsHeadersAndAsXml) {
  const Metadata metadata = {{"One", "a & b"}, {"two", ""}};
  http::Reply reply;
  encode_metadata(reply, metadata);
  EXPECT_EQ(reply.head, "x-ms-meta-One: a & b\r\nx-ms-meta-two: \r\n");
  wire::XmlWriter xml;
  write_metadata(xml, metadata);
  EXPECT_NE(xml.take().find("<Metadata><One>a &amp; b</One><two /></Metadata>"), std::string::npos);
}

}  // namespace
}  // namespace kyanite::headers
