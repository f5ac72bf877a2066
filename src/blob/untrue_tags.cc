#include "blob/untrue_tags.h"

#include <algorithm>
#include <string>
#include <vector>

#include "blob/job_commits.h"
#include "blob/tag_entry.h"
#include "jobs/walk.h"
#include "store/fields.h"

namespace kyanite::blob {

namespace {

// Entries removed side by side.
constexpr size_t kEntriesTogether = 100;
constexpr int64_t kEntriesRestSeconds = 600;

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
Task<store::Result<void>> remove_entries(jobs::Step& step, const std::vector<FoundEntry>& untrue) {
  for (size_t i = 0; i < untrue.size(); i += kEntriesTogether) {
    std::vector<store::Commit> commits;
    for (size_t j = i; j < std::min(i + kEntriesTogether, untrue.size()); ++j) {
      store::Commit& commit = commits.emplace_back();
      commit.expect(untrue[j].key, untrue[j].record);
      commit.remove(untrue[j].key);
    }
    if (auto done = co_await commit_changes(step, std::move(commits)); !done)
      co_return done.error();
  }
  co_return store::Result<void>();
}

Task<store::Result<bool>> remove_untrue_tags(jobs::Step& step) {
  std::vector<FoundEntry> untrue;
  const jobs::See see = [&](const store::View& view,
                            const store::View::Cursor& cursor) -> store::Result<bool> {
    auto found = read_entry(cursor);
    if (!found) return found.error();
    auto needed = is_needed(view, step.account(), *found);
    if (!needed) return needed.error();
    if (!*needed) untrue.push_back(std::move(*found));
    return untrue.size() < step.changes_left();
  };
  std::vector<store::Range> entries(1,
                                    store::Range::family(tag_space(step.account()), kTagEntries));
  std::string next = step.cursor;
  auto at_end = co_await jobs::walk(step, std::move(entries), next, see);
  if (!at_end) co_return at_end;
  if (auto removed = co_await remove_entries(step, untrue); !removed) co_return removed.error();
  step.cursor = std::move(next);
  co_return at_end;
}

}  // namespace

jobs::Job remove_untrue_tags_job() {
  return {"untrue-tags", kEntriesRestSeconds, {}, remove_untrue_tags};
}

}  // namespace kyanite::blob
