// What lies below a directory, a portion at a time: for operations on whole trees that must not
// take all of one at once.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/task.h"
#include "blob/blob.h"
#include "service/call.h"
#include "wire/error.h"

namespace kyanite::datalake {

struct TreeHead {
  store::Key key;
  store::RecordPtr record;
  blob::Blob blob;
  std::string path;  // from the directory that the walk began at
};

struct Portion {
  std::vector<TreeHead> above;  // Directories that lead to the first head, from the top.
  std::vector<TreeHead> heads;  // In the order of paths: a directory before what is in it.
  std::string next;             // Where the next portion begins; "" when there is none.
};

// At most `most` heads from the path `first` on, which need not exist; all of one instant. There
// may be fewer, even none, although more follow. `space`
// and `directory` say where the walk begins.
Task<wire::Result<Portion>> load_portion(service::Call& call, store::SpaceId space,
                                         uint64_t directory, std::string_view first, size_t most);

// The directories that lead to where a walk is.
template <class Entry>
class Trail {
 public:
  // Comes to a path: leaves those that do not lead there.
  void come_to(std::string_view path) {
    while (!entries_.empty() && !leads(entries_.back().first, path)) entries_.pop_back();
  }
  void enter(std::string path, Entry entry) {
    entries_.emplace_back(std::move(path), std::move(entry));
  }
  bool empty() const { return entries_.empty(); }
  const Entry& last() const { return entries_.back().second; }

 private:
  static bool leads(std::string_view directory, std::string_view path) {
    return path.size() > directory.size() && path.starts_with(directory) &&
           path[directory.size()] == '/';
  }
  std::vector<std::pair<std::string, Entry>> entries_;
};

}  // namespace kyanite::datalake
