#include "auth/der.h"

#include "base/check.h"

namespace kyanite::auth::der {

namespace {
constexpr uint8_t kOneByte = 0x81;
constexpr uint8_t kTwoBytes = 0x82;

uint8_t byte_at(std::string_view bytes, size_t at) { return static_cast<uint8_t>(bytes[at]); }

// The length at the beginning of `in`, which moves past it.
std::optional<size_t> take_length(std::string_view& in) {
  if (in.empty()) return std::nullopt;
  const uint8_t first = byte_at(in, 0);
  if (first < 0x80) {
    in.remove_prefix(1);
    return first;
  }
  if (first == kOneByte && in.size() >= 2 && byte_at(in, 1) >= 0x80) {
    const size_t length = byte_at(in, 1);
    in.remove_prefix(2);
    return length;
  }
  if (first == kTwoBytes && in.size() >= 3 && byte_at(in, 1) != 0) {
    const size_t length = size_t{byte_at(in, 1)} << 8 | byte_at(in, 2);
    in.remove_prefix(3);
    return length;
  }
  return std::nullopt;
}
}  // namespace

std::optional<std::string_view> Reader::take(uint8_t tag) {
  if (!next_is(tag)) return std::nullopt;
  std::string_view rest = rest_.substr(1);
  const auto length = take_length(rest);
  if (!length || *length > rest.size()) return std::nullopt;
  rest_ = rest.substr(*length);
  return rest.substr(0, *length);
}

std::optional<std::string_view> Reader::take(std::initializer_list<uint8_t> tags) {
  CHECK(tags.size() > 0);
  const auto* tag = tags.begin();
  auto contents = take(*tag);
  while (contents && ++tag != tags.end()) {
    Reader inner(*contents);
    contents = inner.take(*tag);
    if (!inner.done()) return std::nullopt;
  }
  return contents;
}

std::string value(uint8_t tag, std::string_view contents) {
  CHECK(contents.size() <= kMaxLength);
  std::string out(1, static_cast<char>(tag));
  const size_t length = contents.size();
  if (length >= 0x100) {
    out += static_cast<char>(kTwoBytes);
    out += static_cast<char>(length >> 8);
  } else if (length >= 0x80) {
    out += static_cast<char>(kOneByte);
  }
  out += static_cast<char>(length);
  out += contents;
  return out;
}

}  // namespace kyanite::auth::der
