// Headers that are stored and listed later: one bad value must not spoil a listing.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/bytes.h"
#include "blob/test_support.h"
#include "wire/xml.h"

namespace kyanite::blob {
namespace {

using Request = TestService::Request;

constexpr const char* kRefused = "400 InvalidHeaderValue";
constexpr const char* kLatin = "caf\xe9";

class ShownHeaders : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(blobs.make_container("box").outcome(), "201");
    ASSERT_EQ(blobs.send(TestService::put("box/old")).outcome(), "201");
  }
  std::string outcome(Request request, const char* header, const std::string& value) {
    request.headers.emplace_back(header, value);
    return blobs.send(std::move(request)).outcome();
  }
  std::string listing() {
    return blobs.send({"GET", "box", "restype=container&comp=list&include=metadata,copy"}).body;
  }

  TestService blobs;
};

// What the properties of a blob can be set by.
std::vector<Request> setters() {
  return {TestService::put("box/new"),
          {"PUT", "box/append", {}, {{"x-ms-blob-type", "AppendBlob"}}},
          {"PUT",
           "box/page",
           {},
           {{"x-ms-blob-type", "PageBlob"}, {"x-ms-blob-content-length", "512"}}},
          {"PUT", "box/list", "comp=blocklist", {}, "<BlockList></BlockList>"},
          {"PUT", "box/old", "comp=properties"}};
}

TEST_F(ShownHeaders, PropertiesAreReadableOrRefused) {
  const struct {
    std::string value;
    bool readable;
  } values[] = {
      {"plain", true},         {"\xe2\x82\xac \xf0\x9f\x98\x80", true},
      {"a & <b> \"c\"", true}, {kLatin, false},
      {"\xff", false},         {"\xe2\x82", false},
      {"\xed\xa0\x80", false}, {"\xef\xbf\xbf", false},
  };
  for (const char* header :
       {"x-ms-blob-content-type", "x-ms-blob-content-encoding", "x-ms-blob-content-language",
        "x-ms-blob-content-disposition", "x-ms-blob-cache-control"}) {
    for (const auto& [value, readable] : values) {
      for (const Request& request : setters()) {
        const std::string outcome = this->outcome(request, header, value);
        EXPECT_EQ(outcome == kRefused, !readable)
            << request.path << " " << header << " " << hex(value) << ": " << outcome;
        EXPECT_TRUE(wire::xml_can_hold(listing())) << request.path << " " << header;
      }
    }
  }
}

TEST_F(ShownHeaders, StandardHeadersOfPutBlobAsWell) {
  for (const char* header :
       {"Content-Type", "Content-Encoding", "Content-Language", "Cache-Control"}) {
    for (size_t put = 0; put < 3; ++put)
      EXPECT_EQ(outcome(setters()[put], header, kLatin), kRefused) << header;
    // Nowhere else are they stored.
    EXPECT_EQ(outcome(setters()[3], header, kLatin), "201") << header;
  }
  EXPECT_TRUE(wire::xml_can_hold(listing()));
}

TEST_F(ShownHeaders, RefusalsNameTheHeader) {
  Request request = TestService::put("box/new");
  request.headers.emplace_back("x-ms-blob-cache-control", kLatin);
  const auto answer = blobs.send(request);
  using Details = decltype(answer.details);
  EXPECT_EQ(answer.details,
            (Details{{"HeaderName", "x-ms-blob-cache-control"}, {"HeaderValue", kLatin}}));
}

TEST_F(ShownHeaders, SourcesOfCopies) {
  const std::string url = "http://127.0.0.1:10000/account/box/";
  const Request copy{"PUT", "box/copy"};
  EXPECT_EQ(outcome(copy, "x-ms-copy-source", url + kLatin), kRefused);
  EXPECT_EQ(outcome(copy, "x-ms-copy-source", url + "old?x=\xff"), kRefused);
  EXPECT_EQ(outcome(copy, "x-ms-copy-source", url + "old?x=\xe2\x82\xac"), "202");
  const std::string listed = listing();
  EXPECT_TRUE(wire::xml_can_hold(listed));
  EXPECT_NE(listed.find("old?x=\xe2\x82\xac</CopySource>"), std::string::npos);
}

}  // namespace
}  // namespace kyanite::blob
