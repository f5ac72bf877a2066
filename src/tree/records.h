// What a tree stores. docs/formats/file.md describes the keys and the meaning of every field;
// docs/decisions/ says why the namespace and the snapshots of shares are kept this way.
//
// A tree's records lie in a space of its own, all in one partition: a rename moves an entry from
// one directory to another, and that is one commit only within one partition.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "content/cleared.h"
#include "content/content.h"
#include "object/copy.h"
#include "object/http_properties.h"
#include "object/lease.h"
#include "object/metadata.h"
#include "store/key.h"

namespace kyanite::tree {

// Families of a tree's space, which may hold others of its owner. Content leaves are
// content::kContentFamily.
inline constexpr store::Family kEntries = 'E';      // row: entry_row()
inline constexpr store::Family kFormer = 'F';       // row: former_row(); states that snapshots need
inline constexpr store::Family kState = 'G';        // one row, empty: ShareState
inline constexpr store::Family kPermissions = 'P';  // row: permission key; Permission

// The one partition of a share's space.
inline constexpr std::string_view kSharePartition;

// Ids of files and directories: unique within a share, never used again. The root is always 0.
using EntryId = uint64_t;
inline constexpr EntryId kRootId = 0;

// Counts the snapshots ever taken of a share: see ShareState.
using Generation = uint64_t;

// Which snapshots a share has, in the same partition as its entries, so that every change of an
// entry is guarded by it: no change can slip past a snapshot that is being taken. Absent: all
// defaults.
struct ShareState {
  Generation current = 1;  // What is written now belongs to this generation.
  // The generations that were current when the existing snapshots were taken; ascending, all less
  // than `current`.
  std::vector<Generation> snapshots;
  bool purge = false;  // A snapshot was deleted: former states that none shows are to be removed.
  // Not 0: somebody is about to delete the share and has yet to see that its snapshots let it. Each
  // attempt has a number of its own. See load_for_snapshots() in file/share.h.
  uint64_t deletion = 0;
  template <class Io>
  void fields(Io& io) {
    io(1, current);
    io(2, snapshots);
    io(3, purge);
    io(4, deletion);
  }
  // Whether some snapshot shows a state that was written in `from` and replaced in `until`.
  bool shows(Generation from, Generation until) const;
  // A snapshot is taken: the generation that it shows. What is written from now on is of another.
  Generation take_snapshot();
  // The snapshot of this generation is deleted.
  void forget_snapshot(Generation generation);
};

// An SDDL string (or a binary descriptor) that files of the share refer to by its key.
struct Permission {
  std::string sddl;
  template <class Io>
  void fields(Io& io) {
    io(1, sddl);
  }
};

// The attribute bits of SMB.
using Attributes = uint32_t;
inline constexpr Attributes kReadOnlyAttribute = 0x1;
inline constexpr Attributes kDirectoryAttribute = 0x10;
inline constexpr Attributes kArchiveAttribute = 0x20;

struct SmbProperties {
  Attributes attributes = 0;  // kDirectoryAttribute is not stored.
  Time created;
  Time written;
  Time changed;
  std::string permission_key;
  Time accessed;  // As somebody set it; nothing is noted when a file is merely read.
  template <class Io>
  void fields(Io& io) {
    io(1, attributes);
    io(2, created);
    io(3, written);
    io(4, changed);
    io(5, permission_key);
    io(6, accessed);
  }
};

// What NFS shares keep instead of attributes and permissions.
struct PosixProperties {
  std::string owner;
  std::string group;
  std::string mode;
  template <class Io>
  void fields(Io& io) {
    io(1, owner);
    io(2, group);
    io(3, mode);
  }
};

// A file or a directory. It lies under its parent's id and its name, so what is below a directory
// does not move when the directory does.
struct Entry {
  std::string name;  // as it was given
  bool directory = false;
  EntryId id = 0;
  Generation generation = 0;  // in which this state was written
  Time changed;               // ETag and Last-Modified.
  SmbProperties smb;
  object::Metadata metadata;
  // Directories: somebody is about to delete it and has yet to see that it is empty. Whoever puts
  // something into it withdraws the mark in the same commit, which makes the deletion look again.
  // Every mark is another number: else one who has seen the directory before could renew what was
  // withdrawn.
  uint64_t deleting = 0;
  // Files:
  content::Content content;  // always sparse
  object::HttpProperties http;
  object::StoredLease lease;
  object::Copy copy;
  PosixProperties posix;
  content::ClearedRuns cleared;  // by generations, as far as snapshots can be compared
  template <class Io>
  void fields(Io& io) {
    io(1, name);
    io(2, directory);
    io(3, id);
    io(4, generation);
    io(5, changed);
    io(6, smb);
    io(7, metadata);
    io(8, deleting);
    io(9, content);
    io(10, http);
    io(11, lease);
    io(12, copy);
    io(13, posix);
    io(14, cleared);
  }
};

// The row of an entry: its parent's id (8 bytes, big endian) and its folded name. The root itself
// has the empty name below id 0; it has a record only once something of it was set.
std::string entry_row(EntryId parent, std::string_view folded);
// The row of a state that `until` replaced: the entry's row, 00, `until` (8 bytes, big endian).
// Names have no zero byte, so former states sort as entries do.
std::string former_row(EntryId parent, std::string_view folded, Generation until);
store::Key entry_key(store::SpaceId space, EntryId parent, std::string_view folded);
store::Key former_key(store::SpaceId space, EntryId parent, std::string_view folded,
                      Generation until);
store::Key state_key(store::SpaceId space);
store::Key permission_key(store::SpaceId space, std::string_view key);

}  // namespace kyanite::tree
