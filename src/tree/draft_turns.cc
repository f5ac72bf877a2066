#include "tree/draft_turns.h"

namespace kyanite::tree {

void DraftTurns::renew(const std::vector<Drafts::Old>& old) {
  waiting_.clear();
  for (const auto& each : old) waiting_[each.session].push_back(each);
}

std::optional<Drafts::Old> DraftTurns::take() {
  auto next = waiting_.upper_bound(last_);
  for (size_t tried = 0; tried < waiting_.size(); ++tried, ++next) {
    if (next == waiting_.end()) next = waiting_.begin();
    auto& [session, drafts] = *next;
    if (taken_[session] >= most_) continue;
    const Drafts::Old taken = drafts.front();
    ++taken_[session];
    last_ = session;
    drafts.pop_front();
    if (drafts.empty()) waiting_.erase(next);
    return taken;
  }
  return std::nullopt;
}

void DraftTurns::done(const Drafts::Old& taken) {
  const auto count = taken_.find(taken.session);
  if (--count->second == 0) taken_.erase(count);
}

}  // namespace kyanite::tree
