#include "drive/named_creates.h"

namespace kyanite::drive {

std::optional<tree::HandleId> NamedCreates::begin(const Name& name) {
  MutexLock lock(mutex_);
  const auto [known, added] = creates_.emplace(name, 0);
  if (added) return std::nullopt;
  return known->second;
}

void NamedCreates::end(const Name& name, tree::HandleId handle) {
  MutexLock lock(mutex_);
  if (handle == 0) {
    creates_.erase(name);
  } else {
    creates_[name] = handle;
  }
}

}  // namespace kyanite::drive
