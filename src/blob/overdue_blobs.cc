#include "blob/overdue_blobs.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "blob/blob.h"
#include "blob/blocks.h"
#include "blob/dead_trees.h"
#include "blob/job_commits.h"
#include "blob/tag_entry.h"
#include "jobs/walk.h"
#include "lifetime/directory.h"
#include "lifetime/spaces.h"

namespace kyanite::blob {

namespace {

struct Due {
  store::Key key;
  store::RecordPtr record;
  std::optional<Blob> blob;  // Nothing: a block, or a change of tags that was given up.
};

// What one portion has.
struct Overdue {
  std::vector<Due> due;
  std::vector<store::Key> marks;  // of blocks that have not been seen
};

constexpr size_t kMarksTogether = 100;
constexpr int64_t kRestSeconds = 600;

bool is_due(const store::Key& key, const Blob& blob, Time now) {
  // Where there are directories, snapshots go with their file.
  if (blob.node && key.family() == kHeads && !key.row().empty()) return false;
  return (blob.deleted.set() && blob.removal <= now) || (blob.expires.set() && blob.expires <= now);
}

// Looks at one record; adds it when its time is over.
store::Result<void> judge(const store::View::Cursor& cursor, Time now, Overdue& found) {
  auto& due = found.due;
  auto record = cursor.record();
  if (!record) return record.error();
  auto key = store::Key::from_bytes(std::string(cursor.key()));
  if (key.family() == kHeads || key.family() == kDeletedPaths) {
    auto blob = store::decode<Blob>((*record)->value);
    if (!blob) return store::Error::kCorrupt;
    if (is_due(key, *blob, now)) due.push_back({std::move(key), *record, std::move(*blob)});
  } else if (key.family() == kTagChanges) {
    const auto change = store::decode<TagChange>((*record)->value);
    if (!change) return store::Error::kCorrupt;
    if (after_seconds(change->announced, kTagChangeLifeSeconds) <= now)
      due.push_back({std::move(key), *record, {}});
  } else if (key.family() == kBlocks && key.row() == kBlocksMark) {
    found.marks.push_back(std::move(key));
  } else {
    if (key.family() == kBlocks && !found.marks.empty() && found.marks.back().same_partition(key))
      found.marks.pop_back();
    const auto block = store::decode<Block>((*record)->value);
    if (!block) return store::Error::kCorrupt;
    if (after_seconds(block->staged, kUncommittedLifeSeconds) <= now)
      due.push_back({std::move(key), *record, {}});
  }
  return {};
}

// A mark whose blocks may all be gone is spent, or removed if it was so before. Nothing: they are
// not.
store::Result<std::optional<store::Commit>> decide_mark(const store::View& view,
                                                        const store::Key& key) {
  const std::string blob_name = key.partition();
  auto cursor = view.scan(store::Range::rows(key.space(), kBlocks, blob_name));
  if (auto status = cursor->status(); !status) return status.error();
  if (!cursor->valid() || !is_blocks_mark(cursor->key())) return std::optional<store::Commit>();
  auto record = cursor->record();
  if (!record) return record.error();
  const auto mark = store::decode<BlocksMark>((*record)->value);
  if (!mark) return store::Error::kCorrupt;
  cursor->next();
  if (auto status = cursor->status(); !status) return status.error();
  if (cursor->valid()) return std::optional<store::Commit>();
  store::Commit commit;
  commit.expect(key, *record);
  commit.put(key, mark->spent != 0 ? nullptr : spent_mark(mark->id_bytes));
  return std::optional<store::Commit>(std::move(commit));
}

Task<store::Result<void>> remove_marks(jobs::Step& step, const std::vector<store::Key>& keys) {
  for (size_t i = 0; i < keys.size(); i += kMarksTogether) {
    std::vector<store::Commit> commits;
    const store::Look look = [&](const store::View& view) -> store::Result<void> {
      commits.clear();
      for (size_t j = i; j < std::min(i + kMarksTogether, keys.size()); ++j) {
        auto decided = decide_mark(view, keys[j]);
        if (!decided) return decided.error();
        if (*decided) commits.push_back(std::move(**decided));
      }
      return {};
    };
    if (auto looked = co_await step.store().look(look); !looked) co_return looked.error();
    // On a conflict somebody stages blocks again.
    if (auto done = co_await commit_changes(step, std::move(commits)); !done)
      co_return done.error();
  }
  co_return store::Result<void>();
}

Task<store::Result<void>> remove_due(jobs::Step& step, const Due& due) {
  store::Commit commit;
  commit.expect(due.key, due.record);
  if (due.blob && due.blob->node) {
    commit.remove(due.key);
    bury_tree(due.key.space(), due.blob->node_id, step.now(), commit);
  } else if (due.blob) {
    const std::string named = due.key.partition();
    const Place place(due.key.space(), named, *due.blob);
    std::vector<Head> heads;
    heads.push_back({std::string(due.key.row()), due.record, *due.blob});
    if (auto removed = co_await remove_heads(step.store(), place, heads, commit); !removed)
      co_return removed.error();
  } else {
    commit.remove(due.key);
  }
  auto done = co_await step.store().commit(std::move(commit));
  if (done) step.count_changes();
  // Changed meanwhile: the next round looks again.
  if (!done && done.error() != store::Error::kConflict) co_return done.error();
  co_return store::Result<void>();
}

Task<store::Result<bool>> remove_overdue(jobs::Step& step, std::string, store::SpaceId space,
                                         std::string& key) {
  Overdue found;
  const jobs::See see = [&](const store::View&,
                            const store::View::Cursor& cursor) -> store::Result<bool> {
    if (auto judged = judge(cursor, step.now(), found); !judged) return judged.error();
    return found.due.size() + found.marks.size() < step.changes_left();
  };
  // In the order of their keys; a portion may end in any of the families.
  std::vector<store::Range> ranges;
  for (const store::Family family : {kAppended, kBlocks, kHeads, kDeletedPaths, kTagChanges})
    ranges.push_back(store::Range::family(space, family));
  std::string next = key;
  auto at_end = co_await jobs::walk(step, std::move(ranges), next, see);
  if (!at_end) co_return at_end;
  for (const auto& due : found.due) {
    if (auto removed = co_await remove_due(step, due); !removed) co_return removed.error();
    if (!step.in_time()) co_return false;
  }
  if (auto removed = co_await remove_marks(step, found.marks); !removed) co_return removed.error();
  key = std::move(next);
  co_return at_end;
}

}  // namespace

jobs::Job remove_overdue_paths_job() {
  return {"overdue-paths", kRestSeconds, {}, [](jobs::Step& step) {
            return remove_overdue(step, {}, lake_space(step.account()), step.cursor);
          }};
}

jobs::Job remove_overdue_job() {
  return {"overdue-blobs", kRestSeconds, {}, [](jobs::Step& step) {
            return lifetime::walk_spaces<Container>(step, lifetime::kContainersFamily,
                                                    remove_overdue);
          }};
}

}  // namespace kyanite::blob
