// Bytes written down by their places, as tables of the protocol give them: independent of the
// fields that are tested with them.
#pragma once

#include <array>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>

#include "smb/frame.h"
#include "smb/text.h"

namespace kyanite::smb {

class Bytes {
 public:
  explicit Bytes(size_t size) : bytes_(size, '\0') {}

  Bytes& u8(size_t at, uint8_t value) { return put(at, value); }
  Bytes& u16(size_t at, uint16_t value) { return put(at, value); }
  Bytes& u32(size_t at, uint32_t value) { return put(at, value); }
  Bytes& u64(size_t at, uint64_t value) { return put(at, value); }
  Bytes& text(size_t at, std::string_view value) {
    bytes_.replace(at, value.size(), value);
    return *this;
  }
  // So many bytes, each one more than the one before.
  Bytes& run(size_t at, size_t size, char first) {
    for (size_t i = 0; i < size; ++i)
      bytes_.at(at + i) = static_cast<char>(first + static_cast<char>(i));
    return *this;
  }
  Bytes& utf16(size_t at, std::string_view utf8) {
    std::string units;
    append_utf16(units, utf8);
    return text(at, units);
  }
  const std::string& str() const { return bytes_; }

 private:
  template <class Int>
  Bytes& put(size_t at, Int value) {
    std::memcpy(&bytes_.at(at + sizeof value - 1) - (sizeof value - 1), &value, sizeof value);
    return *this;
  }

  std::string bytes_;
};

// What Bytes::run() writes.
template <size_t kSize>
std::array<char, kSize> run_of(char first) {
  std::array<char, kSize> bytes;
  for (size_t i = 0; i < kSize; ++i) bytes[i] = static_cast<char>(first + static_cast<char>(i));
  return bytes;
}

// The body of a message is what follows its header.
inline std::string with_header(Command command, std::string_view body) {
  Header header;
  header.command = command;
  std::string message;
  append_fields(message, header);
  return message.append(body);
}

// Reads in memory of just that size, so that sanitizers notice who reads past it.
template <class Read>
auto read_exactly(std::string_view bytes, const Read& read) {
  const std::unique_ptr<char[]> exact(new char[bytes.size()]);
  std::memcpy(exact.get(), bytes.data(), bytes.size());
  return read(std::string_view(exact.get(), bytes.size()));
}

}  // namespace kyanite::smb
