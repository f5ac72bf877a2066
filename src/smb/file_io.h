// CLOSE, FLUSH, READ, WRITE, LOCK and the breaks of oplocks and leases.
#pragma once

#include <string_view>
#include <vector>

#include "smb/create.h"
#include "smb/fields.h"
#include "smb/frame.h"
#include "smb/numbers.h"

namespace kyanite::smb {

inline constexpr size_t kMaxLocks = 512;  // In one request.

struct CloseRequest {
  static constexpr uint16_t kStructureSize = 24;
  uint16_t flags = 0;
  FileId file;
  bool operator==(const CloseRequest&) const = default;

  template <class Io>
  void fields(Io& io) {
    io(flags);
    io.reserved(4);
    io(file);
  }
};

// All zero unless attributes were asked for.
struct CloseReply {
  static constexpr uint16_t kStructureSize = 60;
  uint16_t flags = 0;
  FileTimes times;
  uint64_t allocation_size = 0;
  uint64_t end_of_file = 0;
  uint32_t attributes = 0;
  bool operator==(const CloseReply&) const = default;

  template <class Io>
  void fields(Io& io) {
    io(flags);
    io.reserved(4);
    io(times, allocation_size, end_of_file, attributes);
  }
};

struct FlushRequest {
  static constexpr uint16_t kStructureSize = 24;
  FileId file;
  bool operator==(const FlushRequest&) const = default;

  template <class Io>
  void fields(Io& io) {
    io.reserved(6);
    io(file);
  }
};
using FlushReply = EmptyBody;

struct ReadRequest {
  static constexpr uint16_t kStructureSize = 49;
  uint8_t padding = 0;
  uint8_t flags = 0;
  uint32_t length = 0;
  uint64_t offset = 0;
  FileId file;
  uint32_t minimum_count = 0;
  uint32_t channel = 0;
  uint32_t remaining = 0;
  bool operator==(const ReadRequest&) const = default;

  template <class Io>
  void fields(Io& io) {
    io(padding, flags, length, offset, file, minimum_count, channel, remaining);
    io.reserved(4);
  }
};

// The data may be left out here and sent behind what encode() makes: `length` bytes of it.
struct ReadReply {
  static constexpr uint16_t kStructureSize = 17;
  static constexpr uint8_t kDataOffset = kHeaderBytes + kStructureSize - 1;
  uint32_t length = 0;
  std::string_view data;
  bool operator==(const ReadReply&) const = default;

  template <class Io>
  void fields(Io& io) {
    io.constant(kDataOffset);
    io.reserved(1);
    io(length);
    io.reserved(8);
    io.rest(data);
  }
};

struct WriteRequest {
  static constexpr uint16_t kStructureSize = 49;
  // Where clients put the data, as it is encoded here; any other place behind it is as good.
  static constexpr size_t kDataOffset = kHeaderBytes + kStructureSize - 1;
  uint64_t offset = 0;
  FileId file;
  uint32_t channel = 0;
  uint32_t remaining = 0;
  uint32_t flags = 0;
  std::string_view data;
  bool operator==(const WriteRequest&) const = default;

  template <class Io>
  void fields(Io& io) {
    Whereabouts<uint16_t, uint32_t> data_at;
    io(data_at.offset, data_at.length, offset, file, channel, remaining);
    io.reserved(4);
    io(flags);
    io.placed(data_at, data);
  }
};

struct WriteReply {
  static constexpr uint16_t kStructureSize = 17;
  uint32_t count = 0;
  bool operator==(const WriteReply&) const = default;

  template <class Io>
  void fields(Io& io) {
    io.reserved(2);
    io(count);
    io.reserved(8);
  }
};

struct LockElement {
  uint64_t offset = 0;
  uint64_t length = 0;
  uint32_t flags = 0;
  bool operator==(const LockElement&) const = default;

  template <class Io>
  void fields(Io& io) {
    io(offset, length, flags);
    io.reserved(4);
  }
};

struct LockRequest {
  static constexpr uint16_t kStructureSize = 48;
  uint32_t sequence = 0;
  FileId file;
  std::vector<LockElement> locks;  // Never empty.
  bool operator==(const LockRequest&) const = default;

  uint32_t sequence_number() const { return sequence & 15; }
  uint32_t sequence_index() const { return sequence >> 4; }

  template <class Io>
  void fields(Io& io) {
    Later<uint16_t> count;
    io(count, sequence, file);
    io.repeated(count, locks, kMaxLocks);
    if (locks.empty()) io.fail();
  }
};
using LockReply = EmptyBody;

// The notification, the acknowledgement and the reply to that.
struct OplockBreak {
  static constexpr uint16_t kStructureSize = 24;
  OplockLevel level = OplockLevel::kNone;
  FileId file;
  bool operator==(const OplockBreak&) const = default;

  template <class Io>
  void fields(Io& io) {
    io(level);
    io.reserved(5);
    io(file);
  }
};

struct LeaseBreakNotification {
  static constexpr uint16_t kStructureSize = 44;
  uint16_t new_epoch = 0;
  uint32_t flags = 0;
  Guid key{};
  uint32_t current_state = 0;
  uint32_t new_state = 0;
  bool operator==(const LeaseBreakNotification&) const = default;

  template <class Io>
  void fields(Io& io) {
    io(new_epoch, flags, key, current_state, new_state);
    io.reserved(12);
  }
};

// The acknowledgement and the reply to it. It has the command of OplockBreak and is told from that
// by its size.
struct LeaseBreak {
  static constexpr uint16_t kStructureSize = 36;
  Guid key{};
  uint32_t state = 0;
  bool operator==(const LeaseBreak&) const = default;

  template <class Io>
  void fields(Io& io) {
    io.reserved(6);
    io(key, state);
    io.reserved(8);
  }
};

// Whether an OPLOCK_BREAK message is a LeaseBreak.
inline bool is_lease_break(std::string_view message) {
  uint16_t structure_size = 0;
  Reader reader(message, std::min(kHeaderBytes, message.size()));
  reader(structure_size);
  return structure_size == LeaseBreak::kStructureSize;
}

}  // namespace kyanite::smb
