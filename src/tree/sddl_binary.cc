// The self-relative form of a security descriptor, little endian:
//
//   revision 1 | 0 | control (2) | offsets of owner, group, system list, discretionary list (4
//   each) SID: revision 1 | count | authority (6, big endian) | subauthorities (4 each) list:
//   revision (1) | 0 | bytes (2) | entries (2) | 0 (2) | entries entry: type | flags | bytes (2) |
//   rights (4) | SID
#include "base/bytes.h"
#include "tree/sddl.h"

namespace kyanite::tree {

namespace {

constexpr uint16_t kDaclPresent = 0x0004;
constexpr uint16_t kSaclPresent = 0x0010;
constexpr uint16_t kSelfRelative = 0x8000;
constexpr size_t kHeaderBytes = 20;
constexpr size_t kListHeaderBytes = 8;
constexpr size_t kEntryHeaderBytes = 8;
constexpr uint8_t kListRevision = 2;

uint8_t byte_at(std::string_view bytes, size_t offset) {
  return static_cast<uint8_t>(bytes[offset]);
}

uint16_t read_le16(std::string_view bytes, size_t offset) {
  return static_cast<uint16_t>(byte_at(bytes, offset) | byte_at(bytes, offset + 1) << 8);
}

void append_le16(std::string& out, size_t value) {
  out += static_cast<char>(value & 0xff);
  out += static_cast<char>(value >> 8 & 0xff);
}

std::optional<Sid> parse_sid(std::string_view bytes) {
  if (bytes.size() < 8 || bytes[0] != 1) return std::nullopt;
  const size_t count = byte_at(bytes, 1);
  if (count == 0 || count > kMaxSubauthorities || bytes.size() < 8 + 4 * count) return std::nullopt;
  Sid sid;
  for (size_t i = 2; i < 8; ++i) sid.authority = sid.authority << 8 | byte_at(bytes, i);
  for (size_t i = 0; i < count; ++i)
    sid.subauthorities.push_back(read_le32(bytes.data() + 8 + 4 * i));
  return sid;
}

void append_binary_sid(std::string& out, const Sid& sid) {
  out += '\1';
  out += static_cast<char>(sid.subauthorities.size());
  for (int shift = 40; shift >= 0; shift -= 8)
    out += static_cast<char>(sid.authority >> shift & 0xff);
  for (const uint32_t number : sid.subauthorities) append_le32(out, number);
}

// Entries that hold rights and a SID (allowed, denied, audit, alarm, mandatory label), with flags
// that have a meaning.
bool is_plain(uint8_t type, uint8_t flags) {
  return (type <= 3 || type == 0x11) && (flags & 0x20) == 0;
}

std::optional<Acl> parse_list(std::string_view bytes) {
  if (bytes.size() < kListHeaderBytes) return std::nullopt;
  const size_t size = read_le16(bytes, 2);
  size_t count = read_le16(bytes, 4);
  if (size < kListHeaderBytes || size > bytes.size()) return std::nullopt;
  bytes = bytes.substr(kListHeaderBytes, size - kListHeaderBytes);
  Acl acl;
  for (; count > 0; --count) {
    if (bytes.size() < kEntryHeaderBytes) return std::nullopt;
    const size_t entry = read_le16(bytes, 2);
    if (entry < kEntryHeaderBytes || entry > bytes.size()) return std::nullopt;
    auto trustee = parse_sid(bytes.substr(kEntryHeaderBytes, entry - kEntryHeaderBytes));
    if (!trustee || !is_plain(byte_at(bytes, 0), byte_at(bytes, 1))) return std::nullopt;
    acl.entries.push_back(
        {byte_at(bytes, 0), byte_at(bytes, 1), read_le32(bytes.data() + 4), std::move(*trustee)});
    bytes.remove_prefix(entry);
  }
  return acl;
}

void append_list(std::string& out, const Acl& acl) {
  std::string entries;
  for (const Ace& ace : acl.entries) {
    entries += static_cast<char>(ace.type);
    entries += static_cast<char>(ace.flags);
    append_le16(entries, kEntryHeaderBytes + 8 + 4 * ace.trustee.subauthorities.size());
    append_le32(entries, ace.rights);
    append_binary_sid(entries, ace.trustee);
  }
  out += static_cast<char>(kListRevision);
  out += '\0';
  append_le16(out, kListHeaderBytes + entries.size());
  append_le16(out, acl.entries.size());
  append_le16(out, 0);
  out += entries;
}

// What an offset of the header points to; nothing when it points nowhere.
std::string_view part(std::string_view bytes, size_t field) {
  const size_t offset = read_le32(bytes.data() + field);
  if (offset < kHeaderBytes || offset > bytes.size()) return {};
  return bytes.substr(offset);
}

// A list that is present and nowhere is the null list.
std::optional<Acl> parse_list_at(std::string_view bytes, size_t field) {
  if (read_le32(bytes.data() + field) == 0) return Acl{{}, true};
  return parse_list(part(bytes, field));
}

void set_offset(std::string& out, size_t field) {
  std::string offset;
  append_le32(offset, static_cast<uint32_t>(out.size()));
  out.replace(field, offset.size(), offset);
}

}  // namespace

std::optional<SecurityDescriptor> parse_descriptor(std::string_view bytes) {
  if (bytes.size() < kHeaderBytes || bytes[0] != 1) return std::nullopt;
  const uint16_t control = read_le16(bytes, 2);
  if ((control & kSelfRelative) == 0 || (control & kDaclPresent) == 0) return std::nullopt;
  SecurityDescriptor descriptor;
  descriptor.control = control & kDaclBits;
  auto owner = parse_sid(part(bytes, 4));
  auto group = parse_sid(part(bytes, 8));
  auto dacl = parse_list_at(bytes, 16);
  if (!owner || !group || !dacl) return std::nullopt;
  descriptor.owner = std::move(*owner);
  descriptor.group = std::move(*group);
  descriptor.dacl = std::move(*dacl);
  if ((control & kSaclPresent) != 0) {
    descriptor.sacl = parse_list_at(bytes, 12);
    if (!descriptor.sacl) return std::nullopt;
    descriptor.control |= control & kSaclBits;
  }
  return descriptor;
}

std::string write_descriptor(const SecurityDescriptor& descriptor, DescriptorParts parts) {
  const bool sacl = parts.sacl && descriptor.sacl;
  uint16_t control = kSelfRelative;
  if (parts.dacl) control |= kDaclPresent | (descriptor.control & kDaclBits);
  if (sacl) control |= kSaclPresent | (descriptor.control & kSaclBits);
  std::string out("\1\0", 2);
  append_le16(out, control);
  out.append(kHeaderBytes - out.size(), '\0');
  if (parts.owner) {
    set_offset(out, 4);
    append_binary_sid(out, descriptor.owner);
  }
  if (parts.group) {
    set_offset(out, 8);
    append_binary_sid(out, descriptor.group);
  }
  if (sacl && !descriptor.sacl->null) {
    set_offset(out, 12);
    append_list(out, *descriptor.sacl);
  }
  if (parts.dacl && !descriptor.dacl.null) {
    set_offset(out, 16);
    append_list(out, descriptor.dacl);
  }
  return out;
}

namespace {

// Of the bits that a client sets only protection is kept as it is; that a list was inherited is
// believed of those who say that they saw to it.
uint16_t kept_bits(uint16_t control) {
  constexpr uint16_t kBoth = kDaclInherited | kDaclInheritRequired;
  return static_cast<uint16_t>((control & kDaclProtected) |
                               ((control & kBoth) == kBoth ? kDaclInherited : 0));
}

}  // namespace

DescriptorParts parts_in(std::string_view bytes) {
  if (bytes.size() < kHeaderBytes) return {false, false, false, false};
  const uint16_t control = read_le16(bytes, 2);
  return {read_le32(bytes.data() + 4) != 0, read_le32(bytes.data() + 8) != 0,
          (control & kDaclPresent) != 0, (control & kSaclPresent) != 0};
}

bool replace_parts(SecurityDescriptor& descriptor, std::string_view bytes, DescriptorParts parts) {
  if (bytes.size() < kHeaderBytes || bytes[0] != 1) return false;
  const uint16_t control = read_le16(bytes, 2);
  if ((control & kSelfRelative) == 0) return false;
  SecurityDescriptor changed = descriptor;
  if (parts.owner) {
    auto owner = parse_sid(part(bytes, 4));
    if (!owner) return false;
    changed.owner = std::move(*owner);
  }
  if (parts.group) {
    auto group = parse_sid(part(bytes, 8));
    if (!group) return false;
    changed.group = std::move(*group);
  }
  if (parts.dacl) {
    auto dacl = (control & kDaclPresent) == 0 ? Acl{{}, true} : parse_list_at(bytes, 16);
    if (!dacl) return false;
    changed.dacl = std::move(*dacl);
    changed.control = static_cast<uint16_t>((changed.control & ~kDaclBits) | kept_bits(control));
  }
  if (parts.sacl) {
    changed.sacl.reset();
    changed.control &= static_cast<uint16_t>(~kSaclBits);
    if ((control & kSaclPresent) != 0) {
      changed.sacl = parse_list_at(bytes, 12);
      if (!changed.sacl) return false;
      changed.control |= control & kSaclBits;
    }
  }
  descriptor = std::move(changed);
  return true;
}

}  // namespace kyanite::tree
