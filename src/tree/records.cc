#include "tree/records.h"

#include <algorithm>

#include "base/bytes.h"

namespace kyanite::tree {

bool ShareState::shows(Generation from, Generation until) const {
  const auto first = std::lower_bound(snapshots.begin(), snapshots.end(), from);
  return first != snapshots.end() && *first < until;
}

Generation ShareState::take_snapshot() {
  snapshots.push_back(current);
  return current++;
}

void ShareState::forget_snapshot(Generation generation) {
  std::erase(snapshots, generation);
  purge = true;
}

std::string entry_row(EntryId parent, std::string_view folded) {
  std::string row;
  row.reserve(8 + folded.size());
  append_be64(row, parent);
  return row.append(folded);
}

std::string former_row(EntryId parent, std::string_view folded, Generation until) {
  std::string row = entry_row(parent, folded);
  row += '\0';
  append_be64(row, until);
  return row;
}

store::Key entry_key(store::SpaceId space, EntryId parent, std::string_view folded) {
  return store::Key(space, kEntries, kSharePartition, entry_row(parent, folded));
}

store::Key former_key(store::SpaceId space, EntryId parent, std::string_view folded,
                      Generation until) {
  return store::Key(space, kFormer, kSharePartition, former_row(parent, folded, until));
}

store::Key state_key(store::SpaceId space) { return store::Key(space, kState, kSharePartition); }

store::Key permission_key(store::SpaceId space, std::string_view key) {
  return store::Key(space, kPermissions, kSharePartition, key);
}

}  // namespace kyanite::tree
