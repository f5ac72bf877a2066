#include "engine/open_extents.h"

namespace kyanite::engine {

OpenExtents::OpenExtents(std::string directory, size_t most)
    : directory_(std::move(directory)), most_(most) {}

std::shared_ptr<ExtentFile> OpenExtents::find(ExtentId id) {
  MutexLock lock(mutex_);
  auto found = by_id_.find(id);
  if (found == by_id_.end()) return nullptr;
  used_.splice(used_.begin(), used_, found->second);
  return used_.front();
}

os::Result<std::shared_ptr<ExtentFile>> OpenExtents::open(ExtentId id) {
  if (auto extent = find(id)) return extent;
  auto file = os::File::open(directory_ + "/" + extent_name(id), os::File::Mode::kRead);
  if (!file) return Failure{file.error()};
  return add(id, std::move(*file));
}

std::shared_ptr<ExtentFile> OpenExtents::add(ExtentId id, std::shared_ptr<const os::File> file) {
  MutexLock lock(mutex_);
  if (auto found = by_id_.find(id); found != by_id_.end()) return *found->second;
  const auto close = [open = open_](const ExtentFile* extent) {
    delete extent;
    --*open;
  };
  ++*open_;
  used_.push_front(std::shared_ptr<ExtentFile>(new ExtentFile(id, std::move(file)), close));
  by_id_.emplace(id, used_.begin());
  if (used_.size() > most_) {
    by_id_.erase(used_.back()->id());
    used_.pop_back();
  }
  return used_.front();
}

void OpenExtents::forget(ExtentId id) {
  MutexLock lock(mutex_);
  auto found = by_id_.find(id);
  if (found == by_id_.end()) return;
  used_.erase(found->second);
  by_id_.erase(found);
}

}  // namespace kyanite::engine
