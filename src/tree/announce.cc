#include "tree/announce.h"

namespace kyanite::tree {

namespace {

ChangedParts name_part(const Entry& entry) {
  return entry.directory ? kDirectoryNameChanged : kFileNameChanged;
}

void announce(const Tree& tree, const EntryPlace& place, ChangeKind kind, ChangedParts parts) {
  if (parts == 0) return;
  tree.open_files->watchers().tell({tree.space, place.ancestors, place.path, kind, parts});
}

}  // namespace

EntryPlace place_at(const Way& way, const Entry& entry) {
  EntryPlace place{way.ancestors(), {}};
  for (const auto& directory : way.directories)
    place.path.append(directory.entry->name).append("/");
  place.path += entry.name;
  return place;
}

ChangedParts changed_parts(const Entry& before, const Entry& after) {
  ChangedParts parts = 0;
  if (before.smb.attributes != after.smb.attributes) parts |= kAttributesChanged;
  if (before.content.length != after.content.length) parts |= kSizeChanged;
  if (before.smb.written != after.smb.written) parts |= kLastWriteChanged;
  if (before.smb.created != after.smb.created) parts |= kCreationChanged;
  if (before.smb.permission_key != after.smb.permission_key) parts |= kSecurityChanged;
  return parts;
}

void announce_added(const Tree& tree, const EntryPlace& place, const Entry& entry) {
  announce(tree, place, ChangeKind::kAdded, name_part(entry));
}

void announce_removed(const Tree& tree, const EntryPlace& place, const Entry& entry) {
  announce(tree, place, ChangeKind::kRemoved, name_part(entry));
}

void announce_changed(const Tree& tree, const EntryPlace& place, const Entry& before,
                      const Entry& after) {
  announce(tree, place, ChangeKind::kModified, changed_parts(before, after));
}

void announce_moved(const Tree& tree, const EntryPlace& from, const EntryPlace& to,
                    const Entry& entry) {
  const bool stays = from.ancestors == to.ancestors;
  const ChangedParts name = name_part(entry);
  const TreeChange changes[] = {{tree.space, from.ancestors, from.path,
                                 stays ? ChangeKind::kRenamedFrom : ChangeKind::kRemoved, name},
                                {tree.space, to.ancestors, to.path,
                                 stays ? ChangeKind::kRenamedTo : ChangeKind::kAdded, name}};
  tree.open_files->watchers().tell_all(changes);
}

}  // namespace kyanite::tree
