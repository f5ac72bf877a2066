#include "tree/drafts.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/log.h"
#include "store/transact.h"
#include "tree/announce.h"
#include "tree/change.h"
#include "tree/tree_commit.h"

namespace kyanite::tree {

namespace {

constexpr uint64_t kSector = 512;
// Long enough to make a file of 4 TiB anew, leaf by leaf.
constexpr int64_t kMaxSecondsPerSettle = 3600;

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
Task<store::Result<void>> apply(const store::Occasion& occasion, store::Commit& commit,
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
  auto done =
      co_await content::edit(occasion.store(), commit, place, content, edits, occasion.deadline);
  if (!done) co_return done.error();
  content.length = length;
  note_cleared(file, edits);
  file.smb.attributes |= kArchiveAttribute;
  co_return {};
}

}  // namespace

Drafts::~Drafts() = default;

Task<Result<void>> Drafts::make_room(FileKey file) {
  if (!any()) co_return Result<void>();
  bool much = is_over();
  {
    Shard& mine = shard(file);
    MutexLock lock(mine.mutex);
    const auto found = mine.drafts.find(file);
    if (found != mine.drafts.end()) {
      const content::Overlay& bytes = found->second->newest.bytes;
      much = much || bytes.inline_bytes() > kMaxInlineBytes || bytes.part_count() > kMaxParts;
    }
  }
  if (!much) co_return Result<void>();
  if (auto settled = co_await settle(file); !settled) co_return settled.error();
  // It is others who have so much. On a full disk none of them can be stored.
  Result<void> all;
  for (const FileKey& each : keys([](const Draft& draft) { return !draft.directory; })) {
    if (!is_over()) co_return Result<void>();
    auto settled = co_await settle(each);
    if (settled) continue;
    all = settled.error();
    if (settled.error() == Error(store::Error::kFull)) break;
  }
  if (!is_over()) co_return Result<void>();
  co_return all;
}

std::pair<Drafts::Draft&, bool> Drafts::begin(Shard& mine, const store::Occasion& occasion,
                                              const Tree& tree, FileKey file) {
  DraftPtr& draft = mine.drafts[file];
  const bool is_new = draft == nullptr;
  if (is_new) {
    draft = std::make_shared<Draft>();
    draft->tree = tree;
    draft->file = file;
    draft->store = &occasion.store();
    draft->clock = &occasion.clock();
    ++count_;
    ++table_.open_;
  }
  if (!draft->newest.since) draft->newest.since = occasion.clock().moment();
  return {*draft, is_new};
}

Result<void> Drafts::change(const store::Occasion& occasion, const Opened& opened, ByteRange range,
                            const Growth& growth, const Change& change) {
  CHECK(opened.handle != 0);
  Shard& mine = shard(opened.file);
  MutexLock lock(mine.mutex);
  if (auto may = table_.check_io(opened.handle, range, true); !may) return Error(may.error());
  if (Usage* usage = opened.tree.usage; usage != nullptr) {
    const auto known = mine.drafts.find(opened.file);
    const uint64_t more = known == mine.drafts.end() ? DraftLayer().missing(growth)
                                                     : known->second->newest.missing(growth);
    if (!usage->promise(opened.file.share, more)) return Error(Reason::kQuotaExceeded);
  }
  auto [draft, is_new] = begin(mine, occasion, opened.tree, opened.file);
  if (is_new) {
    // Where the table says that it is: a rename that is over told the table, one that is not will
    // tell this draft.
    const auto handle = table_.find(opened.handle);
    draft.where.ancestors = handle ? handle->ancestors : std::vector<EntryId>{opened.parent};
    draft.where.path = handle ? handle->path : opened.path;
    draft.session = handle ? handle->session : 0;
  }
  DraftLayer& newest = draft.newest;
  const size_t before = newest.bytes.inline_bytes();
  if (opened.tree.usage != nullptr) newest.promise(growth);
  change(newest);
  inline_bytes_ += newest.bytes.inline_bytes() - before;
  return {};
}

Task<void> Drafts::note_entry(const store::Occasion& occasion, const Tree& tree,
                              const std::vector<EntryId>& ancestors, std::string_view path) {
  if (ancestors.empty()) co_return;  // The root is in no directory.
  const FileKey directory = tree.key(ancestors.back());
  {
    Shard& mine = shard(directory);
    MutexLock lock(mine.mutex);
    auto [draft, is_new] = begin(mine, occasion, tree, directory);
    if (is_new) {
      draft.directory = true;
      ++directories_;
      const size_t slash = path.rfind('/');
      draft.where.ancestors.assign(ancestors.begin(), ancestors.end() - 1);
      draft.where.path = slash == std::string_view::npos ? "" : path.substr(0, slash);
    }
    draft.newest.written = draft.newest.changed = occasion.now;
  }
  if (directories_ > kMaxDirectories) (void)(co_await settle(directory)).ok();
}

store::KeyedLocks::Locking Drafts::lock_end(FileKey file) {
  return ends_.lock(std::to_string(file.share) + "/" + std::to_string(file.id));
}

std::optional<DraftLayer> Drafts::look(FileKey file, uint64_t from, uint64_t to) const {
  if (!any()) return {};
  const Shard& mine = shard(file);
  MutexLock lock(mine.mutex);
  const auto found = mine.drafts.find(file);
  if (found == mine.drafts.end()) return {};
  const auto some_of = [&](const DraftLayer& layer) {
    DraftLayer some = {{},          layer.written,  layer.changed,     layer.untold, layer.told,
                       layer.since, layer.promised, layer.promised_to, layer.kept};
    some.bytes = layer.bytes.within(from, to);
    return some;
  };
  DraftLayer seen = some_of(found->second->storing);
  seen.lay(some_of(found->second->newest));
  return seen;
}

bool Drafts::has(FileKey file) const {
  if (!any()) return false;
  const Shard& mine = shard(file);
  MutexLock lock(mine.mutex);
  return mine.drafts.contains(file);
}

void Drafts::end_writing(FileKey file, Time date) {
  if (!any()) return;
  Shard& mine = shard(file);
  MutexLock lock(mine.mutex);
  const auto found = mine.drafts.find(file);
  if (found != mine.drafts.end()) found->second->newest.end_writing(date);
}

// --- Storing ---

Task<Result<std::optional<SeenEntry>>> Drafts::find(store::Occasion& occasion, Draft& draft) {
  Shard& mine = shard(draft.file);
  while (true) {
    std::vector<std::pair<EntryId, std::string>> places;
    uint64_t moves = 0;
    {
      MutexLock lock(mine.mutex);
      moves = draft.moves;
      const auto add = [&](const Where& where) {
        places.emplace_back(where.ancestors.empty() ? kRootId : where.ancestors.back(),
                            folded_name(draft.tree, where.path));
      };
      add(draft.where);
      for (const Where& where : draft.perhaps) add(where);
    }
    for (const auto& [parent, folded] : places) {
      auto found = co_await find_child(occasion, draft.tree, parent, folded);
      if (!found) co_return found.error();
      if (*found && (*found)->entry->id == draft.file.id) co_return std::move(found);
    }
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
  // What is too much for one commit is done in portions, which need one.
  occasion.deadline = Deadline(*draft.clock, kMaxSecondsPerSettle);
  const store::Hold hold = draft.store->hold();
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
      done =
          co_await apply(occasion, attempt.commit, draft.tree.content_place(), draft.storing, file);
    }
    if (!done) co_return Error(done.error());
    if (!draft.directory) touch(file, occasion.now);
    done = co_await commit.replace((*found)->parent, (*found)->folded, &**found, &file, &file);
    if (!done) co_return Error(done.error());
    co_return Result<void>();
  };
  auto done = co_await store::transact(occasion, decide);
  if (done && before != nullptr && !draft.directory && is_watched(draft.tree)) {
    Shard& mine = shard(draft.file);
    MutexLock lock(mine.mutex);
    const EntryPlace place{draft.where.ancestors, draft.where.path};
    lock.unlock();
    announce_changed(draft.tree, place, *before, file);
  }
  co_return done;
}

Task<Result<void>> Drafts::commit_anew(Draft& draft) {
  Shard& mine = shard(draft.file);
  const store::Hold hold = draft.store->hold();
  std::vector<content::Overlay::Part> parts;
  size_t kept_before = 0;
  {
    MutexLock lock(mine.mutex);
    parts = draft.storing.bytes.parts(0, UINT64_MAX);
    kept_before = draft.storing.kept.size();
  }
  for (const auto& part : parts) {
    if (!part.piece || !part.piece->ref) continue;
    content::Piece piece = *part.piece;
    auto bytes = co_await draft.store->read_run(*piece.ref, piece.skip, piece.length, false);
    if (!bytes && bytes.error() == store::Error::kCorrupt && ++draft.unreadable >= kMaxUnreadable) {
      MutexLock lock(mine.mutex);
      log_error("smb: the disk has lost bytes that were written to " + draft.where.path);
      draft.storing.bytes.forget(part.from, part.to);
      table_.note_lost(draft.file);
      continue;
    }
    if (!bytes) co_return Error(bytes.error());
    auto ref = co_await draft.store->append(std::move(std::get<Buffer>(*bytes)));
    if (!ref) co_return Error(ref.error());
    piece.ref = *ref;
    piece.skip = 0;
    MutexLock lock(mine.mutex);
    draft.storing.kept.push_back(draft.store->keep({*ref}));
    draft.storing.bytes.write(std::move(piece));
  }
  {
    MutexLock lock(mine.mutex);
    auto& kept = draft.storing.kept;
    kept.erase(kept.begin(), kept.begin() + static_cast<std::ptrdiff_t>(kept_before));
  }
  co_return co_await commit(draft);
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
  auto storing = draft->failed ? commit_anew(*draft) : commit(*draft);
  auto done = co_await std::move(storing);
  if (draft->directory) done = Result<void>();  // Its times are promised to nobody.
  std::vector<Pending<bool>*> waiting;
  {
    MutexLock lock(mine.mutex);
    draft->busy = false;
    note_failed(*draft, !done);
    if (done) {
      ++stored_;
      draft->unreadable = 0;
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

template <class See>
void Drafts::see_all(See see) const {
  if (!any()) return;
  for (const Shard& each : shards_) {
    MutexLock lock(each.mutex);
    for (const auto& [key, draft] : each.drafts) see(*draft);
  }
}

template <class Meant>
std::vector<FileKey> Drafts::keys(Meant meant) const {
  std::vector<FileKey> found;
  see_all([&](const Draft& draft) {
    if (meant(draft)) found.push_back(draft.file);
  });
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
  return settle_keys(
      keys([&](const Draft& draft) { return draft.file.share == share && !draft.directory; }));
}

Task<Result<void>> Drafts::settle_share_unless_full(store::SpaceId share) {
  auto settled = co_await settle_share(share);
  if (!settled && settled.error() == Error(store::Error::kFull)) co_return Result<void>();
  co_return settled;
}

Task<Result<void>> Drafts::settle_all() {
  return settle_keys(keys([](const Draft&) { return true; }));
}

std::vector<Drafts::Old> Drafts::old(Moment now, int64_t ticks) const {
  struct Found {
    bool failed = false;
    Moment since;
    Old old;
  };
  std::vector<Found> found;
  const auto is_old = [&](const Draft& draft) {
    const DraftLayer& newest = draft.newest;
    if (draft.busy || newest.empty()) return false;
    if (newest.bytes.empty() && newest.is_untold(now)) return false;
    return !newest.since || newest.since->ticks + ticks <= now.ticks;
  };
  see_all([&](const Draft& draft) {
    if (!is_old(draft)) return;
    const Moment since = draft.newest.since.value_or(Moment());
    found.push_back({draft.failed, since, {draft.file, draft.session}});
  });
  std::stable_sort(found.begin(), found.end(), [](const Found& one, const Found& other) {
    return std::tie(one.failed, one.since) < std::tie(other.failed, other.since);
  });
  std::vector<Old> all;
  all.reserve(found.size());
  for (const Found& each : found) all.push_back(each.old);
  return all;
}

Task<bool> Drafts::settle_old(FileKey file, Moment now) {
  auto done = co_await settle(file, now);
  co_return done.ok();
}

// --- Bookkeeping ---

void Drafts::forget_if_empty(Shard& mine, FileKey file) {
  const auto found = mine.drafts.find(file);
  if (found == mine.drafts.end()) return;
  Draft& draft = *found->second;
  if (draft.busy || !draft.newest.empty() || !draft.waiting.empty()) return;
  note_failed(draft, false);
  if (draft.directory) --directories_;
  mine.drafts.erase(found);
  --count_;
  --table_.open_;
}

void Drafts::note_failed(Draft& draft, bool failed) {
  if (std::exchange(draft.failed, failed) == failed) return;
  if (failed && failed_++ == 0)
    log_error("smb: what was written to files cannot be stored yet; it is tried again");
  if (!failed && --failed_ == 0) log_info("smb: what was written to files is stored again");
}

void Drafts::end_layer(const Draft& draft, DraftLayer& layer) {
  inline_bytes_ -= layer.bytes.inline_bytes();
  if (draft.tree.usage != nullptr) draft.tree.usage->take_back(draft.file.share, layer.promised);
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
  found->second->where = {ancestors, path};
  found->second->perhaps.clear();
}

void Drafts::perhaps_moved(FileKey file, Where where) {
  if (!any()) return;
  Shard& mine = shard(file);
  MutexLock lock(mine.mutex);
  const auto found = mine.drafts.find(file);
  if (found != mine.drafts.end()) found->second->perhaps.push_back(std::move(where));
}

}  // namespace kyanite::tree
