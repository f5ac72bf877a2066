// Telling those who watch directories (tree/watchers.h) what a change of a tree was, once it is
// durable. Callers ask is_watched() first: to say what changed takes copies.
#pragma once

#include "tree/records.h"
#include "tree/tree.h"

namespace kyanite::tree {

inline bool is_watched(const Tree& tree) { return tree.open_files->watchers().any(); }

// `way` is where the entry is; its own name is the entry's.
void announce_added(const Tree& tree, const Way& way, const Entry& entry);
void announce_removed(const Tree& tree, const Way& way, const Entry& entry);
// Nothing when both look the same to those who watch.
void announce_changed(const Tree& tree, const Way& way, const Entry& before, const Entry& after);
// `entry` went from one place to the other.
void announce_moved(const Tree& tree, const Way& from, const Entry& before, const Way& to,
                    const Entry& after);

// What those who watch can see of the difference.
ChangedParts changed_parts(const Entry& before, const Entry& after);

}  // namespace kyanite::tree
