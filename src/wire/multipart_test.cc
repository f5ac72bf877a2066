#include "wire/multipart.h"

#include <gtest/gtest.h>

#include "http/limits.h"

namespace kyanite::wire {
namespace {

TEST(Multipart, BoundaryOfContentTypes) {
  struct Case {
    std::string_view content_type;
    std::optional<std::string_view> boundary;
  };
  const std::string longest(70, 'b');
  const std::string with_longest = "multipart/mixed; boundary=" + longest;
  const std::string with_too_long = with_longest + "b";
  for (const Case& c :
       std::initializer_list<Case>{{"multipart/mixed; boundary=batch_1", "batch_1"},
                                   {"Multipart/Mixed;charset=utf-8;Boundary=\"a b\" ; x=y", "a b"},
                                   {with_longest, longest},
                                   {with_too_long, {}},
                                   {"multipart/mixed", {}},
                                   {"multipart/mixed; boundary=", {}},
                                   {"multipart/mixed; boundary=\"\"", {}},
                                   {"multipart/form-data; boundary=a", {}},
                                   {"", {}}}) {
    EXPECT_EQ(multipart_boundary(c.content_type), c.boundary) << c.content_type;
  }
}

TEST(Multipart, PartsWithEitherLineEnd) {
  for (const std::string& end : {std::string("\r\n"), std::string("\n")}) {
    std::string body;
    for (const char* line : {"preamble", "--b", "A: 1", "b : two ", "", "x", "", "--bc", "--b", "",
                             "second", "--b--", "epilogue"}) {
      body += line + end;
    }
    const auto parts = parse_multipart(body, "b", 2);
    ASSERT_TRUE(parts);
    ASSERT_EQ(parts->size(), 2U);
    EXPECT_EQ((*parts)[0].headers.get("a"), "1");
    EXPECT_EQ((*parts)[0].headers.get("B"), "two");
    EXPECT_EQ((*parts)[0].content, "x" + end + end + "--bc");
    EXPECT_EQ((*parts)[1].content, "second");
    EXPECT_FALSE(parse_multipart(body, "b", 1)) << "one part more than allowed";
  }
}

TEST(Multipart, MalformedBodies) {
  for (const std::string_view body :
       {"", "--b\r\n", "--b\r\n\r\nx", "--b--", "x", "--c\r\n--c--",
        "--b\r\nno colon\r\n\r\nx\r\n--b--", "--b\r\n: empty name\r\n\r\nx\r\n--b--"}) {
    EXPECT_FALSE(parse_multipart(body, "b", 10)) << body;
  }
}

TEST(Multipart, EmbeddedRequests) {
  const auto request = parse_embedded_request(
      "\r\nPATCH http://h/T(PartitionKey='a b',RowKey='c') HTTP/1.1\r\nIf-Match: *\r\n\r\n{}\r\n");
  ASSERT_TRUE(request);
  EXPECT_EQ(request->method, "PATCH");
  EXPECT_EQ(request->url, "http://h/T(PartitionKey='a b',RowKey='c')");
  EXPECT_EQ(request->headers.get("if-match"), "*");
  EXPECT_EQ(request->content, "{}\r\n");
  EXPECT_TRUE(parse_embedded_request("GET /x HTTP/1.1"));
  for (const std::string_view text : {"", "GET", "GET /x", "GET  HTTP/1.1", " /x HTTP/1.1",
                                      "GET /x FTP/1.1", "GET /x HTTP/1.1\nbad"}) {
    EXPECT_FALSE(parse_embedded_request(text)) << text;
  }
}

// What could begin a line of its own where it is echoed, and what is longer than a head may be.
TEST(Multipart, HeadersOfPartsAreHeldToTheRulesOfHeads) {
  const auto parses = [](const std::string& line) {
    const std::string head = "--b\r\n" + line + "\r\n\r\nx\r\n--b--\r\n";
    const std::string inner = "GET /x HTTP/1.1\r\n" + line + "\r\n\r\n";
    const bool accepted = parse_multipart(head, "b", 1).has_value();
    EXPECT_EQ(parse_embedded_request(inner).has_value(), accepted) << line.substr(0, 40);
    return accepted;
  };
  EXPECT_TRUE(parses("Content-ID: 1"));
  EXPECT_TRUE(parses("Content-ID: \xc3\xa4\t1"));
  for (const char* line : {"Content-ID: 1\rX: 2", "Content-ID: \r1", "Content-ID: 1\x01",
                           "Content-ID: 1\x7f", "Content ID: 1", ": 1", "Content-ID\r: 1"}) {
    EXPECT_FALSE(parses(line)) << line;
  }
  const std::string zero("Content-ID: 1\0", 14);
  EXPECT_FALSE(parses(zero));
  const std::string name = "x-ms-meta-a: ";
  const size_t most = http::kMaxHeadBytes - name.size() - 2;
  EXPECT_TRUE(parses(name + std::string(most, 'a')));
  EXPECT_FALSE(parses(name + std::string(most + 1, 'a')));

  const std::string line_end = " HTTP/1.1";
  const size_t longest = http::kMaxTargetBytes - line_end.size() - 5;
  EXPECT_TRUE(parse_embedded_request("GET /" + std::string(longest, 'a') + line_end));
  EXPECT_FALSE(parse_embedded_request("GET /" + std::string(longest + 1, 'a') + line_end));
  EXPECT_FALSE(parse_embedded_request("GET /a\rb HTTP/1.1"));
}

TEST(Multipart, OriginsAreStripped) {
  EXPECT_EQ(strip_origin("https://h:1/a?b"), "/a?b");
  EXPECT_EQ(strip_origin("https://h"), "/");
  EXPECT_EQ(strip_origin("/a?u=http://x/"), "/a?u=http://x/");
  EXPECT_EQ(strip_origin("relative"), "relative");
}

TEST(Multipart, WrittenPartsReadBack) {
  std::string out;
  MultipartWriter outer(out, "batch");
  MultipartWriter inner(out, "set");
  outer.part("multipart/mixed; boundary=" + inner.boundary());
  inner.reply(204, "No Content", "ETag: x\r\n", "");
  inner.reply(201, "Created", "A: b\r\n", "{}", "7");
  inner.close();
  outer.close();
  const auto parts = parse_multipart(out, "batch", 1);
  ASSERT_TRUE(parts);
  const auto boundary = multipart_boundary(parts->front().headers.get("Content-Type"));
  ASSERT_EQ(boundary, "set");
  const auto replies = parse_multipart(parts->front().content, *boundary, 2);
  ASSERT_TRUE(replies);
  EXPECT_EQ(replies->front().content, "HTTP/1.1 204 No Content\r\nETag: x\r\n\r\n");
  EXPECT_EQ(replies->back().headers.get("Content-ID"), "7");
  EXPECT_EQ(replies->back().content, "HTTP/1.1 201 Created\r\nA: b\r\n\r\n{}");
}

}  // namespace
}  // namespace kyanite::wire
