#include "queue/window.h"

#include <algorithm>

namespace kyanite::queue {

Window::Front Window::front(Time now, const std::optional<Position>& after) {
  auto at = after ? known_.upper_bound(*after) : known_.begin();
  while (at != known_.end() && at->second <= now) at = known_.erase(at);
  if (at == known_.end()) return {end_, false};
  return {at->first, true};
}

void Window::claim(const Position& position) { claimed_.insert(known_.extract(position)); }

void Window::unclaim(const Position& position) {
  const auto claimed = claimed_.extract(position);
  if (!claimed.empty()) add(position, claimed.mapped());
}

void Window::add(const Position& position, Time expires) {
  if (position < end_) {
    known_.insert_or_assign(position, expires);
    shrink();
  } else {
    note({{position, expires}, true, true});
  }
}

void Window::remove(const Position& position) {
  const bool was_claimed = claimed_.erase(position) != 0;
  if (position < end_) {
    known_.erase(position);
  } else {
    note({{position, {}}, false, !was_claimed});
  }
}

void Window::note(const Change& change) {
  if (loading_) {
    changes_.push_back(change);
  } else if (change.counts) {
    count_beyond(change.added);
  }
}

void Window::count_beyond(bool added) {
  if (!beyond_) return;
  if (added) {
    ++*beyond_;
  } else if (*beyond_ > 0) {
    --*beyond_;
  }
}

void Window::shrink() {
  while (known_.size() > kCapacity) {
    // What is being loaded begins where the window no longer ends.
    if (loading_) abandon_load();
    const auto last = std::prev(known_.end());
    end_ = last->first;
    known_.erase(last);
    count_beyond(true);
  }
}

void Window::abandon_load() {
  loading_ = false;
  for (const Change& change : changes_) {
    if (change.counts) count_beyond(change.added);
  }
  changes_.clear();
}

void Window::forget() {
  known_.clear();
  end_ = Position::first();
  beyond_.reset();
  loading_ = false;
  changes_.clear();
}

void Window::begin_load() {
  loading_ = true;
  changes_.clear();
}

void Window::finish_load(const std::vector<Known>& found, const Position& until, uint64_t passed) {
  if (!loading_) return;  // Forgotten or abandoned meanwhile.
  const Position began = end_;
  end_ = until;
  for (const Known& message : found) {
    if (!claimed_.contains(message.position)) known_.emplace(message.position, message.expires);
  }
  for (const Change& change : changes_) {
    const Known& message = change.message;
    if (change.counts) count_beyond(change.added);
    if (!(message.position < end_)) continue;
    if (change.added) {
      known_.insert_or_assign(message.position, message.expires);
    } else {
      known_.erase(message.position);
    }
  }
  loading_ = false;
  changes_.clear();
  if (end_ == Position::last()) {
    beyond_ = 0;
  } else if (beyond_) {
    const auto gained =
        static_cast<uint64_t>(std::distance(known_.lower_bound(began), known_.end()));
    *beyond_ -= std::min(*beyond_, gained + passed);
  }
  shrink();
}

void Window::finish_count(uint64_t beyond) {
  if (!loading_) return;
  // What was removed meanwhile may have been counted or not; too many is allowed, too few is not.
  beyond_ = beyond;
  for (const Change& change : changes_) {
    if (change.added) count_beyond(true);
  }
  loading_ = false;
  changes_.clear();
}

std::optional<uint64_t> Window::count(Time now) const {
  if (!beyond_) return std::nullopt;
  const auto alive = std::count_if(known_.begin(), known_.end(),
                                   [now](const auto& message) { return message.second > now; });
  return static_cast<uint64_t>(alive) + claimed_.size() + *beyond_;
}

}  // namespace kyanite::queue
