#include "http/serialize.h"

#include <gtest/gtest.h>

#include <memory>
#include <regex>
#include <string>
#include <vector>

namespace kyanite::http {
namespace {

class NoStream final : public BodyStream {
 public:
  Task<Result<os::Bytes, StreamError>> next() override { co_return os::Bytes(Buffer()); }
};

enum class Body { kNone, kText, kShared, kStream, kCountedStream };

struct Row {
  int status;
  std::string method;
  bool http_1_0;
  Body body;
  std::string framing;  // The header line expected, if any.
  bool sent;            // Whether a body follows.
};

Reply make_reply(const Row& row) {
  Reply reply(row.status);
  if (row.body == Body::kText) reply.body = std::string("text!");
  if (row.body == Body::kShared) reply.body = Reply::Shared{nullptr, "shared"};
  if (row.body == Body::kStream || row.body == Body::kCountedStream) {
    reply.body = std::make_unique<NoStream>();
  }
  if (row.body == Body::kCountedStream) reply.stream_length = 77;
  return reply;
}

std::string serialized(const Reply& reply, const Head& head, bool keep_alive) {
  std::string out;
  append_head(out, reply, plan_body(reply, head), head, keep_alive);
  return out;
}

TEST(Serialize, FramingTable) {
  const std::vector<Row> rows = {
      {200, "GET", false, Body::kNone, "Content-Length: 0", false},
      {200, "GET", false, Body::kText, "Content-Length: 5", true},
      {200, "GET", false, Body::kShared, "Content-Length: 6", true},
      {200, "GET", false, Body::kStream, "Transfer-Encoding: chunked", true},
      {200, "GET", true, Body::kStream, "", true},
      {206, "GET", false, Body::kCountedStream, "Content-Length: 77", true},
      {206, "GET", true, Body::kCountedStream, "Content-Length: 77", true},
      {200, "HEAD", false, Body::kNone, "Content-Length: 0", false},
      {404, "HEAD", false, Body::kText, "Content-Length: 5", false},
      {200, "HEAD", false, Body::kStream, "Transfer-Encoding: chunked", false},
      {200, "HEAD", false, Body::kCountedStream, "Content-Length: 77", false},
      {204, "GET", false, Body::kNone, "", false},
      {204, "GET", false, Body::kText, "", false},
      {304, "GET", false, Body::kNone, "", false},
      {304, "GET", false, Body::kCountedStream, "", false},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(std::to_string(row.status) + row.method + row.framing);
    Head head;
    head.request.method = row.method;
    head.http_1_0 = row.http_1_0;
    const Reply reply = make_reply(row);
    EXPECT_EQ(plan_body(reply, head).send, row.sent);
    const std::string out = serialized(reply, head, true);
    const bool has_length = out.find("Content-Length") != std::string::npos;
    const bool has_encoding = out.find("Transfer-Encoding") != std::string::npos;
    EXPECT_EQ(has_length, row.framing.starts_with("Content-Length"));
    EXPECT_EQ(has_encoding, row.framing.starts_with("Transfer-Encoding"));
    EXPECT_NE(out.find(row.framing + "\r\n"), std::string::npos) << out;
  }
}

TEST(Serialize, AnEmptyReplyToHeadMayAnnounceALength) {
  Head head;
  head.request.method = "HEAD";
  Reply reply(200);
  reply.stream_length = 123;
  EXPECT_NE(serialized(reply, head, true).find("Content-Length: 123\r\n"), std::string::npos);
}

TEST(Serialize, WholeHead) {
  Head head;
  head.request.method = "GET";
  Reply reply(404);
  reply.header("x-ms-version", "2024-11-04").header("x-count", 12);
  const std::regex expected(
      "HTTP/1\\.1 404 Not Found\r\n"
      "Date: (Sun|Mon|Tue|Wed|Thu|Fri|Sat), \\d\\d [A-Z][a-z][a-z] 2\\d\\d\\d \\d\\d:\\d\\d:\\d\\d "
      "GMT\r\n"
      "Server: Kyanite\r\n"
      "Content-Length: 0\r\n"
      "x-ms-version: 2024-11-04\r\n"
      "x-count: 12\r\n"
      "\r\n");
  const std::string out = serialized(reply, head, true);
  EXPECT_TRUE(std::regex_match(out, expected)) << out;
}

TEST(Serialize, ConnectionHeader) {
  const auto connection_line = [](bool http_1_0, bool keep_alive) {
    Head head;
    head.http_1_0 = http_1_0;
    const std::string out = serialized(Reply(200), head, keep_alive);
    const size_t at = out.find("Connection: ");
    return at == std::string::npos ? "" : out.substr(at, out.find("\r\n", at) - at);
  };
  EXPECT_EQ(connection_line(false, true), "");
  EXPECT_EQ(connection_line(false, false), "Connection: close");
  EXPECT_EQ(connection_line(true, true), "Connection: keep-alive");
  EXPECT_EQ(connection_line(true, false), "Connection: close");
}

TEST(Serialize, DatesAndReasons) {
  EXPECT_EQ(format_date(784111777), "Sun, 06 Nov 1994 08:49:37 GMT");
  EXPECT_EQ(format_date(951827696), "Tue, 29 Feb 2000 12:34:56 GMT");
  EXPECT_EQ(reason_phrase(412), "Precondition Failed");
  EXPECT_EQ(reason_phrase(299), "Unknown");
}

// Whatever a message says, it stays within the status line.
TEST(Serialize, AReasonOfItsOwn) {
  const std::vector<std::pair<std::string, std::string>> rows = {
      {"", "HTTP/1.1 404 Not Found"},
      {"No such thing.", "HTTP/1.1 404 No such thing."},
      {"First line.\nRequestId:1", "HTTP/1.1 404 First line."},
      {"First line.\r\nX-Other: 1", "HTTP/1.1 404 First line."},
      {"\nX-Other: 1", "HTTP/1.1 404 Not Found"},
      {"tab\there, \xC3\xA9, \x01", "HTTP/1.1 404 tab?here, ??, ?"},
      {std::string(1000, 'x'), "HTTP/1.1 404 " + std::string(Reply::kMaxReasonBytes, 'x')},
  };
  for (const auto& [text, line] : rows) {
    Reply reply(404);
    reply.because(text);
    const std::string out = serialized(reply, Head(), true);
    EXPECT_EQ(out.substr(0, out.find("\r\n")), line);
    EXPECT_EQ(out.find("X-Other"), std::string::npos);
  }
}

TEST(Serialize, Refusal) {
  const std::string out = refusal({431, "too long"});
  EXPECT_TRUE(out.starts_with("HTTP/1.1 431 Request Header Fields Too Large\r\n"));
  EXPECT_NE(out.find("Connection: close\r\n"), std::string::npos);
  EXPECT_NE(out.find("Content-Length: 9\r\n"), std::string::npos);
  EXPECT_TRUE(out.ends_with("\r\n\r\ntoo long\n"));
}

TEST(Serialize, ChunkLines) {
  std::string out;
  append_chunk_line(out, 255);
  append_chunk_line(out, 0x40000);
  EXPECT_EQ(out, "ff\r\n40000\r\n");
}

TEST(Reply, AHeaderValueCannotBeginALine) {
  Reply reply;
  reply.header("a", "b\r\nSet-Cookie: c").header("d", "\xc3\xa9\t\x01").header("e", "");
  EXPECT_EQ(reply.head, "a: b  Set-Cookie: c\r\nd: \xc3\xa9\t \r\ne: \r\n");
  EXPECT_FALSE(reply.has_header("Set-Cookie"));
  EXPECT_TRUE(reply.has_header("D"));
}

}  // namespace
}  // namespace kyanite::http
