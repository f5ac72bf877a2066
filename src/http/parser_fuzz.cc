// Heads and chunked bodies from any bytes, received whole and in pieces: the pieces must not
// matter.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "http/chunked.h"
#include "http/parser.h"

namespace kyanite::http {
namespace {

using HeadState = HeadParser::State;
using ChunkState = ChunkedDecoder::State;

// Piece sizes, from the input's own bytes.
class Pieces {
 public:
  explicit Pieces(std::string_view seed) : seed_(seed) {}
  size_t next() {
    if (seed_.empty()) return 7;
    return 1 + static_cast<uint8_t>(seed_[at_++ % seed_.size()]) % 64;
  }

 private:
  std::string_view seed_;
  size_t at_ = 0;
};

void check_view(std::string_view view, std::string_view bytes) {
  const bool inside =
      view.data() >= bytes.data() && view.data() + view.size() <= bytes.data() + bytes.size();
  CHECK(inside || view.empty() || view == "/" || view == "Host");
}

void check_head(const Head& head, std::string_view bytes) {
  CHECK(head.bytes <= bytes.size() && head.bytes <= kMaxHeadBytes);
  CHECK(bytes.substr(0, head.bytes).ends_with("\r\n"));
  CHECK(head.request.target.size() <= kMaxTargetBytes);
  CHECK(head.request.headers.size() <= kMaxHeaderLines + 1);
  CHECK((head.framing == Framing::kLength) == (head.content_length > 0));
  check_view(head.request.method, bytes);
  check_view(head.request.target, bytes);
  for (const Header& line : head.request.headers) {
    check_view(line.name, bytes);
    check_view(line.value, bytes);
    CHECK(line.value.find_first_of(std::string_view("\r\n\0", 3)) == std::string_view::npos);
  }
}

void check_same(const Head& a, const Head& b) {
  CHECK(a.bytes == b.bytes && a.framing == b.framing && a.content_length == b.content_length);
  CHECK(a.keep_alive == b.keep_alive && a.expect_continue == b.expect_continue);
  CHECK(a.request.method == b.request.method && a.request.target == b.request.target);
  CHECK(a.request.headers.size() == b.request.headers.size());
  CHECK(a.request.headers.get("host") == b.request.headers.get("host"));
}

// Returns the length of the head, or 0.
size_t fuzz_head(std::string_view bytes, Pieces pieces) {
  HeadParser whole;
  const HeadState expected = whole.parse(bytes);
  HeadParser split;
  HeadState state = HeadState::kMore;
  for (size_t length = 0; state == HeadState::kMore && length < bytes.size();) {
    length = std::min(bytes.size(), length + pieces.next());
    state = split.parse(bytes.substr(0, length));
  }
  if (bytes.empty()) state = split.parse(bytes);
  CHECK(state == expected);
  if (state == HeadState::kError) {
    CHECK(split.error().status == whole.error().status && split.error().status >= 400);
  }
  if (state != HeadState::kDone) return 0;
  check_head(whole.head(), bytes);
  check_same(whole.head(), split.head());
  return whole.head().bytes;
}

struct Decoded {
  std::string data;
  ChunkState state = ChunkState::kFraming;
  size_t used = 0;
};

template <class Next>
Decoded decode(std::string_view bytes, Next next_piece) {
  ChunkedDecoder decoder;
  Decoded out;
  while (out.used < bytes.size() &&
         (decoder.state() == ChunkState::kFraming || decoder.state() == ChunkState::kData)) {
    const std::string_view piece = bytes.substr(out.used, next_piece());
    if (decoder.state() == ChunkState::kData) {
      CHECK(decoder.data_left() > 0 && decoder.data_left() <= kMaxBodyBytes);
      const auto count = static_cast<size_t>(std::min<uint64_t>(piece.size(), decoder.data_left()));
      out.data.append(piece.substr(0, count));
      decoder.pass_data(count);
      out.used += count;
    } else {
      out.used += decoder.feed(piece);
    }
  }
  out.state = decoder.state();
  return out;
}

void fuzz_chunked(std::string_view bytes, Pieces pieces) {
  const Decoded whole = decode(bytes, [&] { return bytes.size(); });
  const Decoded split = decode(bytes, [&] { return pieces.next(); });
  CHECK(whole.state == split.state && whole.used == split.used && whole.data == split.data);
}

}  // namespace
}  // namespace kyanite::http

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace kyanite::http;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const Pieces pieces(bytes.substr(size / 2));
  const size_t head_bytes = fuzz_head(bytes, pieces);
  fuzz_chunked(bytes.substr(head_bytes), pieces);
  return 0;
}
