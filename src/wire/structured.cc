#include "wire/structured.h"

#include <algorithm>
#include <cstring>

#include "base/bytes.h"
#include "base/check.h"
#include "wire/crc64.h"

namespace kyanite::wire {

namespace {

constexpr unsigned char kVersion = 1;
constexpr uint16_t kCrc64Flag = 1;
constexpr size_t kHeaderBytes = 13;
constexpr size_t kSegmentHeaderBytes = 10;
constexpr size_t kCrc64Bytes = 8;

uint64_t read_le(const unsigned char* at, size_t bytes) {
  uint64_t value = 0;
  for (size_t i = bytes; i > 0; --i) value = value << 8 | at[i - 1];
  return value;
}

void append_le(std::string& out, uint64_t value, size_t bytes) {
  for (size_t i = 0; i < bytes; ++i) out.push_back(static_cast<char>(value >> (8 * i) & 0xff));
}

}  // namespace

bool is_structured_form(std::string_view value) {
  const size_t mark = value.find(';');
  if (mark == std::string_view::npos) return false;
  return equals_ignoring_case(trim(value.substr(0, mark)), "XSM/1.0") &&
         equals_ignoring_case(trim(value.substr(mark + 1)), "properties=crc64");
}

size_t StructuredParser::frame_bytes() const {
  switch (state_) {
    case State::kHeader:
      return kHeaderBytes;
    case State::kSegmentHeader:
      return kSegmentHeaderBytes;
    case State::kSegmentFooter:
    case State::kFooter:
      return kCrc64Bytes;
    case State::kContent:
    case State::kEnd:
      return 0;
  }
  CHECK(false);
}

StructuredParser::State StructuredParser::after_segment() const {
  if (segment_ < segments_) return State::kSegmentHeader;
  return has_crc64_ ? State::kFooter : State::kEnd;
}

StructuredParser::State StructuredParser::after_content() const {
  return has_crc64_ ? State::kSegmentFooter : after_segment();
}

kyanite::Result<void, StructuredError> StructuredParser::take_frame() {
  const unsigned char* at = frame_.data();
  switch (state_) {
    case State::kHeader: {
      length_ = read_le(at + 1, 8);
      const uint64_t flags = read_le(at + 9, 2);
      if (at[0] != kVersion || (flags & ~uint64_t{kCrc64Flag}) != 0)
        return StructuredError::kMalformed;
      has_crc64_ = flags == kCrc64Flag;
      segments_ = static_cast<uint16_t>(read_le(at + 11, 2));
      state_ = after_segment();
      return {};
    }
    case State::kSegmentHeader:
      if (read_le(at, 2) != ++segment_) return StructuredError::kMalformed;
      content_left_ = read_le(at + 2, 8);
      if (content_left_ > length_) return StructuredError::kMalformed;
      segment_crc64_ = 0;
      state_ = content_left_ > 0 ? State::kContent : after_content();
      return {};
    case State::kSegmentFooter:
      sent_crc64_ = read_le(at, 8);
      if (sent_crc64_ != segment_crc64_) return StructuredError::kCrc64;
      state_ = after_segment();
      return {};
    case State::kFooter:
      sent_crc64_ = read_le(at, 8);
      if (sent_crc64_ != crc64_) return StructuredError::kCrc64;
      state_ = State::kEnd;
      return {};
    case State::kContent:
    case State::kEnd:
      break;
  }
  CHECK(false);
}

kyanite::Result<size_t, StructuredError> StructuredParser::feed(char* bytes, size_t count) {
  size_t kept = 0;
  for (size_t at = 0; at < count;) {
    if (state_ == State::kEnd) return StructuredError::kMalformed;
    size_t taken = 0;
    if (state_ == State::kContent) {
      taken = static_cast<size_t>(std::min<uint64_t>(content_left_, count - at));
      const std::string_view content(bytes + at, taken);
      segment_crc64_ = crc64(segment_crc64_, content);
      crc64_ = crc64(crc64_, content);
      std::memmove(bytes + kept, bytes + at, taken);
      kept += taken;
      content_left_ -= taken;
      if (content_left_ == 0) state_ = after_content();
    } else {
      taken = std::min(frame_bytes() - gathered_, count - at);
      std::memcpy(frame_.data() + gathered_, bytes + at, taken);
      gathered_ += taken;
      if (gathered_ == frame_bytes()) {
        gathered_ = 0;
        if (auto good = take_frame(); !good) return good.error();
      }
    }
    at += taken;
    received_ += taken;
  }
  return kept;
}

kyanite::Result<void, StructuredError> StructuredParser::finish() const {
  if (state_ != State::kEnd || received_ != length_) return StructuredError::kMalformed;
  return {};
}

StructuredWriter::StructuredWriter(uint64_t content_length) : content_length_(content_length) {
  CHECK(segments() <= UINT16_MAX);
}

// The number of segments has two bytes only, so very long content has longer ones.
uint64_t StructuredWriter::segment_bytes() const {
  return std::max(kSegmentBytes, content_length_ / UINT16_MAX + 1);
}

// An empty content is one empty segment.
uint64_t StructuredWriter::segments() const {
  return std::max<uint64_t>(1, (content_length_ + segment_bytes() - 1) / segment_bytes());
}

uint64_t StructuredWriter::message_length() const {
  return kHeaderBytes + segments() * (kSegmentHeaderBytes + kCrc64Bytes) + content_length_ +
         kCrc64Bytes;
}

std::string StructuredWriter::before_content() {
  std::string out;
  if (in_segment_ || segment_ == segments()) return out;
  if (segment_ == 0) {
    append_le(out, kVersion, 1);
    append_le(out, message_length(), 8);
    append_le(out, kCrc64Flag, 2);
    append_le(out, segments(), 2);
  }
  segment_left_ = std::min(segment_bytes(), content_length_ - sent_);
  segment_crc64_ = 0;
  in_segment_ = true;
  append_le(out, ++segment_, 2);
  append_le(out, segment_left_, 8);
  return out;
}

void StructuredWriter::add(std::string_view content) {
  CHECK(content.size() <= segment_left_);
  segment_crc64_ = crc64(segment_crc64_, content);
  crc64_ = crc64(crc64_, content);
  sent_ += content.size();
  segment_left_ -= content.size();
}

std::string StructuredWriter::after_content() {
  std::string out;
  if (!in_segment_ || segment_left_ > 0) return out;
  in_segment_ = false;
  append_le(out, segment_crc64_, 8);
  if (segment_ == segments()) append_le(out, crc64_, 8);
  return out;
}

}  // namespace kyanite::wire
