#include "http/chunked.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace kyanite::http {
namespace {

using State = ChunkedDecoder::State;

struct Decoded {
  std::string data;
  State state = State::kFraming;
  size_t used = 0;

  bool operator==(const Decoded&) const = default;
};

// Decodes `bytes`, received in pieces of at most `step`.
Decoded decode(std::string_view bytes, size_t step) {
  ChunkedDecoder decoder;
  Decoded out;
  while (out.used < bytes.size()) {
    const std::string_view piece = bytes.substr(out.used, step);
    if (decoder.state() == State::kData) {
      const auto count = static_cast<size_t>(std::min<uint64_t>(piece.size(), decoder.data_left()));
      out.data.append(piece.substr(0, count));
      decoder.pass_data(count);
      out.used += count;
    } else if (decoder.state() == State::kFraming) {
      out.used += decoder.feed(piece);
    } else {
      break;
    }
  }
  out.state = decoder.state();
  return out;
}

struct Row {
  std::string bytes;
  std::string data;
  State state = State::kDone;
  size_t left_over = 0;
};

TEST(ChunkedDecoder, Table) {
  const std::string digits16(15, '0');
  const std::vector<Row> rows = {
      {"0\r\n\r\n", ""},
      {"0\r\n\r\nGET /", "", State::kDone, 5},
      {"3\r\nabc\r\n0\r\n\r\n", "abc"},
      {"3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n", "abcde"},
      {"A\r\n0123456789\r\n0\r\n\r\n", "0123456789"},
      {"0a\r\n0123456789\r\n000\r\n\r\n", "0123456789"},
      {digits16 + "1\r\nx\r\n0\r\n\r\n", "x"},
      {digits16 + "00001\r\nx\r\n0\r\n\r\n", "x"},
      {"1;a=b;c=\"d e\"\r\nx\r\n0;last\r\n\r\n", "x"},
      {"1 ;a\r\nx\r\n0\r\n\r\n", "x"},
      {"1\r\nx\r\n0\r\na: b\r\nc: d\r\n\r\n", "x"},
      // Not complete yet.
      {"", "", State::kFraming},
      {"3\r\nab", "ab", State::kData},
      {"3\r\nabc", "abc", State::kFraming},
      {"0\r\n", "", State::kFraming},
      {"0\r\n\r", "", State::kFraming},
      // Malformed.
      {"\r\n", "", State::kError},
      {";a\r\n", "", State::kError},
      {" 1\r\nx", "", State::kError},
      {"-1\r\n", "", State::kError},
      {"0x1\r\n", "", State::kError},
      {"g\r\n", "", State::kError},
      {"1\nx", "", State::kError},
      {"1\rx", "", State::kError},
      {"1;a\nx", "", State::kError},
      {"1\r\nxy", "x", State::kError},
      {"1\r\nx\n", "x", State::kError},
      {"1\r\nx\ry", "x", State::kError},
      {"0\r\n\n", "", State::kError},
      {"0\r\n\rx", "", State::kError},
      {"0\r\n folded\r\n\r\n", "", State::kError},
      {"0\r\na: b\n\r\n", "", State::kError},
      {"7fffffffffffffff\r\n", "", State::kData},
      {"8000000000000000\r\n", "", State::kError},
      {"10000000000000000\r\n", "", State::kError},
      {"fffffffffffffffff\r\n", "", State::kError},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.bytes);
    const Decoded whole = decode(row.bytes, row.bytes.size());
    EXPECT_EQ(whole.data, row.data);
    EXPECT_EQ(whole.state, row.state);
    if (row.state == State::kDone) {
      EXPECT_EQ(row.bytes.size() - whole.used, row.left_over);
    }
    for (size_t step = 1; step <= row.bytes.size(); ++step) {
      EXPECT_EQ(decode(row.bytes, step), whole) << step;
    }
  }
}

TEST(ChunkedDecoder, LimitsAreExact) {
  const auto size_line = [](size_t bytes) {
    return "1;" + std::string(bytes - 4, 'e') + "\r\nx\r\n";
  };
  EXPECT_EQ(decode(size_line(kMaxChunkLineBytes), 100).state, State::kFraming);
  EXPECT_EQ(decode(size_line(kMaxChunkLineBytes + 1), 100).state, State::kError);

  const auto trailer = [](size_t bytes) {
    return "0\r\na: " + std::string(bytes - 7, 't') + "\r\n\r\n";
  };
  EXPECT_EQ(decode(trailer(kMaxTrailerBytes), 100).state, State::kDone);
  EXPECT_EQ(decode(trailer(kMaxTrailerBytes + 1), 100).state, State::kError);
}

TEST(ChunkedDecoder, TheExtensionLimitIsForEachChunk) {
  std::string body;
  for (int i = 0; i < 20; ++i) body += "1;" + std::string(500, 'e') + "\r\nx\r\n";
  body += "0\r\n\r\n";
  EXPECT_EQ(decode(body, 4096).state, State::kDone);
}

}  // namespace
}  // namespace kyanite::http
