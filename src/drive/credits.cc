#include "drive/credits.h"

#include <algorithm>
#include <cstring>

namespace kyanite::drive {

bool Credits::take(uint64_t message_id, uint16_t charge) {
  if (message_id < low_ || message_id - low_ >= range_) return false;
  if (charge > range_ - (message_id - low_)) return false;
  for (uint64_t id = message_id; id < message_id + charge; ++id) {
    if (used(id)) return false;
  }
  for (uint64_t id = message_id; id < message_id + charge; ++id) used_.set(id % kMaxCredits);
  available_ -= charge;
  while (range_ > 0 && used(low_)) {
    used_.reset(low_ % kMaxCredits);
    ++low_;
    --range_;
  }
  return true;
}

uint16_t Credits::grant(uint16_t charge, uint16_t asked, bool generous) {
  uint32_t granted = 0;
  if (asked > 0) {
    granted = generous ? std::max(charge, asked) : charge;
  } else if (available_ == 0) {
    granted = 1;
  }
  granted = std::min(granted, kMaxCredits - range_);
  range_ += granted;
  available_ += granted;
  return static_cast<uint16_t>(granted);
}

namespace {
// Where in a request it says how many bytes it brings and how many it fetches; 0: it does not.
struct SizeFields {
  size_t in = 0;
  size_t out = 0;
};
SizeFields size_fields(smb::Command command) {
  constexpr size_t kBody = smb::kHeaderBytes;
  switch (command) {
    case smb::Command::kRead:
      return {0, kBody + 4};
    case smb::Command::kWrite:
      return {kBody + 4, 0};
    case smb::Command::kIoctl:
      return {kBody + 28, kBody + 44};
    case smb::Command::kQueryDirectory:
      return {0, kBody + 28};
    case smb::Command::kChangeNotify:
      return {0, kBody + 4};
    case smb::Command::kQueryInfo:
      return {kBody + 12, kBody + 4};
    case smb::Command::kSetInfo:
      return {kBody + 4, 0};
    default:
      return {};
  }
}

uint64_t size_at(std::string_view message, size_t at) {
  uint32_t size = 0;
  if (at == 0 || message.size() < at + sizeof size) return 0;
  std::memcpy(&size, message.data() + at, sizeof size);
  return size;
}
}  // namespace

uint64_t moved_bytes(const smb::Header& header, std::string_view message) {
  const SizeFields fields = size_fields(header.command);
  return std::max(size_at(message, fields.in), size_at(message, fields.out));
}

}  // namespace kyanite::drive
