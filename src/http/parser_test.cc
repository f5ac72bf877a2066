#include "http/parser.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

namespace kyanite::http {
namespace {

using State = HeadParser::State;

// One request head, and how it must be understood.
struct Good {
  std::string bytes;
  std::string method;
  std::string target;
  Framing framing = Framing::kNone;
  uint64_t content_length = 0;
  bool keep_alive = true;
  bool expect_continue = false;
  bool http_1_0 = false;
};

const std::string kGet = "GET / HTTP/1.1\r\nHost: h\r\n";
const std::string kPut = "PUT /b HTTP/1.1\r\nHost: h\r\n";

std::vector<Good> good_heads() {
  return {
      {kGet + "\r\n", "GET", "/"},
      {"\r\n\r\n" + kGet + "\r\n", "GET", "/"},
      {"HEAD /a/b?c=d&e HTTP/1.1\r\nHost:h:1\r\n\r\n", "HEAD", "/a/b?c=d&e"},
      {"OPTIONS * HTTP/1.1\r\nHost: h\r\n\r\n", "OPTIONS", "*"},
      {"x-odd!method / HTTP/1.1\r\nHost:\r\n\r\n", "x-odd!method", "/"},
      {"GET http://other:81/p?q HTTP/1.1\r\nHost: h\r\n\r\n", "GET", "/p?q"},
      {"GET HTTPS://[::1]:81 HTTP/1.1\r\nHost: h\r\n\r\n", "GET", "/"},
      {"GET /\xc3\xa9 HTTP/1.1\r\nHost: h\r\n\r\n", "GET", "/\xc3\xa9"},
      {kPut + "Content-Length: 5\r\n\r\n", "PUT", "/b", Framing::kLength, 5},
      {kPut + "content-length:0\r\n\r\n", "PUT", "/b"},
      {kPut + "Content-Length: 007\r\nContent-Length: 7\r\n\r\n", "PUT", "/b", Framing::kLength, 7},
      {kPut + "Content-Length: 9223372036854775807\r\n\r\n", "PUT", "/b", Framing::kLength,
       9223372036854775807u},
      {kPut + "Transfer-Encoding: Chunked\r\n\r\n", "PUT", "/b", Framing::kChunked},
      {kPut + "Content-Length: 5\r\nExpect: 100-Continue\r\n\r\n", "PUT", "/b", Framing::kLength, 5,
       true, true},
      {kPut + "Expect: 100-continue\r\n\r\n", "PUT",
       "/b"},  // Nothing to send: nothing to wait for.
      {kGet + "Connection: close\r\n\r\n", "GET", "/", Framing::kNone, 0, false},
      {kGet + "Connection: foo , CLOSE\r\n\r\n", "GET", "/", Framing::kNone, 0, false},
      {kGet + "Connection: keep-alive, close\r\n\r\n", "GET", "/", Framing::kNone, 0, false},
      {"GET / HTTP/1.0\r\n\r\n", "GET", "/", Framing::kNone, 0, false, false, true},
      {"GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n", "GET", "/", Framing::kNone, 0, true,
       false, true},
      {"PUT / HTTP/1.0\r\nContent-Length: 1\r\nExpect: 100-continue\r\n\r\n", "PUT", "/",
       Framing::kLength, 1, false, false, true},
  };
}

TEST(HeadParser, UnderstandsGoodHeads) {
  for (const Good& row : good_heads()) {
    SCOPED_TRACE(row.bytes);
    HeadParser parser;
    const std::string bytes = row.bytes + "what follows";
    ASSERT_EQ(parser.parse(bytes), State::kDone) << parser.error().reason;
    const Head& head = parser.head();
    EXPECT_EQ(head.request.method, row.method);
    EXPECT_EQ(head.request.target, row.target);
    EXPECT_EQ(head.framing, row.framing);
    EXPECT_EQ(head.content_length, row.content_length);
    EXPECT_EQ(head.keep_alive, row.keep_alive);
    EXPECT_EQ(head.expect_continue, row.expect_continue);
    EXPECT_EQ(head.http_1_0, row.http_1_0);
    EXPECT_EQ(head.bytes, row.bytes.size());
  }
}

TEST(HeadParser, ReadsHeaders) {
  const std::string bytes =
      "PUT /a?b=c?d HTTP/1.1\r\nHost: first\r\nx-ms-meta-Empty:\r\nX-Ms-Meta-Blank: \t \r\n"
      "x-ms-meta-utf8: \xe2\x82\xac\r\nx-ms-meta-inner: a \t b\t\r\nx-ms-meta-inner: again\r\n\r\n";
  HeadParser parser;
  ASSERT_EQ(parser.parse(bytes), State::kDone);
  const Request& request = parser.head().request;
  EXPECT_EQ(request.path, "/a");
  EXPECT_EQ(request.query, "b=c?d");
  EXPECT_EQ(request.headers.size(), 6u);
  EXPECT_EQ(request.headers.find("HOST"), "first");
  EXPECT_EQ(request.headers.find("x-ms-meta-empty"), "");
  EXPECT_EQ(request.headers.find("x-ms-meta-blank"), "");
  EXPECT_EQ(request.headers.find("x-ms-meta-utf8"), "\xe2\x82\xac");
  EXPECT_EQ(request.headers.find("x-ms-meta-inner"), "a \t b");
  EXPECT_EQ(request.headers.count("x-ms-meta-inner"), 2u);
  EXPECT_EQ(request.headers.find("x-ms-meta"), std::nullopt);
}

TEST(HeadParser, AuthorityOfTheTargetReplacesHost) {
  for (const std::string version : {"1.1\r\nhost: h", "1.0"}) {
    HeadParser parser;
    const std::string bytes = "GET http://other:81/p HTTP/" + version + "\r\n\r\n";
    ASSERT_EQ(parser.parse(bytes), State::kDone);
    EXPECT_EQ(parser.head().request.headers.get("Host"), "other:81");
    EXPECT_EQ(parser.head().request.headers.count("Host"), 1u);
  }
}

struct Bad {
  std::string bytes;
  int status = 400;
};

std::vector<Bad> bad_heads() {
  const std::string nul(1, '\0');
  return {
      // Line ends.
      {"GET / HTTP/1.1\nHost: h\n\n"},
      {"GET / HTTP/1.1\r\nHost: h\n\r\n"},
      {"GET / HTTP/1.1\r\nHost: h\r\n\n"},
      {"\nGET / HTTP/1.1\r\n"},
      {kGet + "a: b\rc: d\r\n\r\n"},
      {kGet + "a: b\r\r\n\r\n"},
      {"GET / HTTP/1.1\r\r\n"},
      // The request line.
      {"\x16\x03\x01"},
      {" GET / HTTP/1.1\r\n"},
      {"GET\r\n"},
      {"GET /\r\n"},
      {"GET  / HTTP/1.1\r\n"},
      {"GET /  HTTP/1.1\r\n"},
      {"GET / a HTTP/1.1\r\n"},
      {"GET\t/ HTTP/1.1\r\n"},
      {"G(T / HTTP/1.1\r\n"},
      {"GET /#f HTTP/1.1\r\n"},
      {"GET /\x7f HTTP/1.1\r\n"},
      {"GET /" + nul + " HTTP/1.1\r\n"},
      {"GET a HTTP/1.1\r\n"},
      {"GET * HTTP/1.1\r\n"},
      {"CONNECT h:443 HTTP/1.1\r\n"},
      {"GET ftp://h/ HTTP/1.1\r\n"},
      {"GET http HTTP/1.1\r\n"},
      {"GET http:/h HTTP/1.1\r\n"},
      {"GET http:// HTTP/1.1\r\n"},
      {"GET http:///p HTTP/1.1\r\n"},
      {"GET http://u@h/p HTTP/1.1\r\n"},
      {"GET http://h?q HTTP/1.1\r\n"},
      {"GET / http/1.1\r\n"},
      {"GET / HTTP/1.1 \r\n"},
      {"GET / HTTP/11\r\n"},
      {"GET / HTTP/1.10\r\n"},
      {"GET / HTTP/0.9\r\n", 505},
      {"GET / HTTP/1.2\r\n", 505},
      {"PRI * HTTP/2.0\r\n", 505},
      {std::string(33, 'M') + " / HTTP/1.1\r\n", 501},
      // Header lines.
      {kGet + " folded: x\r\n\r\n"},
      {kGet + "a: b\r\n folded\r\n\r\n"},
      {kGet + "a: b\r\n\tfolded\r\n\r\n"},
      {kGet + "a : b\r\n\r\n"},
      {kGet + ": b\r\n\r\n"},
      {kGet + "nocolon\r\n\r\n"},
      {kGet + "b\xc3\xa9: b\r\n\r\n"},
      {kGet + "a: " + nul + "\r\n\r\n"},
      {kGet + "a: 0123456789abcdef0123456789\x01\r\n\r\n"},
      {kGet + "a: \x7f\r\n\r\n"},
      // Host.
      {"GET / HTTP/1.1\r\n\r\n"},
      {"GET / HTTP/1.1\r\na: b\r\n\r\n"},
      {kGet + "Host: h\r\n\r\n"},
      {"GET / HTTP/1.0\r\nHost: a\r\nHost: a\r\n\r\n"},
      {"GET / HTTP/1.1\r\nHost: a/b\r\n\r\n"},
      {"GET / HTTP/1.1\r\nHost: a b\r\n\r\n"},
      {"GET / HTTP/1.1\r\nHost: u@a\r\n\r\n"},
      // Framing.
      {kPut + "Content-Length:\r\n\r\n"},
      {kPut + "Content-Length: -1\r\n\r\n"},
      {kPut + "Content-Length: +1\r\n\r\n"},
      {kPut + "Content-Length: 1 1\r\n\r\n"},
      {kPut + "Content-Length: 1, 1\r\n\r\n"},
      {kPut + "Content-Length: 0x1\r\n\r\n"},
      {kPut + "Content-Length: 9223372036854775808\r\n\r\n"},
      {kPut + "Content-Length: 99999999999999999999999\r\n\r\n"},
      {kPut + "Content-Length: 1\r\nContent-Length: 2\r\n\r\n"},
      {kPut + "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n"},
      {kPut + "Transfer-Encoding: chunked\r\nContent-Length: 0\r\n\r\n"},
      {kPut + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n"},
      {kPut + "Transfer-Encoding: gzip, chunked\r\n\r\n", 501},
      {kPut + "Transfer-Encoding: chunked, chunked\r\n\r\n", 501},
      {kPut + "Transfer-Encoding: identity\r\n\r\n", 501},
      {kPut + "Transfer-Encoding:\r\n\r\n", 501},
      {kPut + "Transfer-Encoding: \vchunked\r\n\r\n"},
      {"PUT / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n"},
      {kPut + "Content-Length: 1\r\nExpect: 200-ok\r\n\r\n", 417},
  };
}

TEST(HeadParser, RefusesBadHeads) {
  for (const Bad& row : bad_heads()) {
    SCOPED_TRACE(row.bytes);
    HeadParser parser;
    ASSERT_EQ(parser.parse(row.bytes), State::kError);
    EXPECT_EQ(parser.error().status, row.status) << parser.error().reason;
    EXPECT_FALSE(parser.error().reason.empty());
  }
}

// Gives the parser one more byte at a time and stops at the first outcome.
State feed_bytewise(HeadParser& parser, const std::string& bytes) {
  State state = State::kMore;
  for (size_t length = 0; length <= bytes.size() && state == State::kMore; ++length) {
    state = parser.parse(std::string_view(bytes).substr(0, length));
  }
  return state;
}

TEST(HeadParser, SplittingChangesNothing) {
  for (const Good& row : good_heads()) {
    SCOPED_TRACE(row.bytes);
    HeadParser bytewise;
    ASSERT_EQ(feed_bytewise(bytewise, row.bytes), State::kDone);
    EXPECT_EQ(bytewise.head().request.target, row.target);
    EXPECT_EQ(bytewise.head().framing, row.framing);
    for (size_t split = 0; split < row.bytes.size(); ++split) {
      HeadParser parser;
      ASSERT_EQ(parser.parse(std::string_view(row.bytes).substr(0, split)), State::kMore) << split;
      ASSERT_EQ(parser.parse(row.bytes), State::kDone) << split;
      EXPECT_EQ(parser.head().bytes, row.bytes.size());
    }
  }
  for (const Bad& row : bad_heads()) {
    SCOPED_TRACE(row.bytes);
    HeadParser bytewise;
    ASSERT_EQ(feed_bytewise(bytewise, row.bytes), State::kError);
    EXPECT_EQ(bytewise.error().status, row.status);
  }
}

TEST(HeadParser, IsReusedAfterReset) {
  HeadParser parser;
  const std::string first = kPut + "Content-Length: 5\r\nConnection: close\r\n\r\n";
  ASSERT_EQ(parser.parse(first), State::kDone);
  parser.reset();
  const std::string second = kGet + "\r\n";
  ASSERT_EQ(parser.parse(second), State::kDone);
  EXPECT_EQ(parser.head().request.method, "GET");
  EXPECT_EQ(parser.head().request.headers.size(), 1u);
  EXPECT_EQ(parser.head().framing, Framing::kNone);
  EXPECT_TRUE(parser.head().keep_alive);
}

int status_of(const std::string& bytes) {
  HeadParser parser;
  switch (parser.parse(bytes)) {
    case State::kDone:
      return 200;
    case State::kMore:
      return 0;
    case State::kError:
      return parser.error().status;
  }
  return -1;
}

TEST(HeadParser, LimitsAreExact) {
  const auto with_target = [](size_t bytes) {
    return "GET /" + std::string(bytes - 1, 'a') + " HTTP/1.1\r\nHost: h\r\n\r\n";
  };
  EXPECT_EQ(status_of(with_target(kMaxTargetBytes)), 200);
  EXPECT_EQ(status_of(with_target(kMaxTargetBytes + 1)), 414);
  EXPECT_EQ(status_of("GET /" + std::string(kMaxHeadBytes, 'a')), 414);

  const auto with_head = [](size_t bytes) {
    std::string head = kGet + "a: ";
    return head + std::string(bytes - head.size() - 4, 'b') + "\r\n\r\n";
  };
  EXPECT_EQ(status_of(with_head(kMaxHeadBytes)), 200);
  EXPECT_EQ(status_of(with_head(kMaxHeadBytes + 1)), 431);
  EXPECT_EQ(status_of(with_head(kMaxHeadBytes * 2).substr(0, kMaxHeadBytes - 1)), 0);
  EXPECT_EQ(status_of(with_head(kMaxHeadBytes * 2).substr(0, kMaxHeadBytes)), 431);

  const auto with_lines = [](size_t lines) {
    std::string head = "GET / HTTP/1.1\r\nHost: h\r\n";
    for (size_t i = 1; i < lines; ++i) head += "a: b\r\n";
    return head + "\r\n";
  };
  EXPECT_EQ(status_of(with_lines(kMaxHeaderLines)), 200);
  EXPECT_EQ(status_of(with_lines(kMaxHeaderLines + 1)), 431);
}

}  // namespace
}  // namespace kyanite::http
