#include "tree/drafts.h"

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "store/transact.h"
#include "tree/announce.h"
#include "tree/change.h"
#include "tree/tree_commit.h"

namespace kyanite::tree {

namespace {

template <class T>
void take_newer(std::optional<T>& mine, const std::optional<T>& newer) {
  if (newer) mine = newer;
}
template <class T>
void keep_older(std::optional<T>& mine, const std::optional<T>& newer) {
  if (!mine) mine = newer;
}

constexpr uint64_t kSector = 512;

// What was cleared is noted for comparisons with snapshots, in whole sectors.
void note_cleared(Entry& file, const std::vector<content::Edit>& edits) {
  for (const auto& edit : edits) {
    if (!edit.pieces.empty()) continue;
    const uint64_t from = (edit.offset + kSector - 1) / kSector * kSector;
    const uint64_t to = edit.end / kSector * kSector;
    if (from < to) content::note_cleared(file.cleared, from, to, kThisGeneration);
  }
}

// The entry as it is to be stored.
Task<store::Result<void>> apply(store::Store& store, store::Commit& commit,
                                const content::Place& place, const DraftLayer& layer, Entry& file) {
  if (layer.written) file.smb.written = *layer.written;
  if (layer.changed) file.smb.changed = *layer.changed;
  if (layer.bytes.empty()) co_return {};
  content::Content& content = file.content;
  const uint64_t length = layer.bytes.length(content.length);
  // Nothing of the old content is left: the new one begins anew, however much it was.
  if (layer.bytes.kept() == 0) content = {};
  content.sparse = true;
  const auto edits = layer.bytes.edits(content.length);
  content.length = std::max(content.length, length);
  if (auto done = co_await content::edit(store, commit, place, content, edits); !done)
    co_return done.error();
  content.length = length;
  note_cleared(file, edits);
  file.smb.attributes |= kArchiveAttribute;
  co_return {};
}

}  // namespace

void DraftLayer::lay(DraftLayer newer) {
  bytes.lay(std::move(newer.bytes));
  take_newer(written, newer.written);
  take_newer(changed, newer.changed);
  keep_older(untold, newer.untold);
  take_newer(told, newer.told);
  keep_older(since, newer.since);
  promised += newer.promised;
}

void DraftLayer::lay_over(Entry& entry, Moment now) const {
  entry.content.length = bytes.length(entry.content.length);
  if (is_untold(now)) {
    if (told) entry.smb.written = *told;
    return;
  }
  if (written) entry.smb.written = *written;
  if (changed) entry.smb.changed = *changed;
}

void DraftLayer::note_written(Time date, Moment now, bool soon) {
  // As far as can be told from a moment that never comes.
  constexpr Moment kInTheEnd{INT64_MAX / 2};
  if (written && untold && !is_untold(now)) {
    told = written;
    untold.reset();
  }
  written = changed = date;
  if (!untold) untold = soon ? now : kInTheEnd;
}

DraftLayer DraftLayer::take(std::optional<Moment> now) {
  DraftLayer taken = std::exchange(*this, {});
  if (now && taken.is_untold(*now)) {
    written = std::exchange(taken.written, std::exchange(taken.told, std::nullopt));
    changed = std::exchange(taken.changed, std::nullopt);
    untold = std::exchange(taken.untold, std::nullopt);
  }
  return taken;
}

Drafts::~Drafts() = default;

bool Drafts::change(const store::Occasion& occasion, const Opened& opened, store::Hold hold,
                    const Change& change) {
  CHECK(opened.handle != 0);
  Shard& mine = shard(opened.file);
  MutexLock lock(mine.mutex);
  DraftPtr& draft = mine.drafts[opened.file];
  if (draft == nullptr) {
    draft = std::make_shared<Draft>();
    draft->tree = opened.tree;
    draft->file = opened.file;
    draft->store = &occasion.store();
    draft->clock = &occasion.clock();
    // Where the table says that it is: a rename that is over told the table, one that is not will
    // tell this draft.
    const auto handle = table_.find(opened.handle);
    draft->ancestors = handle ? handle->ancestors : std::vector<EntryId>{opened.parent};
    draft->path = handle ? handle->path : opened.path;
    ++count_;
    ++table_.open_;
  }
  DraftLayer& newest = draft->newest;
  // An older hold keeps whatever a newer one does.
  if (newest.empty()) newest.hold = std::move(hold);
  if (!newest.since) newest.since = occasion.clock().moment();
  const size_t before = newest.bytes.inline_bytes();
  const int64_t promised = newest.promised;
  change(newest);
  inline_bytes_ += newest.bytes.inline_bytes() - before;
  if (draft->tree.usage != nullptr)
    draft->tree.usage->promise(opened.file.share, newest.promised - promised);
  return newest.bytes.inline_bytes() > kMaxInlineBytes || newest.bytes.part_count() > kMaxParts ||
         inline_bytes_ > kMaxInlineBytesOfAll;
}

std::optional<DraftLayer> Drafts::look(FileKey file, uint64_t from, uint64_t to) const {
  if (!any()) return {};
  const Shard& mine = shard(file);
  MutexLock lock(mine.mutex);
  const auto found = mine.drafts.find(file);
  if (found == mine.drafts.end()) return {};
  const auto some_of = [&](const DraftLayer& layer) {
    DraftLayer some = {{},         layer.written, layer.changed,  layer.untold,
                       layer.told, layer.since,   layer.promised, layer.hold};
    some.bytes = layer.bytes.within(from, to);
    return some;
  };
  DraftLayer seen = some_of(found->second->storing);
  store::Hold older = found->second->storing.empty() ? found->second->newest.hold : seen.hold;
  seen.lay(some_of(found->second->newest));
  seen.hold = std::move(older);
  return seen;
}

bool Drafts::has(FileKey file) const {
  if (!any()) return false;
  const Shard& mine = shard(file);
  MutexLock lock(mine.mutex);
  return mine.drafts.contains(file);
}

// --- Storing ---

Task<Result<std::optional<SeenEntry>>> Drafts::find(store::Occasion& occasion, Draft& draft) {
  Shard& mine = shard(draft.file);
  while (true) {
    EntryId parent = kRootId;
    std::string folded;
    uint64_t moves = 0;
    {
      MutexLock lock(mine.mutex);
      moves = draft.moves;
      if (!draft.ancestors.empty()) parent = draft.ancestors.back();
      folded = folded_name(draft.tree, draft.path);
    }
    auto found = co_await find_child(occasion, draft.tree, parent, folded);
    if (!found) co_return found.error();
    if (*found && (*found)->entry->id == draft.file.id) co_return std::move(found);
    // Whoever moves it says where to before the rename is over.
    co_await table_.wait_for_rename(draft.file);
    MutexLock lock(mine.mutex);
    if (draft.moves == moves) co_return std::optional<SeenEntry>();
  }
}

// Waits in no line: whoever settles may be at the head of it. The guards are enough.
Task<Result<void>> Drafts::commit(Draft& draft) {
  store::Occasion occasion(*draft.store, locks_, *draft.clock);
  occasion.cause.operation = "Settle";
  std::shared_ptr<const Entry> before;
  Entry file;
  auto decide = [&](store::Attempt& attempt) -> Task<Result<void>> {
    auto found = co_await find(occasion, draft);
    if (!found) co_return found.error();
    before = nullptr;
    if (!*found) co_return Result<void>();  // It is gone, and nobody misses this.
    before = (*found)->entry;
    file = *before;
    TreeCommit commit(attempt, draft.tree.space, draft.tree.usage);
    auto done = co_await commit.begin();
    if (done) {
      done = co_await apply(occasion.store(), attempt.commit, draft.tree.content_place(),
                            draft.storing, file);
    }
    if (!done) co_return Error(done.error());
    touch(file, occasion.now);
    done = co_await commit.replace((*found)->parent, (*found)->folded, &**found, &file, &file);
    if (!done) co_return Error(done.error());
    co_return Result<void>();
  };
  auto done = co_await store::transact(occasion, decide);
  if (done && before != nullptr && is_watched(draft.tree)) {
    Shard& mine = shard(draft.file);
    MutexLock lock(mine.mutex);
    const Place place{draft.ancestors, draft.path};
    lock.unlock();
    announce_changed(draft.tree, place, *before, file);
  }
  co_return done;
}

Task<Result<void>> Drafts::settle(FileKey file) { return settle(file, std::nullopt); }

Task<Result<void>> Drafts::settle(FileKey file, std::optional<Moment> now) {
  if (!any()) co_return Result<void>();
  Shard& mine = shard(file);
  DraftPtr draft;
  while (draft == nullptr) {
    Pending<bool> turn;
    {
      MutexLock lock(mine.mutex);
      const auto found = mine.drafts.find(file);
      if (found == mine.drafts.end()) co_return Result<void>();
      if (!found->second->busy) {
        draft = found->second;
        draft->storing = draft->newest.take(now);
        if (draft->storing.empty()) co_return Result<void>();
        draft->busy = true;
        break;
      }
      found->second->waiting.push_back(&turn);
    }
    co_await turn;
  }
  auto done = co_await commit(*draft);
  std::vector<Pending<bool>*> waiting;
  {
    MutexLock lock(mine.mutex);
    draft->busy = false;
    if (done) {
      end_layer(*draft, draft->storing);
    } else {
      const size_t before =
          draft->storing.bytes.inline_bytes() + draft->newest.bytes.inline_bytes();
      draft->storing.lay(std::exchange(draft->newest, {}));
      draft->newest = std::exchange(draft->storing, {});
      inline_bytes_ += draft->newest.bytes.inline_bytes() - before;
    }
    waiting.swap(draft->waiting);
    forget_if_empty(mine, file);
  }
  for (auto* turn : waiting) turn->set(true);
  co_return done;
}

template <class Meant>
std::vector<FileKey> Drafts::keys(Meant meant) const {
  std::vector<FileKey> found;
  if (!any()) return found;
  for (const Shard& each : shards_) {
    MutexLock lock(each.mutex);
    for (const auto& [key, draft] : each.drafts) {
      if (meant(*draft)) found.push_back(key);
    }
  }
  return found;
}

Task<Result<void>> Drafts::settle_keys(std::vector<FileKey> files) {
  Result<void> all;
  for (const FileKey& file : files) {
    auto done = co_await settle(file);
    if (!done) all = done.error();
  }
  co_return all;
}

Task<Result<void>> Drafts::settle_share(store::SpaceId share) {
  return settle_keys(keys([&](const Draft& draft) { return draft.file.share == share; }));
}

Task<Result<void>> Drafts::settle_all() {
  return settle_keys(keys([](const Draft&) { return true; }));
}

Task<void> Drafts::settle_older(Moment now, int64_t ticks) {
  const auto files = keys([&](const Draft& draft) {
    const DraftLayer& newest = draft.newest;
    if (draft.busy || newest.empty()) return false;
    if (newest.bytes.empty()) return !newest.is_untold(now);
    return newest.since && newest.since->ticks + ticks <= now.ticks;
  });
  for (const FileKey& file : files) {
    auto done = co_await settle(file, now);
    if (!done) log_error("smb: what was written to a file cannot be stored yet");
  }
}

// --- Bookkeeping ---

void Drafts::forget_if_empty(Shard& mine, FileKey file) {
  const auto found = mine.drafts.find(file);
  if (found == mine.drafts.end()) return;
  const Draft& draft = *found->second;
  if (draft.busy || !draft.newest.empty() || !draft.waiting.empty()) return;
  mine.drafts.erase(found);
  --count_;
  --table_.open_;
}

void Drafts::end_layer(const Draft& draft, DraftLayer& layer) {
  inline_bytes_ -= layer.bytes.inline_bytes();
  if (draft.tree.usage != nullptr) draft.tree.usage->promise(draft.file.share, -layer.promised);
  layer = {};
}

void Drafts::discard(FileKey file) {
  if (!any()) return;
  Shard& mine = shard(file);
  MutexLock lock(mine.mutex);
  const auto found = mine.drafts.find(file);
  if (found == mine.drafts.end()) return;
  end_layer(*found->second, found->second->newest);
  forget_if_empty(mine, file);
}

void Drafts::discard_share(store::SpaceId share) {
  for (const FileKey& file : keys([&](const Draft& draft) { return draft.file.share == share; }))
    discard(file);
}

void Drafts::moved(FileKey file, const std::vector<EntryId>& ancestors, const std::string& path) {
  if (!any()) return;
  Shard& mine = shard(file);
  MutexLock lock(mine.mutex);
  const auto found = mine.drafts.find(file);
  if (found == mine.drafts.end()) return;
  ++found->second->moves;
  found->second->ancestors = ancestors;
  found->second->path = path;
}

}  // namespace kyanite::tree
