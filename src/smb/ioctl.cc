#include "smb/ioctl.h"

#include "smb/chain.h"
#include "smb/text.h"
#include "smb/times.h"

namespace kyanite::smb {

RangesOutput encode_ranges(std::span<const Range> ranges, size_t most_bytes) {
  const size_t room = most_bytes / kRangeBytes;
  if (room == 0 && !ranges.empty()) return {Status::kBufferTooSmall, {}};
  RangesOutput output;
  if (room < ranges.size()) {
    output.status = Status::kBufferOverflow;
    ranges = ranges.first(room);
  }
  for (const Range& range : ranges) append_fields(output.bytes, range);
  return output;
}

std::optional<std::string> encode_snapshots(std::span<const Time> snapshots, size_t most_bytes) {
  constexpr size_t kLeast = 16;
  constexpr size_t kHeadBytes = 12;
  constexpr size_t kNameBytes = 2 * (kSnapshotTokenChars + 1);
  const size_t array_bytes = snapshots.size() * kNameBytes + 2;
  if (most_bytes < kLeast || array_bytes > UINT32_MAX) return {};
  const bool all_fit = kHeadBytes + array_bytes <= most_bytes;
  const auto count = static_cast<uint32_t>(snapshots.size());
  std::string out;
  Writer writer(out);
  writer(count, all_fit ? count : uint32_t{0}, static_cast<uint32_t>(array_bytes));
  if (!all_fit) {
    writer.reserved(kLeast - kHeadBytes);
    return out;
  }
  for (const Time snapshot : snapshots) {
    append_utf16(out, snapshot_token(snapshot));
    writer.reserved(2);
  }
  writer.reserved(2);
  return out;
}

std::string encode_network_interfaces(std::span<const NetworkInterface> interfaces) {
  std::string out;
  ChainWriter chain(out, 8, std::string::npos);
  for (const NetworkInterface& interface : interfaces)
    chain.add([&](Writer& writer) { writer(interface); });
  return out;
}

}  // namespace kyanite::smb
