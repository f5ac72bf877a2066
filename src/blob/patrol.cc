#include "blob/patrol.h"

#include <algorithm>
#include <vector>

#include "base/log.h"
#include "blob/blob.h"
#include "blob/blocks.h"
#include "blob/tag_entry.h"
#include "blob/tag_mend.h"
#include "content/graves.h"
#include "lifetime/directory.h"

namespace kyanite::blob {

namespace {

struct Due {
  store::Key key;
  store::RecordPtr record;
  std::optional<Blob> blob;  // Nothing: a block, or a change of tags that was given up.
};

// What one step finds.
struct Overdue {
  std::vector<Due> due;
  std::vector<store::Key> marks;  // of blocks that have not been seen
  std::vector<TaggedBlob> tagged;
};

constexpr size_t kMarksTogether = 100;

bool is_due(const Blob& blob, Time now) {
  return (blob.deleted.set() && blob.removal <= now) || (blob.expires.set() && blob.expires <= now);
}

// Looks at one record; adds it when its time is over.
store::Result<void> judge(const store::View::Cursor& cursor, Time now, Overdue& found) {
  auto& due = found.due;
  auto record = cursor.record();
  if (!record) return record.error();
  auto key = store::Key::from_bytes(std::string(cursor.key()));
  if (key.family() == kHeads) {
    auto blob = store::decode<Blob>((*record)->value);
    if (!blob) return store::Error::kCorrupt;
    if (key.row().empty() && !blob->tags.empty())
      found.tagged.push_back({key.space(), key.partition(), blob->tags});
    if (is_due(*blob, now)) due.push_back({std::move(key), *record, std::move(*blob)});
  } else if (key.family() == kTagChanges) {
    const auto change = store::decode<TagChange>((*record)->value);
    if (!change) return store::Error::kCorrupt;
    if (after_seconds(change->announced, kTagChangeLifeSeconds) <= now)
      due.push_back({std::move(key), *record, {}});
  } else if (key.row() == kBlocksMark) {
    found.marks.push_back(std::move(key));
  } else {
    if (!found.marks.empty() && found.marks.back().same_partition(key)) found.marks.pop_back();
    const auto block = store::decode<Block>((*record)->value);
    if (!block) return store::Error::kCorrupt;
    if (after_seconds(block->staged, kUncommittedLifeSeconds) <= now)
      due.push_back({std::move(key), *record, {}});
  }
  return {};
}

// The first container of any account at or after these names.
struct Next {
  std::string account;
  std::string container;
  store::SpaceId space = 0;
};
Task<store::Result<std::optional<Next>>> next_container(service::Context& context,
                                                        std::string account,
                                                        std::string container) {
  std::optional<Next> next;
  auto found = co_await context.store.read([&](const store::View& view) -> store::Result<void> {
    for (auto at = context.accounts.all().lower_bound(account); at != context.accounts.all().end();
         ++at) {
      const auto directory = lifetime::directory_space(at->first);
      auto cursor = view.scan(store::Range::family(directory, lifetime::kContainersFamily));
      if (at->first == account)
        cursor->seek(store::Key(directory, lifetime::kContainersFamily, container).bytes());
      if (!cursor->valid()) continue;
      auto record = cursor->record();
      if (!record) return record.error();
      const auto value = store::decode<Container>((*record)->value);
      if (!value) return store::Error::kCorrupt;
      next = Next{at->first, store::Key::from_bytes(std::string(cursor->key())).partition(),
                  value->space};
      return {};
    }
    return {};
  });
  if (!found) co_return found.error();
  co_return std::move(next);
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

Task<store::Result<void>> remove_marks(store::Store& store, const std::vector<store::Key>& keys) {
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
    if (auto looked = co_await store.read(look); !looked) co_return looked.error();
    const auto done = co_await commit_together(store, std::move(commits));
    for (const auto& each : done) {
      // On a conflict somebody stages blocks again.
      if (!each && each.error() != store::Error::kConflict) co_return each.error();
    }
  }
  co_return store::Result<void>();
}

Task<store::Result<void>> remove_due(store::Store& store, const Due& due) {
  const std::string blob_name = due.key.partition();
  const content::Place place{due.key.space(), blob_name};
  store::Commit commit;
  commit.expect(due.key, due.record);
  if (due.blob) {
    std::vector<Head> heads;
    heads.push_back({std::string(due.key.row()), due.record, *due.blob});
    if (auto removed = co_await remove_heads(store, place, heads, commit); !removed)
      co_return removed.error();
  } else {
    commit.remove(due.key);
  }
  auto done = co_await store.commit(std::move(commit));
  // Changed meanwhile: the next round looks again.
  if (!done && done.error() != store::Error::kConflict) co_return done.error();
  co_return store::Result<void>();
}

}  // namespace

Task<void> Patrol::step(service::Context& context) {
  if (context.clock.moment() < rests_until_) co_return;
  auto looked = co_await look(context);
  if (looked) co_return;
  mends_ = false;  // In another round, from the beginning.
  log_warning(std::string("blob: removing what is overdue: ") + store::describe(looked.error()));
  rests_until_ = after_seconds(context.clock.moment(), kRestSeconds);
}

// All containers of the last account were seen.
Task<store::Result<void>> Patrol::begin_account(store::Store& store, std::string next) {
  if (mends_) {
    if (auto noted = co_await note_tags_mended(store, account_); !noted) co_return noted.error();
  }
  account_ = std::move(next);
  container_.clear();
  key_.clear();
  mends_ = false;
  if (account_.empty()) co_return store::Result<void>();
  auto mended = co_await are_tags_mended(store, account_);
  if (!mended) co_return mended.error();
  mends_ = !*mended;
  co_return store::Result<void>();
}

Task<store::Result<void>> Patrol::look(service::Context& context) {
  const Time now = context.clock.now();
  auto next = co_await next_container(context, account_, container_);
  if (!next) co_return next.error();
  const std::string account = *next ? (*next)->account : std::string();
  if (account != account_) {
    if (auto begun = co_await begin_account(context.store, account); !begun)
      co_return begun.error();
  }
  if (!*next) {
    container_.clear();
    rests_until_ = after_seconds(context.clock.moment(), kRestSeconds);
    co_return store::Result<void>();
  }
  if ((*next)->container != container_) key_.clear();
  container_ = (*next)->container;
  auto cleared =
      co_await content::clear_graves(context.store, (*next)->space, kRecordsPerStep, now);
  if (!cleared) co_return cleared.error();
  Overdue found;
  bool more = false;
  uint64_t count = 0;
  const store::See see = [&](const store::View::Cursor& cursor) -> store::Result<bool> {
    if (count++ == kRecordsPerStep) {
      key_ = cursor.key();
      more = true;
      return false;
    }
    if (auto judged = judge(cursor, now, found); !judged) return judged.error();
    return true;
  };
  // In the order of their keys; a step may end in any of the families.
  const std::string from = key_;
  for (const store::Family family : {kBlocks, kHeads, kTagChanges}) {
    if (more) break;
    auto range = store::Range::family((*next)->space, family);
    range.from = std::max(range.from, from);
    auto scanned = co_await store::scan(context.store, std::move(range), see);
    if (!scanned) co_return scanned.error();
  }
  if (auto removed = co_await remove_marks(context.store, found.marks); !removed)
    co_return removed.error();
  if (mends_) {
    auto mended = co_await mend_tags(context.store, account_, container_, found.tagged);
    if (!mended) co_return mended.error();
  }
  for (const auto& entry : found.due) {
    if (auto removed = co_await remove_due(context.store, entry); !removed)
      co_return removed.error();
    ++removed_;
  }
  if (!more) {
    key_.clear();
    container_.push_back('\0');  // The next name.
  }
  co_return store::Result<void>();
}

}  // namespace kyanite::blob
