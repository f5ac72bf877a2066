#include "auth/posix_acl.h"

#include <algorithm>
#include <utility>

namespace kyanite::auth::posix {

namespace {
constexpr Permissions kNewDirectory{7, 7, 7};
constexpr Permissions kNewFile{6, 6, 6};
// Where nothing is inherited and the client gives none.
constexpr Permissions kDefaultUmask{0, 2, 7};
// Where a default list is inherited, whatever the client gives.
constexpr Permissions kInheritingUmask{0, 0, 7};

Bits without(Bits bits, Bits taken) { return static_cast<Bits>(bits & ~taken); }

// A list while entries come and go.
class Draft {
 public:
  Draft() = default;
  explicit Draft(const List& list)
      : user_(list.user),
        group_(list.group),
        other_(list.other),
        mask_(list.mask),
        users_(list.users),
        groups_(list.groups) {}

  void put(const Entry& entry) {
    changed_ = true;
    if (!entry.id.empty()) {
      auto& all = named(entry.kind);
      const auto found = find(all, entry.id);
      if (found == all.end()) {
        all.push_back({entry.id, entry.bits});
      } else {
        found->bits = entry.bits;
      }
      return;
    }
    plain(entry.kind) = entry.bits;
    if (entry.kind == Entry::Kind::kMask) mask_given_ = true;
  }

  void take(const Entry& entry) {
    if (!entry.id.empty()) {
      auto& all = named(entry.kind);
      const auto found = find(all, entry.id);
      if (found == all.end()) return;
      all.erase(found);
    } else {
      auto& bits = plain(entry.kind);
      if (!bits) return;
      bits.reset();
      if (entry.kind == Entry::Kind::kMask) mask_taken_ = true;
    }
    changed_ = true;
  }

  bool empty() const {
    return !user_ && !group_ && !other_ && !mask_ && users_.empty() && groups_.empty();
  }

  // What it does not say of owner, group and others is what another list says.
  void complete(const List& list) {
    if (!user_) user_ = list.user;
    if (!group_) group_ = list.group;
    if (!other_) other_ = list.other;
  }

  Result<List, AclFault> finish() && {
    if (!user_ || !group_ || !other_) return AclFault::kIncomplete;
    List list{*user_, *group_, *other_, mask_, std::move(users_), std::move(groups_)};
    const bool names = !list.users.empty() || !list.groups.empty();
    if (mask_taken_ && names) return AclFault::kMaskNeeded;
    if (changed_ && !mask_given_ && (mask_ || names)) {
      Bits granted = list.group;
      for (const auto& entry : list.users) granted |= entry.bits;
      for (const auto& entry : list.groups) granted |= entry.bits;
      list.mask = granted;
    }
    if (list.size() > kMaxEntries) return AclFault::kTooMany;
    return list;
  }

 private:
  static std::vector<Named>::iterator find(std::vector<Named>& all, std::string_view id) {
    return std::find_if(all.begin(), all.end(),
                        [&](const Named& entry) { return same_id(entry.id, id); });
  }
  std::vector<Named>& named(Entry::Kind kind) {
    return kind == Entry::Kind::kUser ? users_ : groups_;
  }
  std::optional<Bits>& plain(Entry::Kind kind) {
    switch (kind) {
      case Entry::Kind::kUser:
        return user_;
      case Entry::Kind::kGroup:
        return group_;
      case Entry::Kind::kMask:
        return mask_;
      case Entry::Kind::kOther:
        break;
    }
    return other_;
  }

  std::optional<Bits> user_, group_, other_, mask_;
  std::vector<Named> users_, groups_;
  bool changed_ = false;
  bool mask_given_ = false;
  bool mask_taken_ = false;
};

// Whether the old list stays where the new entries begin.
bool keeps(Edit edit, const std::vector<Entry>& entries, bool is_default) {
  switch (edit) {
    case Edit::kReplace:
      if (is_default) return false;
      [[fallthrough]];
    case Edit::kSet:
      return std::none_of(entries.begin(), entries.end(),
                          [&](const Entry& entry) { return entry.is_default == is_default; });
    case Edit::kModify:
    case Edit::kRemove:
      break;
  }
  return true;
}
}  // namespace

Result<AccessControl, AclFault> edited(const AccessControl& old, Edit edit,
                                       const std::vector<Entry>& entries, bool is_directory) {
  if (entries.empty()) return old;
  Draft access, defaults;
  if (keeps(edit, entries, false)) access = Draft(old.access);
  if (old.defaults && keeps(edit, entries, true)) defaults = Draft(*old.defaults);
  for (const Entry& entry : entries) {
    if (entry.is_default && !is_directory) {
      if (edit == Edit::kReplace) return AclFault::kDefaultOnFile;
      continue;
    }
    Draft& draft = entry.is_default ? defaults : access;
    if (edit == Edit::kRemove) {
      draft.take(entry);
    } else {
      draft.put(entry);
    }
  }

  // What a new list does not say of owner, group and others stays as it was.
  if (edit == Edit::kReplace) access.complete(old.access);
  AccessControl control = old;
  auto list = std::move(access).finish();
  if (!list) return list.error();
  control.access = std::move(*list);
  control.defaults.reset();
  // For defaults it is what the access list says.
  if (!defaults.empty()) {
    defaults.complete(control.access);
    auto inherited = std::move(defaults).finish();
    if (!inherited) return inherited.error();
    control.defaults = std::move(*inherited);
  }
  return control;
}

void set_permissions(AccessControl& control, const Permissions& permissions) {
  control.sticky = permissions.sticky;
  control.access.user = permissions.user;
  control.access.other = permissions.other;
  if (control.access.mask) {
    control.access.mask = permissions.group;
  } else {
    control.access.group = permissions.group;
  }
}

AccessControl new_root(std::string_view creator) {
  AccessControl root;
  root.owner = root.group = creator;
  set_permissions(root, {7, 5, 0});
  return root;
}

namespace {
// The list less the fixed umask, and no more than the client asks for: of whom the mask limits, the
// mask alone is limited by that. What the client says of its umask does not count.
void inherit(const List& defaults, const Permissions& asked, AccessControl& child) {
  child.sticky = asked.sticky;
  child.access = defaults;
  List& list = child.access;
  Bits& group = list.mask ? *list.mask : list.group;
  list.user &= without(asked.user, kInheritingUmask.user);
  group &= without(asked.group, kInheritingUmask.group);
  list.other &= without(asked.other, kInheritingUmask.other);
}
}  // namespace

AccessControl born(const AccessControl& parent, const Birth& birth) {
  AccessControl child;
  child.owner = birth.creator;
  child.group = parent.group;
  if (parent.defaults) {
    inherit(*parent.defaults, birth.permissions.value_or(Permissions{7, 7, 7}), child);
    if (birth.is_directory) child.defaults = parent.defaults;
    return child;
  }
  const Permissions given =
      birth.permissions.value_or(birth.is_directory ? kNewDirectory : kNewFile);
  const Permissions umask = birth.umask.value_or(kDefaultUmask);
  set_permissions(child, {without(given.user, umask.user), without(given.group, umask.group),
                          without(given.other, umask.other), given.sticky});
  return child;
}

}  // namespace kyanite::auth::posix
