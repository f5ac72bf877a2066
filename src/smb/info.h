// What QUERY_INFO answers and SET_INFO sets: one structure for each information class. kLeast is
// the least room for output that a client must have; what does not fit beyond that is cut off.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "smb/create.h"
#include "smb/fields.h"
#include "smb/numbers.h"

namespace kyanite::smb {

// One integer is all that many classes are.
template <FileClass kOf, class Int>
struct NumberInfo {
  static constexpr FileClass kClass = kOf;
  static constexpr size_t kLeast = sizeof(Int);
  Int value{};
  bool operator==(const NumberInfo&) const = default;
  template <class Io>
  void fields(Io& io) {
    io(value);
  }
};
using InternalInfo = NumberInfo<FileClass::kInternal, uint64_t>;  // The id of the file.
using EaInfo = NumberInfo<FileClass::kEa, uint32_t>;              // Bytes of them.
using AccessInfo = NumberInfo<FileClass::kAccess, uint32_t>;      // Granted to this open.
using PositionInfo = NumberInfo<FileClass::kPosition, uint64_t>;
using ModeInfo = NumberInfo<FileClass::kMode, uint32_t>;
using AlignmentInfo = NumberInfo<FileClass::kAlignment, uint32_t>;
using DispositionInfo = NumberInfo<FileClass::kDisposition, bool>;  // To be deleted.
using DispositionExInfo = NumberInfo<FileClass::kDispositionEx, uint32_t>;
using AllocationInfo = NumberInfo<FileClass::kAllocation, uint64_t>;
using EndOfFileInfo = NumberInfo<FileClass::kEndOfFile, uint64_t>;

// In SET_INFO a time can also be one of these, and attributes can be 0 for those it has.
inline constexpr int64_t kKeepTime = 0;
inline constexpr int64_t kFreezeTime = -1;  // Writes through this open no longer move it,
inline constexpr int64_t kThawTime = -2;    // and do again.

struct BasicInfo {
  static constexpr FileClass kClass = FileClass::kBasic;
  static constexpr size_t kLeast = 40;
  FileTimes times;
  uint32_t attributes = 0;
  bool operator==(const BasicInfo&) const = default;
  template <class Io>
  void fields(Io& io) {
    io(times, attributes);
    io.reserved(4);
  }
};

struct StandardInfo {
  static constexpr FileClass kClass = FileClass::kStandard;
  static constexpr size_t kLeast = 24;
  uint64_t allocation_size = 0;
  uint64_t end_of_file = 0;
  uint32_t links = 1;
  bool delete_pending = false;
  bool directory = false;
  bool operator==(const StandardInfo&) const = default;
  template <class Io>
  void fields(Io& io) {
    io(allocation_size, end_of_file, links, delete_pending, directory);
    io.reserved(2);
  }
};

// Of the name from the root of the share: with a leading \ in kName, without it in kNormalizedName.
template <FileClass kOf>
struct NameInfoOf {
  static constexpr FileClass kClass = kOf;
  static constexpr size_t kLeast = 8;
  std::string name;
  bool operator==(const NameInfoOf&) const = default;
  template <class Io>
  void fields(Io& io) {
    Later<uint32_t> bytes;
    io(bytes);
    io.text(bytes, name);
  }
};
using NameInfo = NameInfoOf<FileClass::kName>;
using NormalizedNameInfo = NameInfoOf<FileClass::kNormalizedName>;
using AlternateNameInfo = NameInfoOf<FileClass::kAlternateName>;

struct AllInfo {
  static constexpr FileClass kClass = FileClass::kAll;
  static constexpr size_t kLeast = 104;
  BasicInfo basic;
  StandardInfo standard;
  InternalInfo internal;
  EaInfo ea;
  AccessInfo access;
  PositionInfo position;
  ModeInfo mode;
  AlignmentInfo alignment;
  NameInfo name;
  bool operator==(const AllInfo&) const = default;
  template <class Io>
  void fields(Io& io) {
    io(basic, standard, internal, ea, access, position, mode, alignment, name);
  }
};

// The one stream that files have, ::$DATA. Directories have none: no output.
struct StreamInfo {
  static constexpr FileClass kClass = FileClass::kStream;
  static constexpr size_t kLeast = 32;
  uint64_t size = 0;
  uint64_t allocation_size = 0;
  std::string name = "::$DATA";
  bool operator==(const StreamInfo&) const = default;
  template <class Io>
  void fields(Io& io) {
    Later<uint32_t> name_bytes;
    io.reserved(4);  // Distance to the next one.
    io(name_bytes, size, allocation_size);
    io.text(name_bytes, name);
  }
};

struct CompressionInfo {
  static constexpr FileClass kClass = FileClass::kCompression;
  static constexpr size_t kLeast = 16;
  uint64_t size = 0;
  uint16_t format = 0;  // None.
  bool operator==(const CompressionInfo&) const = default;
  template <class Io>
  void fields(Io& io) {
    io(size, format);
    io.reserved(6);
  }
};

struct NetworkOpenInfo {
  static constexpr FileClass kClass = FileClass::kNetworkOpen;
  static constexpr size_t kLeast = 56;
  FileTimes times;
  uint64_t allocation_size = 0;
  uint64_t end_of_file = 0;
  uint32_t attributes = 0;
  bool operator==(const NetworkOpenInfo&) const = default;
  template <class Io>
  void fields(Io& io) {
    io(times, allocation_size, end_of_file, attributes);
    io.reserved(4);
  }
};

struct AttributeTagInfo {
  static constexpr FileClass kClass = FileClass::kAttributeTag;
  static constexpr size_t kLeast = 8;
  uint32_t attributes = 0;
  uint32_t reparse_tag = 0;
  bool operator==(const AttributeTagInfo&) const = default;
  template <class Io>
  void fields(Io& io) {
    io(attributes, reparse_tag);
  }
};

struct IdInfo {
  static constexpr FileClass kClass = FileClass::kId;
  static constexpr size_t kLeast = 24;
  uint64_t volume_serial = 0;
  uint64_t file_id = 0;  // The lower half of 128 bits.
  bool operator==(const IdInfo&) const = default;
  template <class Io>
  void fields(Io& io) {
    io(volume_serial, file_id);
    io.reserved(8);
  }
};

// kRename and kRenameEx differ in how they say whether an existing file is replaced.
template <FileClass kOf>
struct RenameInfoOf {
  static constexpr FileClass kClass = kOf;
  static constexpr size_t kLeast = 20;
  uint32_t flags = 0;
  uint64_t root = 0;
  std::string name;  // From the root of the share.
  bool operator==(const RenameInfoOf&) const = default;
  template <class Io>
  void fields(Io& io) {
    Later<uint32_t> bytes;
    if constexpr (kOf == FileClass::kRename) {
      bool replace = (flags & rename_flag::kReplace) != 0;
      io(replace);
      io.reserved(3);
      flags = replace ? rename_flag::kReplace : 0;
    } else {
      io(flags);
    }
    io.reserved(4);
    io(root, bytes);
    io.text(bytes, name);
    if (name.empty()) io.fail();
  }
};
using RenameInfo = RenameInfoOf<FileClass::kRename>;
using RenameExInfo = RenameInfoOf<FileClass::kRenameEx>;

struct VolumeInfo {
  static constexpr VolumeClass kClass = VolumeClass::kVolume;
  static constexpr size_t kLeast = 24;
  int64_t creation = 0;
  uint32_t serial = 0;
  bool supports_objects = false;
  std::string label;
  bool operator==(const VolumeInfo&) const = default;
  template <class Io>
  void fields(Io& io) {
    Later<uint32_t> label_bytes;
    io(creation, serial, label_bytes, supports_objects);
    io.reserved(1);
    io.text(label_bytes, label);
  }
};

struct SizeInfo {
  static constexpr VolumeClass kClass = VolumeClass::kSize;
  static constexpr size_t kLeast = 24;
  uint64_t total_units = 0;
  uint64_t free_units = 0;
  uint32_t sectors_per_unit = 0;
  uint32_t bytes_per_sector = 0;
  bool operator==(const SizeInfo&) const = default;
  template <class Io>
  void fields(Io& io) {
    io(total_units, free_units, sectors_per_unit, bytes_per_sector);
  }
};

struct FullSizeInfo {
  static constexpr VolumeClass kClass = VolumeClass::kFullSize;
  static constexpr size_t kLeast = 32;
  uint64_t total_units = 0;
  uint64_t caller_free_units = 0;
  uint64_t free_units = 0;
  uint32_t sectors_per_unit = 0;
  uint32_t bytes_per_sector = 0;
  bool operator==(const FullSizeInfo&) const = default;
  template <class Io>
  void fields(Io& io) {
    io(total_units, caller_free_units, free_units, sectors_per_unit, bytes_per_sector);
  }
};

struct DeviceInfo {
  static constexpr VolumeClass kClass = VolumeClass::kDevice;
  static constexpr size_t kLeast = 8;
  uint32_t type = 7;                // A disk,
  uint32_t characteristics = 0x20;  // mounted.
  bool operator==(const DeviceInfo&) const = default;
  template <class Io>
  void fields(Io& io) {
    io(type, characteristics);
  }
};

struct VolumeAttributeInfo {
  static constexpr VolumeClass kClass = VolumeClass::kAttribute;
  static constexpr size_t kLeast = 16;
  uint32_t attributes = 0;
  uint32_t max_name_length = 255;
  std::string file_system =
      "NTFS";  // With other names Windows and Office do without some features.
  bool operator==(const VolumeAttributeInfo&) const = default;
  template <class Io>
  void fields(Io& io) {
    Later<uint32_t> name_bytes;
    io(attributes, max_name_length, name_bytes);
    io.text(name_bytes, file_system);
  }
};

// How quotas of users are kept: not at all.
struct VolumeControlInfo {
  static constexpr VolumeClass kClass = VolumeClass::kControl;
  static constexpr size_t kLeast = 48;
  uint64_t default_threshold = UINT64_MAX;  // No limit.
  uint64_t default_limit = UINT64_MAX;
  uint32_t flags = 0;
  bool operator==(const VolumeControlInfo&) const = default;
  template <class Io>
  void fields(Io& io) {
    io.reserved(24);  // When free space is told of.
    io(default_threshold, default_limit, flags);
    io.reserved(4);
  }
};

struct VolumeObjectIdInfo {
  static constexpr VolumeClass kClass = VolumeClass::kObjectId;
  static constexpr size_t kLeast = 64;
  uint64_t volume_id = 0;  // The first half of 128 bits.
  bool operator==(const VolumeObjectIdInfo&) const = default;
  template <class Io>
  void fields(Io& io) {
    io(volume_id);
    io.reserved(56);
  }
};

struct SectorSizeInfo {
  static constexpr VolumeClass kClass = VolumeClass::kSectorSize;
  static constexpr size_t kLeast = 28;
  uint32_t logical_bytes = 0;
  uint32_t physical_bytes = 0;
  uint32_t physical_bytes_for_performance = 0;
  uint32_t file_system_bytes = 0;
  uint32_t flags = 3;  // Sectors and partition are aligned.
  bool operator==(const SectorSizeInfo&) const = default;
  template <class Io>
  void fields(Io& io) {
    io(logical_bytes, physical_bytes, physical_bytes_for_performance, file_system_bytes, flags);
    io.reserved(8);
  }
};

// An answer as it fits into the room that a client has: BUFFER_OVERFLOW when it was cut off,
// INFO_LENGTH_MISMATCH and no bytes when there is less room than kLeast.
struct InfoOutput {
  Status status = Status::kSuccess;
  std::string bytes;
};
InfoOutput fit_output(std::string bytes, size_t least, size_t most);

template <class Info>
InfoOutput encode_info(const Info& info, size_t most) {
  std::string bytes;
  append_fields(bytes, info);
  return fit_output(std::move(bytes), Info::kLeast, most);
}

// What a client sets: INFO_LENGTH_MISMATCH when it is too short.
template <class Info>
Result<Info, Status> decode_info(std::string_view input) {
  if (input.size() < Info::kLeast) return Status::kInfoLengthMismatch;
  Reader reader(input);
  Info info;
  reader(info);
  if (!reader.ok()) return reader.status();
  return info;
}

}  // namespace kyanite::smb
