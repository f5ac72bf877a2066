#include "engine/room.h"

#include <algorithm>

#include "base/log.h"
#include "os/directory.h"

namespace kyanite::engine {

namespace {

constexpr uint64_t kEnough = 2 * Room::kLow;
// From here on the next write may find nothing.
constexpr uint64_t kCritical = Room::kLow / 4;
constexpr std::chrono::milliseconds kLookEvery{200};
// What a deletion may add beside what it takes away: a record of what is to be cleaned later.
constexpr size_t kSmallBytes = 512;

size_t size_of(const store::Key& key, const store::Record& record) {
  constexpr size_t kRefBytes = 20;
  return key.bytes().size() + record.value.size() + kRefBytes * record.refs.size();
}

}  // namespace

bool frees(const store::Commit& commit) {
  size_t added = 0;
  for (const auto& write : commit.writes) {
    if (write.record != nullptr) added += size_of(write.key, *write.record);
  }
  if (added == 0) return true;
  size_t before = 0;
  bool changes = false;  // Something that is there.
  for (const auto& guard : commit.guards) {
    if (guard.expected == nullptr) continue;
    const auto is_its = [&](const store::Write& write) { return write.key == guard.key; };
    if (std::none_of(commit.writes.begin(), commit.writes.end(), is_its)) continue;
    changes = true;
    before += size_of(guard.key, *guard.expected);
  }
  return changes && added <= before + kSmallBytes;
}

Room::Room(std::string directory, uint64_t reserve_bytes, Measure measure)
    : path_(directory + "/reserve"),
      reserve_bytes_(reserve_bytes),
      measure_(measure ? std::move(measure)
                       : [directory = std::move(directory)] { return os::free_bytes(directory); }) {
}

void Room::refused() { set_plenty(false); }

void Room::set_plenty(bool plenty) {
  if (plenty_.exchange(plenty) == plenty) return;
  if (plenty) {
    log_info("there is room on the disk again");
  } else {
    log_warning("the disk is full: only what frees room is written until there is some again");
  }
}

void Room::look() {
  MutexLock lock(mutex_);
  const auto now = std::chrono::steady_clock::now();
  if (now - looked_ < kLookEvery) return;
  looked_ = now;
  auto free = measure_();
  if (!free) return;
  if (*free > kEnough) *free -= add_to_reserve(*free - kEnough);
  if (*free < kCritical) give_up_reserve();
  if (*free < kLow) {
    set_plenty(false);
  } else if (*free >= kEnough && reserved_ >= std::min(reserve_bytes_, kLow)) {
    set_plenty(true);
  }
}

bool Room::has(uint64_t bytes) const {
  const auto free = measure_();
  return !free || *free >= bytes;
}

bool Room::make(uint64_t bytes) {
  if (has(bytes)) return true;
  set_plenty(false);
  MutexLock lock(mutex_);
  give_up_reserve();
  return has(bytes);
}

bool Room::open_reserve() {
  if (file_ != nullptr) return true;
  auto file = os::File::open(path_, os::File::Mode::kCreateOrOpen);
  if (!file) return false;
  file_ = std::move(*file);
  const auto status = file_->status();
  if (status) reserved_ = std::min(status->size, status->allocated_bytes);
  return true;
}

uint64_t Room::add_to_reserve(uint64_t most) {
  if (reserved_ >= reserve_bytes_ || !open_reserve() || reserved_ >= reserve_bytes_) return 0;
  const uint64_t more = std::min(most, reserve_bytes_ - reserved_);
  if (!file_->allocate(0, reserved_ + more).ok()) return 0;
  reserved_ += more;
  return more;
}

void Room::give_up_reserve() {
  if (reserve_bytes_ == 0 || !open_reserve() || reserved_ == 0) return;
  if (auto cut = file_->truncate(0); !cut) {
    log_warning(cut.error().what);
    return;
  }
  reserved_ = 0;
}

}  // namespace kyanite::engine
