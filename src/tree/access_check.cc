#include "tree/access_check.h"

#include <algorithm>
#include <utility>

namespace kyanite::tree {

namespace {

constexpr uint8_t kAllowed = 0;
constexpr uint8_t kDenied = 1;

constexpr uint8_t kObjectInherit = 0x01;
constexpr uint8_t kContainerInherit = 0x02;
constexpr uint8_t kNoPropagate = 0x04;
constexpr uint8_t kInheritOnly = 0x08;
constexpr uint8_t kInherited = 0x10;
constexpr uint8_t kInheritance = kObjectInherit | kContainerInherit | kNoPropagate | kInheritOnly;

// What an owner has without being granted it.
constexpr uint32_t kOwnersRights = 0x00060000;  // READ_CONTROL, WRITE_DAC

Sid sid(uint64_t authority, std::vector<uint32_t> numbers) {
  return {authority, std::move(numbers)};
}
const Sid& creator_owner() {
  static const Sid kSid = sid(3, {0});
  return kSid;
}
const Sid& creator_group() {
  static const Sid kSid = sid(3, {1});
  return kSid;
}
const Sid& owner_rights() {
  static const Sid kSid = sid(3, {4});
  return kSid;
}

}  // namespace

bool Identity::is(const Sid& other) const {
  return user == other || std::find(groups.begin(), groups.end(), other) != groups.end();
}

const Identity& account_identity() {
  // The system, which owns what nobody else was made the owner of; everyone, network,
  // authenticated users, administrators (as the system always is), users.
  static const Identity kIdentity{
      sid(5, {18}), {sid(1, {0}), sid(5, {2}), sid(5, {11}), sid(5, {32, 544}), sid(5, {32, 545})}};
  return kIdentity;
}

uint32_t plain_rights(uint32_t rights) {
  constexpr std::pair<uint32_t, uint32_t> kGeneric[] = {{0x10000000, kAllRights},
                                                        {0x20000000, 0x001200A0},
                                                        {0x40000000, 0x00120116},
                                                        {0x80000000, 0x00120089}};
  for (const auto& [generic, means] : kGeneric) {
    if ((rights & generic) != 0) rights = (rights & ~generic) | means;
  }
  return rights;
}

uint32_t granted_rights(const SecurityDescriptor& descriptor, const Identity& who) {
  if (descriptor.dacl.null) return kAllRights;
  const bool owns = who.is(descriptor.owner);
  const auto& entries = descriptor.dacl.entries;
  const bool limits_owner = std::any_of(entries.begin(), entries.end(), [](const Ace& ace) {
    return (ace.flags & kInheritOnly) == 0 && ace.trustee == owner_rights();
  });
  uint32_t granted = owns && !limits_owner ? kOwnersRights : 0;
  uint32_t denied = 0;
  for (const Ace& ace : entries) {
    if ((ace.flags & kInheritOnly) != 0) continue;
    const bool meant = who.is(ace.trustee) || (owns && ace.trustee == owner_rights());
    if (!meant) continue;
    const uint32_t rights = plain_rights(ace.rights);
    if (ace.type == kAllowed) granted |= rights & ~denied;
    if (ace.type == kDenied) denied |= rights & ~granted;
  }
  return granted & kAllRights;
}

void map_generic_rights(Acl& acl) {
  for (Ace& ace : acl.entries) {
    if ((ace.flags & kInheritOnly) == 0) ace.rights = plain_rights(ace.rights);
  }
}

namespace {

// Adds what a child has of one entry of its parent's list.
void inherit_entry(const Ace& ace, const Identity& who, const SecurityDescriptor& parent,
                   bool directory, std::vector<Ace>& entries) {
  const auto mark = (parent.control & kDaclInherited) != 0 ? kInherited : uint8_t{0};
  const auto own_flags = static_cast<uint8_t>((ace.flags & ~(kInheritance | kInherited)) | mark);
  const bool for_files = (ace.flags & kObjectInherit) != 0;
  const bool for_directories = (ace.flags & kContainerInherit) != 0;
  const bool propagates = (ace.flags & kNoPropagate) == 0;
  const bool counts = directory ? for_directories : for_files;
  const auto passed_on = static_cast<uint8_t>(ace.flags & (kObjectInherit | kContainerInherit));
  const bool is_creator = ace.trustee == creator_owner() || ace.trustee == creator_group();
  const bool is_generic = plain_rights(ace.rights) != ace.rights;
  if (counts) {
    Ace own = ace;
    own.flags = own_flags;
    own.rights = plain_rights(ace.rights);
    if (ace.trustee == creator_owner()) own.trustee = who.user;
    if (ace.trustee == creator_group()) own.trustee = parent.group;
    // What is the same here and below is one entry, what is not is two.
    const bool together = directory && propagates && !is_creator && !is_generic;
    if (together) own.flags |= passed_on;
    entries.push_back(std::move(own));
    if (together) return;
  }
  if (!directory || !propagates || passed_on == 0) return;
  Ace below = ace;
  below.flags = static_cast<uint8_t>(own_flags | passed_on | kInheritOnly);
  entries.push_back(std::move(below));
}

}  // namespace

SecurityDescriptor inherit(const SecurityDescriptor& parent, const Identity& who, bool directory) {
  SecurityDescriptor made;
  made.owner = who.user;
  made.group = parent.group;
  made.control = parent.control & kDaclInherited;
  for (const Ace& ace : parent.dacl.entries)
    inherit_entry(ace, who, parent, directory, made.dacl.entries);
  if (made.dacl.entries.empty()) {
    // Nothing is inherited: it belongs to its owner and to the system.
    const Sid system = sid(5, {18});
    made.control = 0;
    made.dacl.entries = {{kAllowed, 0, kAllRights, who.user}};
    if (who.user != system) made.dacl.entries.push_back({kAllowed, 0, kAllRights, system});
  }
  return made;
}

}  // namespace kyanite::tree
