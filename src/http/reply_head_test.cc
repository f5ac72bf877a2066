#include "http/reply_head.h"

#include <gtest/gtest.h>

#include <string>

namespace kyanite::http {
namespace {

std::string head(std::string_view lines) { return std::string(lines) + "\r\n\r\n"; }

TEST(ReplyHead, FindsItsEnd) {
  EXPECT_FALSE(find_head_end("HTTP/1.1 200 OK\r\n"));
  EXPECT_EQ(find_head_end("HTTP/1.1 200 OK\r\n\r\nbody"), 19u);
}

TEST(ReplyHead, DecidesHowTheBodyEnds) {
  const struct {
    std::string_view lines;
    int status;
    Framing framing;
    uint64_t length;
    bool until_close;
  } cases[] = {
      {"HTTP/1.1 200 OK\r\nContent-Length: 5", 200, Framing::kLength, 5, false},
      {"HTTP/1.1 200 OK\r\nContent-Length: 0", 200, Framing::kNone, 0, false},
      {"HTTP/1.1 206\r\ncontent-length:7", 206, Framing::kLength, 7, false},
      {"HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked", 200, Framing::kChunked, 0, false},
      {"HTTP/1.0 200 OK", 200, Framing::kNone, 0, true},
      {"HTTP/1.1 304 Not Modified\r\nContent-Length: 5", 304, Framing::kNone, 0, false},
      {"HTTP/1.1 204 No Content", 204, Framing::kNone, 0, false},
      {"HTTP/1.1 100 Continue", 100, Framing::kNone, 0, false},
      {"HTTP/1.1 404 Not Found\r\nContent-Length: 9", 404, Framing::kLength, 9, false},
  };
  for (const auto& each : cases) {
    const std::string text = head(each.lines);
    const auto parsed = parse_reply_head(text);
    ASSERT_TRUE(parsed) << each.lines;
    EXPECT_EQ(parsed->status, each.status) << each.lines;
    EXPECT_EQ(parsed->framing, each.framing) << each.lines;
    EXPECT_EQ(parsed->content_length, each.length) << each.lines;
    EXPECT_EQ(parsed->until_close, each.until_close) << each.lines;
  }
}

TEST(ReplyHead, KeepsHeaders) {
  const std::string text =
      head("HTTP/1.1 200 OK\r\nETag: \"a\"\r\nx-ms-meta-a:  b \r\nEmpty:\r\nContent-Length: 1");
  const auto parsed = parse_reply_head(text);
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->headers.get("etag"), "\"a\"");
  EXPECT_EQ(parsed->headers.get("X-Ms-Meta-A"), "b");
  EXPECT_TRUE(parsed->headers.has("Empty"));
}

TEST(ReplyHead, RefusesWhatIsMalformedOrAmbiguous) {
  for (const std::string_view lines :
       {"",
        "HTTP/1.1",
        "HTTP/2 200 OK",
        "HTTP/1.2 200 OK",
        "HTTP/1.1 20 OK",
        "HTTP/1.1 2000 OK",
        "HTTP/1.1 abc OK",
        "HTTP/1.1 099 X",
        "ICY 200 OK",
        "SSH-2.0-OpenSSH_9.2",
        "HTTP/1.1 200 OK\r\nno colon",
        "HTTP/1.1 200 OK\r\n: no name",
        "HTTP/1.1 200 OK\r\nBad Name: x",
        "HTTP/1.1 200 OK\r\nA: x\r\n folded",
        "HTTP/1.1 200 OK\r\nContent-Length: -1",
        "HTTP/1.1 200 OK\r\nContent-Length: 5, 5",
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 5",
        "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 5"}) {
    EXPECT_FALSE(parse_reply_head(head(lines))) << lines;
  }
  EXPECT_FALSE(parse_reply_head("HTTP/1.1 200 OK\r\n"));
  EXPECT_FALSE(parse_reply_head("HTTP/1.1 200 OK\r\n\r\nmore"));
  std::string many = "HTTP/1.1 200 OK\r\nContent-Length: 1";
  for (size_t i = 1; i < kMaxHeaderLines; ++i) many += "\r\nA: b";
  EXPECT_TRUE(parse_reply_head(head(many)));
  EXPECT_FALSE(parse_reply_head(head(many + "\r\nA: b")));
}

}  // namespace
}  // namespace kyanite::http
