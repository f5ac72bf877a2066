// Who may do what with a path, by the access control of everything on it, as Data Lake Storage Gen2
// documents it. For callers with an identity: tokens, and user delegation SAS that name a user.
// Account keys and other SAS are not asked here.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "auth/posix_acl.h"

namespace kyanite::auth::posix {

struct Identity {
  std::string object_id;
  std::vector<std::string> groups;  // object ids
  bool superuser = false;
};

bool is_owner(const Identity& identity, const AccessControl& control);

// What the first class that the caller is in allows: the owner what is said of the owner; a named
// user what is said of them, within the mask; members of groups all that is said of any of their
// groups, within the mask; everybody else what is said of others. (A page of the documentation
// limits others by the mask, too; its own text and the REST reference do not.)
Bits rights(const Identity& identity, const AccessControl& control);
inline bool grants(const Identity& identity, const AccessControl& control, Bits wanted) {
  return (rights(identity, control) & wanted) == wanted;
}

enum class Act {
  kLook,  // properties, status, access control
  kReadFile,
  kWriteFile,  // append, flush, set properties
  kListDirectory,
  kCreate,      // also over an existing file, and the destination of a rename
  kDelete,      // a file or an empty directory, and the source of a rename
  kDeleteTree,  // a directory with everything in it: may_empty() is to be asked besides
  kSetAccess,   // permissions or lists
};

// Directories from the root to the one that holds the object. Without the root when the object is
// the root.
using Parents = std::span<const AccessControl* const>;

// `object` may be null for kCreate only.
bool allowed(const Identity& identity, Act act, Parents parents, const AccessControl* object);
// Check Access: these bits on the object itself.
bool allowed_bits(const Identity& identity, Bits wanted, Parents parents,
                  const AccessControl& object);

// In a directory with the sticky bit only the owner of a child or of the directory removes or
// renames the child.
bool may_remove(const Identity& identity, const AccessControl& directory,
                const AccessControl& child);
// Of every directory inside a tree that is to be deleted; may_remove() is to be asked for what is
// in those with the sticky bit.
bool may_empty(const Identity& identity, const AccessControl& directory);

// Besides kSetAccess. Only a superuser gives a thing to somebody else.
bool may_set_group(const Identity& identity, const AccessControl& control, std::string_view group);
bool may_set_owner(const Identity& identity, const AccessControl& control, std::string_view owner);

}  // namespace kyanite::auth::posix
