// What a security descriptor lets somebody do with a file, and what a new file inherits of it.
// Rights are the bits of access masks; those of directories are the same bits.
#pragma once

#include <cstdint>
#include <vector>

#include "tree/sddl.h"

namespace kyanite::tree {

// Everything that one can do with a file.
inline constexpr uint32_t kAllRights = 0x001F01FF;
inline constexpr uint32_t kListRight = 0x1;          // of a directory
inline constexpr uint32_t kAddFileRight = 0x2;       // likewise
inline constexpr uint32_t kAddDirectoryRight = 0x4;  // likewise
inline constexpr uint32_t kDeleteChildRight = 0x40;  // likewise
inline constexpr uint32_t kReadAttributesRight = 0x80;
inline constexpr uint32_t kDeleteRight = 0x10000;

// Who somebody is: a user and the groups it is in.
struct Identity {
  Sid user;
  std::vector<Sid> groups;

  bool is(const Sid& sid) const;
};
// Whoever has logged on with the key of an account.
const Identity& account_identity();

// GENERIC_READ and its like replaced by what they stand for.
uint32_t plain_rights(uint32_t rights);

// The same in a list, but for what is only inherited: that may come to mean something else.
void map_generic_rights(Acl& acl);

// All that it grants. Entries count in their order: what one has granted a later one does not deny,
// and the other way round. Owners may read and change the list whatever it says, unless it has an
// entry for OWNER RIGHTS, which speaks to whoever is the owner. A null list grants everything.
uint32_t granted_rights(const SecurityDescriptor& descriptor, const Identity& who);

// What something new in a directory gets, made by `who`. Where nothing is inherited it is its
// owner's and the system's alone.
SecurityDescriptor inherit(const SecurityDescriptor& parent, const Identity& who, bool directory);

}  // namespace kyanite::tree
