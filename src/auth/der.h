// The little of DER (X.690) that SPNEGO needs: values one after the other, each with a tag of one
// byte and a definite length in its shortest form. Does not call itself, so that the nesting it
// reads is the nesting its callers spell out.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

namespace kyanite::auth::der {

inline constexpr uint8_t kOctets = 0x04;
inline constexpr uint8_t kIdentifier = 0x06;
inline constexpr uint8_t kEnumerated = 0x0a;
inline constexpr uint8_t kSequence = 0x30;
inline constexpr uint8_t kApplication0 = 0x60;
// The explicit tag [number] of a part of a sequence.
constexpr uint8_t part(int number) { return static_cast<uint8_t>(0xa0 + number); }

inline constexpr size_t kMaxLength = 0xffff;

class Reader {
 public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}

  bool done() const { return rest_.empty(); }
  bool next_is(uint8_t tag) const {
    return !rest_.empty() && static_cast<uint8_t>(rest_.front()) == tag;
  }
  // The contents of the next value, which must have this tag; nothing, and the reader is where it
  // was, if it has not, or its length is not well-formed or more than there is.
  std::optional<std::string_view> take(uint8_t tag);
  // The same for a value in a value in ..., of which each holds nothing but the next.
  std::optional<std::string_view> take(std::initializer_list<uint8_t> tags);

 private:
  std::string_view rest_;
};

// A value that holds `contents`, which have at most kMaxLength bytes.
std::string value(uint8_t tag, std::string_view contents);

}  // namespace kyanite::auth::der
