#include "tree/tree_commit.h"

#include <algorithm>

#include "store/fields.h"
#include "store/stored.h"

namespace kyanite::tree {

Task<store::Result<void>> TreeCommit::begin() {
  const auto key = state_key(space_);
  auto record = co_await store_.get(key);
  if (!record) co_return record.error();
  if (*record != nullptr) {
    auto state = store::decode<ShareState>((*record)->value);
    if (!state) co_return store::Error::kCorrupt;
    state_ = std::move(*state);
  }
  commit_.expect(key, std::move(*record));
  co_return store::Result<void>();
}

void TreeCommit::enter(const Way& way) {
  if (way.directories.empty()) return;  // The root cannot be deleted.
  const SeenEntry& parent = way.directories.back();
  commit_.expect(parent.key, parent.record);
  if (!parent.entry->deleting) return;
  Entry kept = *parent.entry;
  kept.deleting = 0;
  commit_.put(parent.key, store::to_record(kept));
}

void TreeCommit::guard_whole(const Way& way) {
  for (const auto& directory : way.directories) commit_.expect(directory.key, directory.record);
}

Task<store::Result<void>> TreeCommit::preserve(const SeenEntry& before, bool content_goes_on) {
  Entry former = *before.entry;
  former.deleting = 0;
  if (content_goes_on) {
    const auto guard = before.guard();
    auto copied =
        co_await content::copy(store_, commit_, place(), former.content, place(), guard, deadline_);
    if (!copied) co_return copied.error();
    former.content = *copied;
  }
  commit_.put(former_key(space_, before.parent, before.folded, state_.current),
              store::to_record(former));
  co_return store::Result<void>();
}

void TreeCommit::settle_cleared(content::ClearedRuns& runs) const {
  if (state_.snapshots.empty()) {
    runs.clear();
    return;
  }
  for (auto& run : runs) run.since = std::min(run.since, state_.current);
  content::forget_cleared(runs, state_.snapshots.front());
}

void TreeCommit::note_length(const store::Key& key, const SeenEntry* before, const Entry* after) {
  if (usage_ == nullptr) return;
  const uint64_t was = before != nullptr ? before->entry->content.length : 0;
  const uint64_t is = after != nullptr ? after->content.length : 0;
  if (was == is) return;
  auto note = [usage = usage_, space = space_, key, more = static_cast<int64_t>(is - was)] {
    usage->note(space, key.bytes(), more);
  };
  attempt_.after_commit(std::move(note));
}

Task<store::Result<void>> TreeCommit::replace(EntryId parent, std::string_view folded,
                                              const SeenEntry* before, Entry* after,
                                              const Entry* heir) {
  const auto key = entry_key(space_, parent, folded);
  commit_.expect(key, before != nullptr ? before->record : nullptr);
  if (before != nullptr && before->record != nullptr) {
    const auto& content = before->entry->content;
    const bool goes_on = heir != nullptr && heir->content.id == content.id && content.id != 0;
    if (state_.shows(before->entry->generation, state_.current)) {
      if (auto kept = co_await preserve(*before, goes_on); !kept) co_return kept.error();
    } else if (!goes_on) {
      auto removed = co_await content::remove(store_, commit_, place(), content);
      if (!removed) co_return removed.error();
    }
  }
  if (after != nullptr) {
    after->generation = state_.current;
    settle_cleared(after->cleared);
  }
  note_length(key, before, after);
  commit_.put(key, after != nullptr ? store::to_record(*after) : nullptr);
  co_return store::Result<void>();
}

}  // namespace kyanite::tree
