#include "headers/range.h"

#include <algorithm>

#include "base/bytes.h"

namespace kyanite::headers {

namespace {
std::optional<ByteRange> parse_range(std::string_view text) {
  constexpr std::string_view kUnit = "bytes=";
  // Beyond it no position exists, and lengths could not be told from zero.
  constexpr uint64_t kLastPosition = INT64_MAX;
  if (text.substr(0, kUnit.size()) != kUnit) return {};
  text.remove_prefix(kUnit.size());
  const size_t dash = text.find('-');
  if (dash == std::string_view::npos) return {};
  const auto first = parse_uint(text.substr(0, dash));
  if (!first || *first > kLastPosition) return {};
  ByteRange range{*first, {}};
  const std::string_view end = text.substr(dash + 1);
  if (end.empty()) return range;
  range.last = parse_uint(end);
  if (!range.last || *range.last < range.first || *range.last > kLastPosition) return {};
  return range;
}

wire::Result<std::optional<ByteRange>> decode_strictly(const service::Call& call,
                                                       std::string_view header) {
  const auto text = call.headers().find(header);
  if (!text || text->empty()) return std::optional<ByteRange>();
  auto range = parse_range(*text);
  if (!range) return wire::invalid_header(header, *text);
  return range;
}
}  // namespace

std::optional<ByteRange> decode_read_range(const service::Call& call) {
  const auto text = call.headers().find("x-ms-range");
  return parse_range(text && !text->empty() ? *text : call.headers().get("Range"));
}

wire::Result<std::optional<ByteRange>> decode_range(const service::Call& call) {
  auto range = decode_strictly(call, "x-ms-range");
  if (!range || *range) return range;
  return parse_range(call.headers().get("Range"));
}

wire::Result<std::optional<ByteRange>> decode_source_range(const service::Call& call) {
  return decode_strictly(call, "x-ms-source-range");
}

std::optional<Span> clip(const ByteRange& range, uint64_t length) {
  if (range.first >= length) return {};
  const uint64_t last = std::min(range.last.value_or(length - 1), length - 1);
  return Span{range.first, last - range.first + 1};
}

}  // namespace kyanite::headers
