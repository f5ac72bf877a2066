// Containers with directories: those of accounts with hierarchical namespace.
//
// Every file and directory is one head, stored under the id of its directory and its last name. So
// a rename is one commit whatever lies below, and a path is followed from the root by one lookup a
// name. All such containers of an account lie in one space, because a rename may go from one of
// them to another; the root of each has the container's incarnation as its id.
// docs/decisions/lake-namespace.md
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "auth/posix_acl.h"
#include "base/task.h"
#include "blob/place.h"
#include "blob/records.h"
#include "service/call.h"
#include "store/store.h"
#include "store/transact.h"
#include "wire/error.h"

namespace kyanite::blob {

// Where the containers with directories of an account lie.
store::SpaceId lake_space(std::string_view account);

// The partition of the head that has this name in this directory, and of blocks that wait for it.
std::string named_partition(uint64_t directory, std::string_view name);

struct SeenDirectory {
  store::Key key;
  store::RecordPtr record;           // Null for a root of which nothing was ever set.
  std::shared_ptr<const Blob> blob;  // Never null.
};

// A directory that is made by the same commit as what lies in it.
struct NewDirectory {
  store::Key key;
  Blob blob;
};

// The way to a file or directory.
struct Way {
  std::vector<SeenDirectory> directories;  // From the root to the last one that is there.
  std::vector<NewDirectory> made;          // Below it, down to the parent.
  std::string name;                        // The last name; "" for the root itself.
  std::string named;                       // The partition it is stored under.

  bool to_root() const { return name.empty(); }
  const Blob& parent() const { return made.empty() ? *directories.back().blob : made.back().blob; }
};

// Whether directories that are missing on the way come with what is put there.
enum class Parents { kNeeded, kMade };

// Follows a path, without slashes at its ends, from the root of the container on. BlobNotFound when
// a directory is missing; whoever makes them is refused where one of them is a file. Who is held to
// access control is refused where it may not go through.
Task<wire::Result<std::shared_ptr<const Way>>> follow(service::Call& call,
                                                      const Container& container,
                                                      std::string_view path, Parents parents);

// The root as it is before anything of it was set.
Blob bare_root(const Container& container);

// Adds to the commit that the way is still as it was found, and the directories that are made with
// it. With `enters` something is put into the last one, whose deletion must look again.
void guard(const Way& way, bool enters, store::Commit& commit);

// Whether the way is still as it was found. A path is followed by one lookup a name, and what a
// renamed directory has in it is changed under its new name: so what was read at the end of a way
// was there under the path that was asked for if the way is the same after it was read. A conflict
// otherwise. What a commit guards needs no such look.
Task<wire::Result<void>> confirm(service::Call& call, const Way& way);
// Likewise whether one record is.
Task<wire::Result<void>> confirm(service::Call& call, const store::Key& key, store::RecordPtr seen);

// What a new file or directory at the end of the way is by itself: its id and who may do what.
void give_node(const service::Call& call, const Way& way, bool directory, uint64_t id, Blob& blob,
               std::optional<auth::posix::Permissions> permissions = {},
               std::optional<auth::posix::Permissions> umask = {});

// For a change that takes a directory away and is guarded by `found`: DirectoryNotEmpty when
// something lies in it. Emptiness is no record that a commit could guard, so the directory is
// marked by a commit of its own, after which the change decides again; whoever puts something into
// it withdraws the mark by the same commit.
Task<wire::Result<void>> require_empty(service::Call& call, const SeenDirectory& found);

}  // namespace kyanite::blob
