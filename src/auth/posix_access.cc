#include "auth/posix_access.h"

#include <algorithm>

#include "base/check.h"

namespace kyanite::auth::posix {

namespace {
// What an act needs besides passing through all directories before the parent.
struct Needs {
  Bits on_parent = kExecute;
  Bits on_object = 0;
  bool removes_object = false;
  bool owner_only = false;
};

Needs needs(Act act) {
  constexpr Bits kChange = kWrite | kExecute;
  switch (act) {
    case Act::kLook:
      return {};
    case Act::kReadFile:
      return {.on_object = kRead};
    case Act::kWriteFile:
      return {.on_object = kRead | kWrite};
    case Act::kListDirectory:
      return {.on_object = kRead | kExecute};
    case Act::kCreate:
    case Act::kDelete:
      return {.on_parent = kChange, .removes_object = true};
    case Act::kDeleteTree:
      return {.on_parent = kChange, .on_object = kAllBits, .removes_object = true};
    case Act::kSetAccess:
      break;
  }
  return {.owner_only = true};
}

bool is_member(const Identity& identity, std::string_view group) {
  return std::any_of(identity.groups.begin(), identity.groups.end(),
                     [&](const std::string& own) { return same_id(own, group); });
}

bool may_pass(const Identity& identity, Parents parents) {
  return std::all_of(parents.begin(), parents.end(), [&](const AccessControl* directory) {
    return grants(identity, *directory, kExecute);
  });
}
}  // namespace

bool is_owner(const Identity& identity, const AccessControl& control) {
  return !identity.object_id.empty() && same_id(identity.object_id, control.owner);
}

Bits rights(const Identity& identity, const AccessControl& control) {
  if (identity.superuser) return kAllBits;
  const List& list = control.access;
  const Bits mask = list.mask.value_or(kAllBits);
  if (is_owner(identity, control)) return list.user;
  for (const Named& user : list.users) {
    if (same_id(user.id, identity.object_id)) return user.bits & mask;
  }
  bool member = is_member(identity, control.group);
  Bits granted = member ? list.group : 0;
  for (const Named& group : list.groups) {
    if (!is_member(identity, group.id)) continue;
    member = true;
    granted |= group.bits;
  }
  return member ? granted & mask : list.other;
}

bool allowed(const Identity& identity, Act act, Parents parents, const AccessControl* object) {
  CHECK(object != nullptr || act == Act::kCreate);
  const Needs needed = needs(act);
  // The root is neither made nor deleted.
  if (needed.removes_object && parents.empty()) return false;
  if (identity.superuser) return true;
  if (!may_pass(identity, parents)) return false;
  if (!parents.empty() && !grants(identity, *parents.back(), needed.on_parent)) return false;
  if (object == nullptr) return true;
  if (needed.removes_object && !may_remove(identity, *parents.back(), *object)) return false;
  if (needed.owner_only && !is_owner(identity, *object)) return false;
  return grants(identity, *object, needed.on_object);
}

bool allowed_bits(const Identity& identity, Bits wanted, Parents parents,
                  const AccessControl& object) {
  return may_pass(identity, parents) && grants(identity, object, wanted);
}

bool may_remove(const Identity& identity, const AccessControl& directory,
                const AccessControl& child) {
  return !directory.sticky || identity.superuser || is_owner(identity, child) ||
         is_owner(identity, directory);
}

bool may_empty(const Identity& identity, const AccessControl& directory) {
  return grants(identity, directory, kAllBits);
}

bool may_set_group(const Identity& identity, const AccessControl& control, std::string_view group) {
  if (identity.superuser || same_id(control.group, group)) return true;
  return is_owner(identity, control) && is_member(identity, group);
}

bool may_set_owner(const Identity& identity, const AccessControl& control, std::string_view owner) {
  return identity.superuser || same_id(control.owner, owner);
}

}  // namespace kyanite::auth::posix
