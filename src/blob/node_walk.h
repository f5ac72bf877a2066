// Walks what lies below a directory in the order of paths: name by name, and a directory before
// what is in it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "store/store.h"

namespace kyanite::blob {

class NodeWalk {
 public:
  // Whether names are seen under which blocks wait and nothing else is.
  enum class Uncommitted { kLeftOut, kSeen };

  // Of the directory with this id, those whose names begin with `prefix`, and all that is below
  // them. `path` is the directory's own, "" or with a slash at its end.
  NodeWalk(const store::View& view, store::SpaceId space, uint64_t directory, std::string path,
           std::string prefix, Uncommitted uncommitted = Uncommitted::kLeftOut);

  bool valid() const { return !levels_.empty(); }
  const std::string& path() const { return path_; }  // of what it is at
  // There are only blocks that wait; else there is a head.
  bool uncommitted() const { return !at_head_; }
  // The head it is at.
  store::Result<std::string_view> value() const { return heads_->value(); }
  store::Result<store::RecordPtr> record() const { return heads_->record(); }
  store::Key key() const { return store::Key::from_bytes(std::string(heads_->key())); }
  store::Result<void> status() const {
    if (auto status = heads_->status(); !status || !blocks_) return status;
    return blocks_->status();
  }

  // To what comes next beside it, past all that is below it.
  void next();
  // Into the directory it is at, which has this id.
  void enter(uint64_t id);
  // In the directory that it is in, to the first name that is not before `name`. Only forward.
  void seek(std::string_view name);
  // The name of what it is at, within its directory.
  std::string_view name() const { return std::string_view(path_).substr(levels_.back().path_size); }

 private:
  struct Level {
    std::string lead;      // what the partitions of its children begin with: its id, and a prefix
    size_t path_size = 0;  // of its own path, with the slash
    std::string name;      // of the child that the walk is at, or below
  };

  // Settles on what the cursors are at, or above it.
  void settle();
  // Reads into partition_ what is first; false: nothing more lies at this level.
  bool read_first(const Level& level);
  void seek_key(std::string key);
  void push(uint64_t directory, std::string_view prefix);

  const store::SpaceId space_;
  std::unique_ptr<store::View::Cursor> heads_;
  std::unique_ptr<store::View::Cursor> blocks_;  // Null where they are left out.
  std::vector<Level> levels_;
  std::string path_;
  std::string partition_;
  std::string blocks_partition_;
  bool at_head_ = true;
};

// Goes on from `first`, a path below the directory that the walk began at, relative to it. What is
// before it in the order of paths was seen already. `enter` tells the id of the directory that the
// walk is at; 0 if it is at none.
template <class DirectoryId>
store::Result<void> start_at(NodeWalk& walk, std::string_view first, DirectoryId enter) {
  while (walk.valid()) {
    const size_t slash = first.find('/');
    const std::string_view name = first.substr(0, slash);
    walk.seek(name);
    if (slash == std::string_view::npos || !walk.valid() || walk.name() != name) break;
    store::Result<uint64_t> id = enter();
    if (!id) return id.error();
    if (*id == 0) {
      walk.next();  // A file is before what would be below it.
      break;
    }
    walk.enter(*id);
    first.remove_prefix(slash + 1);
  }
  return walk.status();
}

// Whether `a` comes before `b` in the order of paths.
bool path_before(std::string_view a, std::string_view b);

// The id of the directory at this path below the directory `root`; nothing where there is none. The
// path has no slashes at its ends and is "" for the root itself.
store::Result<std::optional<uint64_t>> find_directory(const store::View& view, store::SpaceId space,
                                                      uint64_t root, std::string_view path);

}  // namespace kyanite::blob
