#include "engine/new_location.h"

#include <algorithm>
#include <vector>

#include "os/directory.h"

namespace kyanite::engine {

namespace {

// What lies in the directory, if an earlier try may have left it; an error where it is somebody's.
Result<std::vector<std::string>, std::string> left_in(const std::string& path,
                                                      const std::string& unfinished) {
  auto names = os::list_directory(path);
  if (!names) return Failure{names.error().what};
  std::erase_if(*names, [&](const std::string& name) {
    return name == "lost+found" || name == "lock" || name == unfinished + ".new";
  });
  if (!names->empty() && std::find(names->begin(), names->end(), unfinished) == names->end())
    return Failure{std::string("the directory is not empty")};
  return std::move(*names);
}

}  // namespace

Result<NewLocation, std::string> NewLocation::begin(const std::string& path,
                                                    const char* unfinished) {
  if (auto made = os::make_directories(path); !made) return Failure{made.error().what};
  // Before a lock is made in it, which would not belong there.
  if (auto left = left_in(path, unfinished); !left) return Failure{left.error()};
  auto lock = os::File::open(path + "/lock", os::File::Mode::kCreateOrOpen);
  auto locked = lock ? (*lock)->try_lock() : Failure{lock.error()};
  if (!locked) return Failure{locked.error().what};
  if (!*locked) return Failure{std::string("a server or another command uses the directory")};
  // Whoever had the lock may have made something.
  auto left = left_in(path, unfinished);
  if (!left) return Failure{left.error()};
  if (left->empty()) {
    if (auto begun = os::write_text(path, unfinished, ""); !begun)
      return Failure{begun.error().what};
  }
  for (const auto& name : *left) {
    if (name == unfinished) continue;
    if (auto removed = os::remove_tree(path + "/" + name); !removed)
      return Failure{removed.error().what};
  }
  return NewLocation(path, unfinished, std::move(*lock));
}

Result<void, std::string> NewLocation::finish() {
  auto done = os::sync_directory(path_);
  if (done) done = os::remove_file(path_ + "/" + unfinished_);
  if (done) done = os::sync_directory(path_);
  if (!done) return Failure{done.error().what};
  return {};
}

}  // namespace kyanite::engine
