// Only for the .cc files of the open-file table.
#pragma once

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "tree/open_files.h"

namespace kyanite::tree {

// Those that are meant, one bit each.
template <class Meant>
constexpr uint32_t operations_that(Meant meant) {
  uint32_t operations = 0;
  for (int i = 0; i <= static_cast<int>(concurrency::FileOperation::kLeaseFile); ++i) {
    if (meant(static_cast<concurrency::FileOperation>(i))) operations |= uint32_t{1} << i;
  }
  return operations;
}
inline constexpr uint32_t kAllOperations =
    operations_that([](concurrency::FileOperation) { return true; });
constexpr uint32_t only(concurrency::FileOperation operation) {
  return uint32_t{1} << static_cast<int>(operation);
}

// What a change of the table leaves to do once no shard is locked: telling clients, waking who
// waits, counting handles that are gone. It is done at the end of its life at the latest, so it is
// made before anything is locked.
class OpenFiles::Aftermath {
 public:
  explicit Aftermath(OpenFiles& table) : table_(table) {}
  ~Aftermath() { run(); }
  Aftermath(const Aftermath&) = delete;
  Aftermath& operator=(const Aftermath&) = delete;

  void run() {
    if (!any_ && breaks.empty()) return;
    any_ = false;
    for (const Handle& handle : std::exchange(removed_, {})) table_.uncount(handle);
    for (const auto& front : std::exchange(fronts_, {})) {
      if (table_.remover_ != nullptr) table_.remover_->ended(front);
    }
    for (Removal& each : std::exchange(removals_, {})) {
      if (table_.remover_ != nullptr)
        table_.remover_->remove(each.last, std::move(each.front), std::move(each.removal));
    }
    for (const Watchers::WatchId watch : std::exchange(watches_, {})) table_.watchers_.close(watch);
    for (const FileKey& directory : std::exchange(ended_, {}))
      table_.watchers_.end(directory, Watchers::Ending::kDeletePending);
    std::exchange(breaks, {}).tell();
    for (auto& each : std::exchange(locked_, {})) each.first->turn.set(each.second);
    for (auto& each : std::exchange(turns_, {})) each.first->turn.set(each.second);
  }

  bool any() const { return any_; }

  // The handle is in no shard any more.
  void uncount(Handle handle) {
    any_ = true;
    removed_.push_back(std::move(handle));
  }
  // Of a handle that was parked and is closed.
  void end(std::shared_ptr<void> front) {
    any_ = true;
    fronts_.push_back(std::move(front));
  }
  void remove(Handle last, std::shared_ptr<void> front, Admission removal) {
    any_ = true;
    removals_.push_back({std::move(last), std::move(front), std::move(removal)});
  }
  // Of a handle that is closed.
  void close_watch(Watchers::WatchId watch) {
    any_ = true;
    watches_.push_back(watch);
  }
  // The directory is marked for deletion.
  void end_watches(FileKey directory) {
    any_ = true;
    ended_.push_back(directory);
  }
  // They are in no list any more.
  void wake(Wait* wait, bool ask_again) {
    any_ = true;
    turns_.push_back({wait, ask_again});
  }
  void wake(LockWait* wait, kyanite::Result<void, Refusal> result) {
    any_ = true;
    locked_.push_back({wait, result});
  }

  CacheBreaks breaks;

 private:
  struct Removal {
    Handle last;
    std::shared_ptr<void> front;
    Admission removal;
  };
  OpenFiles& table_;
  bool any_ = false;
  std::vector<Handle> removed_;
  std::vector<std::shared_ptr<void>> fronts_;
  std::vector<Watchers::WatchId> watches_;
  std::vector<FileKey> ended_;
  std::vector<Removal> removals_;
  std::vector<std::pair<LockWait*, kyanite::Result<void, Refusal>>> locked_;
  std::vector<std::pair<Wait*, bool>> turns_;
};

}  // namespace kyanite::tree
