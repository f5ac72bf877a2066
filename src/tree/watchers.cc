#include "tree/watchers.h"

#include <algorithm>
#include <utility>

namespace kyanite::tree {

std::optional<Watchers::WatchId> Watchers::watch(FileKey directory, bool recursive,
                                                 ChangedParts parts) {
  Watch added;
  added.directory = directory;
  added.recursive = recursive;
  added.parts = parts;
  return add(std::move(added));
}

std::optional<Watchers::WatchId> Watchers::watch_shown(store::SpaceId share, Generation shown) {
  Watch added;
  added.directory.share = share;
  added.shown = shown;
  return add(std::move(added));
}

std::optional<Watchers::WatchId> Watchers::add(Watch added) {
  MutexLock lock(mutex_);
  if (!counts_.add(added.directory.share)) return std::nullopt;
  const WatchId id = next_++;
  if (!added.shown) directories_[added.directory].push_back(id);
  watches_.emplace(id, std::move(added));
  ++count_;
  return id;
}

Watchers::Seen Watchers::take(Watch& watch) {
  kept_bytes_ -= std::exchange(watch.kept_bytes, 0) + watch.kept.changes.size() * kBytesOfAChange;
  return std::exchange(watch.kept, {});
}

std::optional<Watchers::Seen> Watchers::kept(WatchId watch) {
  MutexLock lock(mutex_);
  const auto found = watches_.find(watch);
  if (found == watches_.end()) return std::nullopt;
  Watch& mine = found->second;
  if (!mine.kept.too_many && mine.kept.changes.empty()) return std::nullopt;
  return take(mine);
}

Task<kyanite::Result<Watchers::Seen, Watchers::Ending>> Watchers::next(WatchId watch,
                                                                       uint64_t ticket) {
  Turn turn;
  {
    MutexLock lock(mutex_);
    const auto found = watches_.find(watch);
    if (found == watches_.end() || found->second.over) co_return Ending::kClosed;
    Watch& mine = found->second;
    if (mine.kept.too_many || !mine.kept.changes.empty()) co_return take(mine);
    if (mine.waiting.size() >= kMaxWaiting) co_return Ending::kTooMany;
    mine.waiting.push_back({ticket, &turn});
  }
  co_return co_await turn;
}

void Watchers::cancel(WatchId watch, uint64_t ticket) {
  std::vector<Told> told;
  {
    MutexLock lock(mutex_);
    const auto found = watches_.find(watch);
    if (found == watches_.end()) return;
    std::erase_if(found->second.waiting, [&](const Waiting& each) {
      if (each.ticket == ticket) told.push_back({each.turn, Ending::kCancelled});
      return each.ticket == ticket;
    });
  }
  tell(told);
}

void Watchers::close(WatchId watch) {
  std::vector<Told> told;
  {
    MutexLock lock(mutex_);
    const auto found = watches_.find(watch);
    if (found == watches_.end()) return;
    for (const Waiting& each : found->second.waiting) told.push_back({each.turn, Ending::kClosed});
    if (!found->second.shown) {
      const auto directory = directories_.find(found->second.directory);
      std::erase(directory->second, watch);
      if (directory->second.empty()) directories_.erase(directory);
    }
    (void)take(found->second);
    counts_.remove(found->second.directory.share);
    watches_.erase(found);
    --count_;
  }
  tell(told);
}

void Watchers::end(FileKey directory, Ending why) {
  if (!any()) return;
  std::vector<Told> told;
  {
    MutexLock lock(mutex_);
    const auto found = directories_.find(directory);
    if (found == directories_.end()) return;
    for (const WatchId id : found->second) {
      for (const Waiting& each : std::exchange(watches_.at(id).waiting, {}))
        told.push_back({each.turn, why});
    }
  }
  tell(told);
}

template <class Meant>
void Watchers::end_where(const Meant& meant) {
  std::vector<Told> told;
  {
    MutexLock lock(mutex_);
    for (auto& [id, watch] : watches_) {
      if (!meant(watch)) continue;
      watch.over = true;
      for (const Waiting& each : std::exchange(watch.waiting, {}))
        told.push_back({each.turn, Ending::kClosed});
    }
  }
  tell(told);
}

void Watchers::end_share(store::SpaceId share) {
  end_where([&](const Watch& watch) { return watch.directory.share == share; });
}

void Watchers::end_shown(store::SpaceId share, Generation shown) {
  end_where(
      [&](const Watch& watch) { return watch.directory.share == share && watch.shown == shown; });
}

void Watchers::keep(Watch& watch, ChangeKind kind, std::string_view path) {
  if (watch.kept.too_many) return;
  const size_t more = path.size() + kBytesOfAChange;
  if (watch.kept.changes.size() >= kMaxKept || watch.kept_bytes + path.size() > kMaxKeptBytes ||
      kept_bytes_ + more > kMaxKeptBytesOfAll) {
    (void)take(watch);
    watch.kept.too_many = true;
    return;
  }
  watch.kept_bytes += path.size();
  kept_bytes_ += more;
  watch.kept.changes.push_back({kind, std::string(path)});
}

void Watchers::tell_all(std::span<const TreeChange> changes) {
  if (!any()) return;
  std::vector<Told> told;
  {
    MutexLock lock(mutex_);
    std::vector<WatchId> reached;
    for (const TreeChange& change : changes) {
      std::string_view path = change.path;
      for (size_t depth = 0; depth < change.ancestors.size(); ++depth) {
        if (depth > 0) path.remove_prefix(std::min(path.size(), path.find('/') + 1));
        const auto found = directories_.find({change.share, change.ancestors[depth]});
        if (found == directories_.end()) continue;
        const bool parent = depth + 1 == change.ancestors.size();
        for (const WatchId id : found->second) {
          Watch& watch = watches_.at(id);
          if ((watch.parts & change.parts) == 0 || (!parent && !watch.recursive)) continue;
          keep(watch, change.kind, path);
          reached.push_back(id);
        }
      }
    }
    for (const WatchId id : reached) {
      Watch& watch = watches_.at(id);
      const bool some = watch.kept.too_many || !watch.kept.changes.empty();
      if (!some || watch.waiting.empty()) continue;
      told.push_back({watch.waiting.front().turn, take(watch)});
      watch.waiting.erase(watch.waiting.begin());
    }
  }
  tell(told);
}

}  // namespace kyanite::tree
