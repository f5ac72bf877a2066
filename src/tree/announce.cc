#include "tree/announce.h"

#include <array>
#include <string>
#include <vector>

namespace kyanite::tree {

namespace {

std::string path_of(const Way& way, const Entry& entry) {
  std::string path;
  for (const auto& directory : way.directories) path.append(directory.entry->name).append("/");
  return path + entry.name;
}

ChangedParts name_part(const Entry& entry) {
  return entry.directory ? kDirectoryNameChanged : kFileNameChanged;
}

void announce(const Tree& tree, const Way& way, const Entry& entry, ChangeKind kind,
              ChangedParts parts) {
  if (way.to_root() || parts == 0) return;
  const auto ancestors = way.ancestors();
  const auto path = path_of(way, entry);
  tree.open_files->watchers().tell({tree.space, ancestors, path, kind, parts});
}

}  // namespace

ChangedParts changed_parts(const Entry& before, const Entry& after) {
  ChangedParts parts = 0;
  if (before.smb.attributes != after.smb.attributes) parts |= kAttributesChanged;
  if (before.content.length != after.content.length) parts |= kSizeChanged;
  if (before.smb.written != after.smb.written) parts |= kLastWriteChanged;
  if (before.smb.created != after.smb.created) parts |= kCreationChanged;
  if (before.smb.permission_key != after.smb.permission_key) parts |= kSecurityChanged;
  return parts;
}

void announce_added(const Tree& tree, const Way& way, const Entry& entry) {
  announce(tree, way, entry, ChangeKind::kAdded, name_part(entry));
}

void announce_removed(const Tree& tree, const Way& way, const Entry& entry) {
  announce(tree, way, entry, ChangeKind::kRemoved, name_part(entry));
}

void announce_changed(const Tree& tree, const Way& way, const Entry& before, const Entry& after) {
  announce(tree, way, after, ChangeKind::kModified, changed_parts(before, after));
}

void announce_moved(const Tree& tree, const Way& from, const Entry& before, const Way& to,
                    const Entry& after) {
  const bool stays = from.parent() == to.parent();
  const auto from_ancestors = from.ancestors();
  const auto to_ancestors = to.ancestors();
  const auto from_path = path_of(from, before);
  const auto to_path = path_of(to, after);
  std::vector<TreeChange> changes{
      {tree.space, from_ancestors, from_path,
       stays ? ChangeKind::kRenamedFrom : ChangeKind::kRemoved, name_part(before)},
      {tree.space, to_ancestors, to_path, stays ? ChangeKind::kRenamedTo : ChangeKind::kAdded,
       name_part(after)}};
  // Windows says this of files, and programs have come to expect it.
  if (!after.directory)
    changes.push_back({tree.space, to_ancestors, to_path, ChangeKind::kModified,
                       kAttributesChanged | kCreationChanged});
  tree.open_files->watchers().tell_all(changes);
}

}  // namespace kyanite::tree
