// Security descriptors: who owns a file and who may do what with it, as SDDL text (what REST
// clients send) and in the self-relative binary form (what SMB clients and the newest REST clients
// send). What they grant to clients of SMB is in tree/access_check.h; clients of REST are neither
// granted nor refused anything by them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kyanite::tree {

// A security identifier: S-1-authority-subauthority-...
struct Sid {
  uint64_t authority = 0;  // 48 bits
  std::vector<uint32_t> subauthorities;
  bool operator==(const Sid&) const = default;
};
inline constexpr size_t kMaxSubauthorities = 15;

// One entry of an access control list, of the types without object GUIDs.
struct Ace {
  uint8_t type = 0;
  uint8_t flags = 0;
  uint32_t rights = 0;
  Sid trustee;
  bool operator==(const Ace&) const = default;
};

struct Acl {
  std::vector<Ace> entries;
  bool null = false;  // NO_ACCESS_CONTROL: there is no list to be asked; without entries.
  bool operator==(const Acl&) const = default;
};

// Bits about the protection and inheritance of the discretionary list. Those of the system list are
// their doubles.
inline constexpr uint16_t kDaclInheritRequired = 0x0100;
inline constexpr uint16_t kDaclInherited = 0x0400;
inline constexpr uint16_t kDaclProtected = 0x1000;
inline constexpr uint16_t kDaclBits = kDaclInheritRequired | kDaclInherited | kDaclProtected;
inline constexpr uint16_t kSaclBits = kDaclBits << 1;

struct SecurityDescriptor {
  uint16_t control = 0;  // Within kDaclBits and, where there is a system list, kSaclBits.
  Sid owner;
  Sid group;
  Acl dacl;
  std::optional<Acl> sacl;
  bool operator==(const SecurityDescriptor&) const = default;
};

// Longer texts are refused; what is left fits the 16-bit lengths of the binary form.
inline constexpr size_t kMaxSddlBytes = 32 * 1024;

// Nothing unless the text is a descriptor with owner, group and discretionary list, all of whose
// parts have a meaning without a domain.
std::optional<SecurityDescriptor> parse_sddl(std::string_view text);
std::string write_sddl(const SecurityDescriptor& descriptor);

// The same for the binary form; besides, entries with types that SDDL text cannot show are refused.
std::optional<SecurityDescriptor> parse_descriptor(std::string_view binary);
// Which parts of a descriptor are meant.
struct DescriptorParts {
  bool owner = true;
  bool group = true;
  bool dacl = true;
  bool sacl = true;
};
std::string write_descriptor(const SecurityDescriptor& descriptor, DescriptorParts parts = {});

// The parts that a descriptor in binary form has; none if it is too short to have any.
DescriptorParts parts_in(std::string_view binary);
// Replaces parts of a descriptor by those of another in binary form, which needs to have no others.
// False, and nothing changes, when it is malformed or lacks one that is meant (but the system list,
// which then goes).
bool replace_parts(SecurityDescriptor& descriptor, std::string_view binary, DescriptorParts parts);

}  // namespace kyanite::tree
