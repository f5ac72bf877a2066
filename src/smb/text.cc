#include "smb/text.h"

#include <cstdint>

namespace kyanite::smb {

namespace {

constexpr uint32_t kReplacement = 0xFFFD;

uint32_t unit_at(std::string_view utf16, size_t at) {
  return static_cast<uint32_t>(static_cast<uint8_t>(utf16[at]) | static_cast<uint8_t>(utf16[at + 1])
                                                                     << 8);
}

void append_utf8(std::string& out, uint32_t point) {
  const auto add = [&](uint32_t byte) { out.push_back(static_cast<char>(byte)); };
  if (point < 0x80) {
    add(point);
  } else if (point < 0x800) {
    add(0xC0 | point >> 6);
    add(0x80 | (point & 0x3F));
  } else if (point < 0x10000) {
    add(0xE0 | point >> 12);
    add(0x80 | (point >> 6 & 0x3F));
    add(0x80 | (point & 0x3F));
  } else {
    add(0xF0 | point >> 18);
    add(0x80 | (point >> 12 & 0x3F));
    add(0x80 | (point >> 6 & 0x3F));
    add(0x80 | (point & 0x3F));
  }
}

struct Decoded {
  uint32_t point;
  size_t bytes;
};

// The character that begins here; a byte that begins none is a replacement by itself.
Decoded utf8_at(std::string_view text, size_t at) {
  const auto lead = static_cast<uint8_t>(text[at]);
  if (lead < 0x80) return {lead, 1};
  const size_t extra = lead >= 0xF0 ? 3 : lead >= 0xE0 ? 2 : 1;
  if (lead < 0xC2 || lead > 0xF4 || text.size() - at <= extra) return {kReplacement, 1};
  uint32_t point = lead & (0x3Fu >> extra);
  for (size_t i = 1; i <= extra; ++i) {
    const auto next = static_cast<uint8_t>(text[at + i]);
    if ((next & 0xC0) != 0x80) return {kReplacement, 1};
    point = point << 6 | (next & 0x3F);
  }
  const uint32_t least = extra == 1 ? 0x80 : extra == 2 ? 0x800 : 0x10000;
  if (point < least || point > 0x10FFFF || (point >= 0xD800 && point <= 0xDFFF))
    return {kReplacement, 1};
  return {point, extra + 1};
}

}  // namespace

std::optional<std::string> utf8_of(std::string_view utf16) {
  if (utf16.size() % 2 != 0 || utf16.size() / 2 > kMaxTextUnits) return {};
  std::string out;
  out.reserve(utf16.size() / 2);
  for (size_t at = 0; at < utf16.size(); at += 2) {
    uint32_t point = unit_at(utf16, at);
    if (point == 0 || (point >= 0xDC00 && point <= 0xDFFF)) return {};
    if (point >= 0xD800 && point <= 0xDBFF) {
      at += 2;
      if (at == utf16.size()) return {};
      const uint32_t low = unit_at(utf16, at);
      if (low < 0xDC00 || low > 0xDFFF) return {};
      point = 0x10000 + ((point - 0xD800) << 10 | (low - 0xDC00));
    }
    append_utf8(out, point);
  }
  return out;
}

void append_utf16(std::string& out, std::string_view utf8) {
  // No character takes more than two bytes for each of its bytes.
  const size_t before = out.size();
  out.resize(before + 2 * utf8.size());
  char* to = out.data() + before;
  const auto add = [&](uint32_t unit) {
    *to++ = static_cast<char>(unit);
    *to++ = static_cast<char>(unit >> 8);
  };
  for (size_t at = 0; at < utf8.size();) {
    const Decoded next = utf8_at(utf8, at);
    at += next.bytes;
    if (next.point < 0x10000) {
      add(next.point);
    } else {
      add(0xD800 + ((next.point - 0x10000) >> 10));
      add(0xDC00 + ((next.point - 0x10000) & 0x3FF));
    }
  }
  out.resize(static_cast<size_t>(to - out.data()));
}

}  // namespace kyanite::smb
