// What IOCTL carries in and out, for each control that is served.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "smb/fields.h"
#include "smb/negotiate.h"
#include "smb/numbers.h"

namespace kyanite::smb {

// FSCTL_VALIDATE_NEGOTIATE_INFO: what the client sent in NEGOTIATE, and what the server answered.
struct ValidateNegotiateRequest {
  uint32_t capabilities = 0;
  Guid client{};
  uint16_t security_mode = 0;
  std::vector<Dialect> dialects;
  bool operator==(const ValidateNegotiateRequest&) const = default;
  template <class Io>
  void fields(Io& io) {
    Later<uint16_t> count;
    io(capabilities, client, security_mode, count);
    io.repeated(count, dialects, kMaxDialects);
  }
};
struct ValidateNegotiateReply {
  uint32_t capabilities = 0;
  Guid server{};
  uint16_t security_mode = 0;
  Dialect dialect = Dialect::kNone;
  bool operator==(const ValidateNegotiateReply&) const = default;
  template <class Io>
  void fields(Io& io) {
    io(capabilities, server, security_mode, dialect);
  }
};

// FSCTL_SRV_REQUEST_RESUME_KEY: a name for an open, by which FSCTL_SRV_COPYCHUNK finds its source.
using ResumeKey = std::array<char, 24>;
struct ResumeKeyReply {
  static constexpr size_t kBytes = 32;  // With less room: INVALID_PARAMETER.
  ResumeKey key{};
  bool operator==(const ResumeKeyReply&) const = default;
  template <class Io>
  void fields(Io& io) {
    io(key);
    io.reserved(8);
  }
};

inline constexpr uint32_t kMaxChunks = 256;
inline constexpr uint32_t kMaxChunkBytes = 1024 * 1024;
inline constexpr uint32_t kMaxCopyBytes = 16 * 1024 * 1024;

struct Chunk {
  uint64_t source_offset = 0;
  uint64_t target_offset = 0;
  uint32_t length = 0;
  bool operator==(const Chunk&) const = default;
  template <class Io>
  void fields(Io& io) {
    io(source_offset, target_offset, length);
    io.reserved(4);
  }
};
struct CopyChunkRequest {
  ResumeKey key{};
  std::vector<Chunk> chunks;
  // They are more than kMaxChunks and were not read: as with any other limit, the client is told
  // INVALID_PARAMETER together with CopyChunkReply::limits().
  bool too_many = false;
  bool operator==(const CopyChunkRequest&) const = default;
  template <class Io>
  void fields(Io& io) {
    Later<uint32_t> count;
    io(key, count);
    io.reserved(4);
    too_many = count.value > kMaxChunks;
    if (!too_many) io.repeated(count, chunks, kMaxChunks);
  }
};
struct CopyChunkReply {
  static constexpr size_t kBytes = 12;  // With less room: INVALID_PARAMETER.
  uint32_t chunks = 0;
  uint32_t chunk_bytes = 0;  // Of a chunk that was copied in part.
  uint32_t total_bytes = 0;
  bool operator==(const CopyChunkReply&) const = default;
  static CopyChunkReply limits() { return {kMaxChunks, kMaxChunkBytes, kMaxCopyBytes}; }
  template <class Io>
  void fields(Io& io) {
    io(chunks, chunk_bytes, total_bytes);
  }
};

// FSCTL_CREATE_OR_GET_OBJECT_ID, FSCTL_GET_OBJECT_ID: names of a file and of the volume where it
// was made.
struct ObjectIdReply {
  static constexpr size_t kBytes = 64;  // With less room: INVALID_PARAMETER.
  uint64_t file_id = 0;
  uint64_t volume_id = 0;
  bool operator==(const ObjectIdReply&) const = default;
  template <class Io>
  void fields(Io& io) {
    io(file_id, volume_id);
    io(volume_id);
    io.reserved(8);
    io(file_id, volume_id);
    io.reserved(16);  // Of a domain.
  }
};

// FSCTL_GET_COMPRESSION answers it, FSCTL_SET_COMPRESSION sets it. There is none but none.
struct CompressionFormat {
  static constexpr uint16_t kNone = 0;
  uint16_t format = kNone;
  bool operator==(const CompressionFormat&) const = default;
  template <class Io>
  void fields(Io& io) {
    io(format);
  }
};

// FSCTL_SET_ZERO_DATA
struct ZeroDataRequest {
  uint64_t begin = 0;
  uint64_t end = 0;
  bool operator==(const ZeroDataRequest&) const = default;
  template <class Io>
  void fields(Io& io) {
    io(begin, end);
  }
};

// FSCTL_QUERY_ALLOCATED_RANGES: one asked about, those that have data answered.
struct Range {
  uint64_t offset = 0;
  uint64_t length = 0;
  bool operator==(const Range&) const = default;
  template <class Io>
  void fields(Io& io) {
    io(offset, length);
  }
};
// kBufferOverflow with those that fit, kBufferTooSmall if none does.
struct RangesOutput {
  Status status = Status::kSuccess;
  std::string bytes;
};
inline constexpr size_t kRangeBytes = 16;  // of each
RangesOutput encode_ranges(std::span<const Range> ranges, size_t most_bytes);

// FSCTL_SRV_ENUMERATE_SNAPSHOTS: names by snapshot_token(), newest first. When not all fit, the
// client is told how many there are and how much room they take. Nothing, and INVALID_PARAMETER,
// when it has no room even for that.
std::optional<std::string> encode_snapshots(std::span<const Time> snapshots, size_t most_bytes);

// FSCTL_QUERY_NETWORK_INTERFACE_INFO
namespace interface_capability {
// Several connections to one interface are of use: clients make no more than one without it.
inline constexpr uint32_t kRss = 1;
}  // namespace interface_capability
struct NetworkInterface {
  uint32_t index = 0;
  uint32_t capabilities = 0;
  uint64_t bits_per_second = 0;
  bool ip6 = false;
  std::array<char, 16> address{};  // Of IPv4 the first four, in the order of networks.
  bool operator==(const NetworkInterface&) const = default;

  // Behind the distance to the next one.
  template <class Io>
  void fields(Io& io) {
    constexpr uint16_t kFamily4 = 0x02;
    constexpr uint16_t kFamily6 = 0x17;
    constexpr size_t kAddressBytes = 128;  // A whole sockaddr_storage.
    uint16_t family = ip6 ? kFamily6 : kFamily4;
    io(index, capabilities);
    io.reserved(4);
    io(bits_per_second, family);
    ip6 = family == kFamily6;
    io.reserved(2);           // Port.
    if (ip6) io.reserved(4);  // Flow.
    io(address);
    io.reserved(kAddressBytes - sizeof family - 2 - (ip6 ? 4 : 0) - sizeof address);
  }
};
std::string encode_network_interfaces(std::span<const NetworkInterface> interfaces);

// The input of a control: INVALID_PARAMETER when it is too short.
template <class Input>
Result<Input, Status> decode_input(std::string_view bytes) {
  Reader reader(bytes);
  Input input;
  reader(input);
  if (!reader.ok()) return reader.status();
  return input;
}

}  // namespace kyanite::smb
