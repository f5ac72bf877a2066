#include "engine/live_map.h"

#include <algorithm>

namespace kyanite::engine {

void LiveMap::add(ExtentId id, uint64_t file_bytes) {
  MutexLock lock(mutex_);
  auto& pages = pages_[id];
  pages.assign((file_bytes + kPageBytes - 1) / kPageBytes, false);
  if (!pages.empty()) pages[0] = true;
}

void LiveMap::mark(const store::Ref& ref) {
  MutexLock lock(mutex_);
  mark_locked(ref);
}

void LiveMap::committing(const store::Commit& commit) {
  MutexLock lock(mutex_);
  for (const auto& write : commit.writes) {
    if (write.record == nullptr) continue;
    for (const auto& ref : write.record->refs) mark_locked(ref);
  }
}

void LiveMap::mark_locked(const store::Ref& ref) {
  auto found = pages_.find(ref.extent);
  if (found == pages_.end()) return;
  auto& pages = found->second;
  const uint64_t end = (ref.offset + ref.length + kPageBytes - 1) / kPageBytes;
  for (uint64_t page = ref.offset / kPageBytes; page < std::min<uint64_t>(end, pages.size());
       ++page) {
    pages[page] = true;
  }
}

std::vector<LiveMap::Pages> LiveMap::dead(ExtentId id) const {
  MutexLock lock(mutex_);
  std::vector<Pages> out;
  const auto& pages = pages_.at(id);
  for (uint64_t page = 0; page < pages.size(); ++page) {
    if (pages[page]) continue;
    if (out.empty() || out.back().first + out.back().count != page) out.push_back({page, 0});
    ++out.back().count;
  }
  return out;
}

uint64_t LiveMap::live_pages(ExtentId id) const {
  MutexLock lock(mutex_);
  const auto& pages = pages_.at(id);
  return static_cast<uint64_t>(std::count(pages.begin(), pages.end(), true));
}

}  // namespace kyanite::engine
