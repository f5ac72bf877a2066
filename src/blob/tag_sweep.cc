#include "blob/tag_sweep.h"

#include <algorithm>
#include <vector>

#include "base/log.h"
#include "blob/tag_entry.h"
#include "store/fields.h"

namespace kyanite::blob {

namespace {

// Entries removed side by side.
constexpr size_t kTogether = 100;

// Whether the entry is, or may become, all that leads to its blob. Deleted blobs and those of
// deleted containers keep their entries, as they may come back.
store::Result<bool> is_needed(const store::View& view, std::string_view account,
                              const FoundEntry& found) {
  auto head = view.get(found.head_key());
  if (!head) return head.error();
  if (*head != nullptr) {
    const auto blob = store::decode<Blob>((*head)->value);
    if (!blob) return store::Error::kCorrupt;
    if (has_tag(*blob, found.key.partition())) {
      auto superseded = is_superseded(view, account, found);
      if (!superseded) return superseded.error();
      return !*superseded;
    }
  }
  auto announced = view.scan(store::Range::rows(found.entry.space, kTagChanges, found.blob));
  if (auto status = announced->status(); !status) return status.error();
  return announced->valid();
}

// Whoever writes one of them anew meanwhile wins.
Task<store::Result<uint64_t>> remove(store::Store& store, const std::vector<FoundEntry>& untrue) {
  uint64_t removed = 0;
  for (size_t i = 0; i < untrue.size(); i += kTogether) {
    std::vector<store::Commit> commits;
    for (size_t j = i; j < std::min(i + kTogether, untrue.size()); ++j) {
      store::Commit& commit = commits.emplace_back();
      commit.expect(untrue[j].key, untrue[j].record);
      commit.remove(untrue[j].key);
    }
    const auto done = co_await commit_together(store, std::move(commits));
    for (const auto& each : done) {
      if (!each && each.error() != store::Error::kConflict) co_return each.error();
      if (each) ++removed;
    }
  }
  co_return removed;
}

}  // namespace

Task<void> TagSweep::step(service::Context& context) {
  if (context.clock.moment() < rests_until_) co_return;
  auto looked = co_await look(context);
  if (looked) co_return;
  log_warning(std::string("blob: removing entries of tags: ") + store::describe(looked.error()));
  rests_until_ = after_seconds(context.clock.moment(), kRestSeconds);
}

Task<store::Result<void>> TagSweep::look(service::Context& context) {
  const auto at = context.accounts.all().lower_bound(account_);
  if (at == context.accounts.all().end()) {
    account_.clear();
    key_.clear();
    rests_until_ = after_seconds(context.clock.moment(), kRestSeconds);
    co_return store::Result<void>();
  }
  const std::string& account = at->first;
  if (account != account_) key_.clear();
  account_ = account;
  auto range = store::Range::family(tag_space(account), kTagEntries);
  range.from = std::max(range.from, key_);
  std::vector<FoundEntry> untrue;
  std::string next;
  auto looked = co_await context.store.read([&](const store::View& view) -> store::Result<void> {
    auto cursor = view.scan(range);
    for (uint64_t count = 0; cursor->valid(); cursor->next()) {
      if (count++ == kEntriesPerStep) {
        next = cursor->key();
        return {};
      }
      auto found = read_entry(*cursor);
      if (!found) return found.error();
      auto needed = is_needed(view, account, *found);
      if (!needed) return needed.error();
      if (!*needed) untrue.push_back(std::move(*found));
    }
    return cursor->status();
  });
  if (!looked) co_return looked.error();
  auto removed = co_await remove(context.store, untrue);
  if (!removed) co_return removed.error();
  removed_ += *removed;
  key_ = std::move(next);
  if (key_.empty()) account_.push_back('\0');  // The next name.
  co_return store::Result<void>();
}

}  // namespace kyanite::blob
