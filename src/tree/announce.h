// Telling those who watch directories (tree/watchers.h) what a change of a tree was, once it is
// durable. Callers ask is_watched() first: to say what changed takes copies.
#pragma once

#include <string>
#include <vector>

#include "tree/records.h"
#include "tree/tree.h"

namespace kyanite::tree {

inline bool is_watched(const Tree& tree) { return tree.open_files->watchers().any(); }

// Where an entry is.
struct EntryPlace {
  std::vector<EntryId> ancestors;  // From the root to its directory; none for the root itself.
  std::string path;                // With the names as they are stored.
};
// At the end of a way, under this name.
EntryPlace place_at(const Way& way, const Entry& entry);

void announce_added(const Tree& tree, const EntryPlace& place, const Entry& entry);
void announce_removed(const Tree& tree, const EntryPlace& place, const Entry& entry);
// Nothing when both look the same to those who watch.
void announce_changed(const Tree& tree, const EntryPlace& place, const Entry& before,
                      const Entry& after);
// The entry went from one place to the other.
void announce_moved(const Tree& tree, const EntryPlace& from, const EntryPlace& to,
                    const Entry& entry);

// What those who watch can see of the difference.
ChangedParts changed_parts(const Entry& before, const Entry& after);

}  // namespace kyanite::tree
