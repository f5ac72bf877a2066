// Structured messages: a body in segments, each with its length and CRC-64, so that damage on the
// way is noticed where it happened ("XSM/1.0; properties=crc64"). Numbers are little endian:
//
//   message = version (1 byte: 1) | length of the message (8) | flags (2: 1 = CRC-64) |
//             number of segments (2) | segment* | CRC-64 of the content (8)
//   segment = number from 1 (2) | length of its content (8) | content | CRC-64 of it (8)
//
// The checksums are there only with their flag.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace kyanite::wire {

inline constexpr std::string_view kStructuredBody = "x-ms-structured-body";
inline constexpr std::string_view kStructuredContentLength = "x-ms-structured-content-length";

// Whether a value of x-ms-structured-body names the form above; there is no other.
bool is_structured_form(std::string_view value);
inline constexpr std::string_view kStructuredForm = "XSM/1.0; properties=crc64";

enum class StructuredError {
  kMalformed,  // Not such a message, or one that ends early or late.
  kCrc64,      // Its content is not what was sent.
};

// Takes a message apart as it arrives, in pieces of any size.
class StructuredParser {
 public:
  // The next bytes of the message. Their content is moved to the front; returns how much it is.
  kyanite::Result<size_t, StructuredError> feed(char* bytes, size_t count);
  // To be called at the end of the body: whether it was the end of the message.
  kyanite::Result<void, StructuredError> finish() const;

  // After kCrc64: the checksum that the message carries, and that of what came.
  uint64_t sent_crc64() const { return sent_crc64_; }
  uint64_t computed_crc64() const { return state_ == State::kFooter ? crc64_ : segment_crc64_; }

 private:
  enum class State { kHeader, kSegmentHeader, kContent, kSegmentFooter, kFooter, kEnd };

  kyanite::Result<void, StructuredError> take_frame();
  State after_content() const;
  State after_segment() const;
  size_t frame_bytes() const;

  State state_ = State::kHeader;
  std::array<unsigned char, 13> frame_{};  // The header or footer being gathered.
  size_t gathered_ = 0;
  uint64_t length_ = 0;    // announced by the message
  uint64_t received_ = 0;  // of the message
  bool has_crc64_ = false;
  uint16_t segments_ = 0;
  uint16_t segment_ = 0;  // the number of the current one
  uint64_t content_left_ = 0;
  uint64_t segment_crc64_ = 0;
  uint64_t crc64_ = 0;
  uint64_t sent_crc64_ = 0;  // The last one that was read.
};

// Puts a message together around content that is sent in order.
class StructuredWriter {
 public:
  static constexpr uint64_t kSegmentBytes = 4 * 1024 * 1024;

  explicit StructuredWriter(uint64_t content_length);
  uint64_t message_length() const;

  // What goes before the content that follows: empty within a segment.
  std::string before_content();
  // How much of the content belongs to the current segment still.
  uint64_t segment_left() const { return segment_left_; }
  // Tells of content that was sent; at most segment_left().
  void add(std::string_view content);
  // What goes behind it: empty unless the segment is complete.
  std::string after_content();

 private:
  uint64_t segment_bytes() const;
  uint64_t segments() const;

  const uint64_t content_length_;
  uint64_t sent_ = 0;
  uint64_t segment_ = 0;
  bool in_segment_ = false;
  uint64_t segment_left_ = 0;
  uint64_t segment_crc64_ = 0;
  uint64_t crc64_ = 0;
};

}  // namespace kyanite::wire
