#include "queue/index.h"

namespace kyanite::queue {

// Merges the lanes. A lane of which nothing more is known counts with the position from where on it
// is unknown: if that comes first, nobody can say what does.
Index::Visible Index::visible(Time now, size_t most) {
  Visible result;
  std::array<std::optional<Position>, 2> after;
  while (result.places.size() < most) {
    const Window::Front fronts[] = {windows_[0].front(now, after[0]),
                                    windows_[1].front(now, after[1])};
    const size_t first = fronts[0].position <= fronts[1].position ? 0 : 1;
    const auto& [position, known] = fronts[first];
    if (position.visible > now) break;
    if (!known) {
      result.unknown = Unknown{kLanes[first], position};
      break;
    }
    result.places.push_back({kLanes[first], position});
    after[first] = position;
  }
  return result;
}

Index::Visible Index::claim(Time now, size_t most) {
  MutexLock lock(mutex_);
  Visible result = visible(now, most);
  for (const MessagePlace& place : result.places) window(place.lane).claim(place.position);
  return result;
}

Index::Visible Index::peek(Time now, size_t most) {
  MutexLock lock(mutex_);
  return visible(now, most);
}

void Index::unclaim(const MessagePlace& place) {
  MutexLock lock(mutex_);
  window(place.lane).unclaim(place.position);
}

void Index::added(const MessagePlace& place, Time expires) {
  MutexLock lock(mutex_);
  window(place.lane).add(place.position, expires);
}

void Index::moved(const MessagePlace& from, const MessagePlace& to, Time expires) {
  if (from == to) return;
  MutexLock lock(mutex_);
  window(from.lane).remove(from.position);
  window(to.lane).add(to.position, expires);
}

void Index::removed(const MessagePlace& place) {
  MutexLock lock(mutex_);
  window(place.lane).remove(place.position);
}

void Index::forget() {
  MutexLock lock(mutex_);
  for (Window& window : windows_) window.forget();
}

std::optional<Index::Unknown> Index::running_low(Time now) {
  MutexLock lock(mutex_);
  for (const Lane lane : kLanes) {
    if (window(lane).running_low(now)) return Unknown{lane, window(lane).end()};
  }
  return std::nullopt;
}

bool Index::begin_load(const Unknown& unknown) {
  MutexLock lock(mutex_);
  if (window(unknown.lane).end() != unknown.from) return false;
  window(unknown.lane).begin_load();
  return true;
}

void Index::finish_load(Lane lane, const std::vector<Window::Known>& found, const Position& until,
                        uint64_t passed) {
  MutexLock lock(mutex_);
  window(lane).finish_load(found, until, passed);
}

void Index::abandon_load(Lane lane) {
  MutexLock lock(mutex_);
  window(lane).abandon_load();
}

Position Index::begin_count(Lane lane) {
  MutexLock lock(mutex_);
  window(lane).begin_load();
  return window(lane).end();
}

void Index::finish_count(Lane lane, uint64_t beyond) {
  MutexLock lock(mutex_);
  window(lane).finish_count(beyond);
}

std::optional<uint64_t> Index::count(Time now) {
  MutexLock lock(mutex_);
  const auto ready = windows_[0].count(now);
  const auto hidden = windows_[1].count(now);
  if (!ready || !hidden) return std::nullopt;
  return *ready + *hidden;
}

size_t Index::size() {
  MutexLock lock(mutex_);
  return windows_[0].size() + windows_[1].size();
}

bool Index::idle() {
  MutexLock lock(mutex_);
  return windows_[0].idle() && windows_[1].idle();
}

}  // namespace kyanite::queue
