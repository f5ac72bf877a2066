// Reads what AvroFrames writes: for tests and fuzzers.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "sql/value.h"

namespace kyanite::sql {

class FrameReader {
 public:
  struct Frame {
    enum Kind { kData, kError, kProgress, kEnd } kind = kData;
    std::string data;
    RowError error;
    int64_t numbers[2] = {0, 0};  // position; scanned and total; total
  };

  explicit FrameReader(std::string_view bytes) : rest_(bytes) {}

  // Empty and failed() when the bytes are not of this form.
  std::vector<Frame> read() {
    std::vector<Frame> frames;
    if (!take("Obj\x01") || number() != 1 || text() != "avro.schema") failed_ = true;
    schema = text();
    if (number() != 0) failed_ = true;
    const std::string sync(bytes(16));
    while (!failed_ && !rest_.empty()) {
      if (number() != 1) failed_ = true;
      const auto size = static_cast<size_t>(number());
      const size_t before = rest_.size();
      frames.push_back(frame());
      if (before - rest_.size() != size || bytes(16) != sync) failed_ = true;
    }
    return frames;
  }
  bool failed() const { return failed_; }
  std::string schema;

 private:
  bool take(std::string_view expected) { return bytes(expected.size()) == expected; }
  std::string_view bytes(size_t count) {
    if (rest_.size() < count) failed_ = true;
    const auto taken = rest_.substr(0, count);
    rest_.remove_prefix(taken.size());
    return taken;
  }
  int64_t number() {
    uint64_t value = 0;
    if (!read_varint(rest_, value)) failed_ = true;
    return static_cast<int64_t>(value >> 1 ^ (~(value & 1) + 1));
  }
  std::string text() { return std::string(bytes(static_cast<size_t>(number()))); }
  Frame frame() {
    Frame frame;
    frame.kind = static_cast<Frame::Kind>(number());
    switch (frame.kind) {
      case Frame::kData:
        frame.data = text();
        break;
      case Frame::kError:
        frame.error.fatal = bytes(1) == std::string_view("\1");
        frame.error.name = text();
        frame.error.description = text();
        frame.numbers[0] = number();
        break;
      case Frame::kProgress:
        frame.numbers[0] = number();
        frame.numbers[1] = number();
        break;
      case Frame::kEnd:
        frame.numbers[0] = number();
    }
    return frame;
  }

  std::string_view rest_;
  bool failed_ = false;
};

}  // namespace kyanite::sql
