// Text of a few dozen characters that lives where it is declared: dates and ETags, of which every
// reply carries some, cost no memory allocation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <ostream>
#include <string>
#include <string_view>

#include "base/check.h"

namespace kyanite {

template <size_t kMost>
class ShortText {
 public:
  ShortText& append(std::string_view text) {
    CHECK(text.size() <= kMost - size_);
    text.copy(text_ + size_, text.size());
    size_ = static_cast<uint8_t>(size_ + text.size());
    return *this;
  }
  // For whoever writes in place: memory for `count` characters behind the text, of which the first
  // `used` become part of it.
  char* extend(size_t count, size_t used) {
    CHECK(used <= count && count <= kMost - size_);
    char* const to = text_ + size_;
    size_ = static_cast<uint8_t>(size_ + used);
    return to;
  }
  ShortText& append(char c) { return append(std::string_view(&c, 1)); }
  // Exactly `count` decimal digits, with leading zeros.
  ShortText& append_digits(uint64_t value, size_t count) {
    CHECK(count <= kMost - size_);
    for (size_t i = count; i > 0; --i, value /= 10)
      text_[size_ + i - 1] = static_cast<char>('0' + value % 10);
    size_ = static_cast<uint8_t>(size_ + count);
    return *this;
  }

  std::string_view view() const { return {text_, size_}; }
  std::string str() const { return std::string(view()); }
  operator std::string_view() const { return view(); }  // NOLINT: it is text and nothing else.

  friend bool operator==(const ShortText& a, std::string_view b) { return a.view() == b; }
  friend std::ostream& operator<<(std::ostream& out, const ShortText& text) {
    return out << text.view();
  }

 private:
  static_assert(kMost < 256);
  char text_[kMost];
  uint8_t size_ = 0;
};

}  // namespace kyanite
