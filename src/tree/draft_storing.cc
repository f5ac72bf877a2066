// Storing drafts: see tree/drafts.h.
#include <algorithm>
#include <new>
#include <utility>

#include "base/log.h"
#include "store/checksum.h"
#include "store/transact.h"
#include "tree/announce.h"
#include "tree/change.h"
#include "tree/drafts.h"
#include "tree/tree_commit.h"

namespace kyanite::tree {

namespace {

constexpr uint64_t kSector = 512;
// Long enough to make a file of 4 TiB anew, leaf by leaf.
constexpr int64_t kMaxSecondsPerSettle = 3600;
constexpr int64_t kFirstRest = kTicksPerSecond / 4;

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

// The bytes of a piece as they were written. The store may trust what it has in memory of a run,
// and what is written anew gets a checksum that is right whatever it has.
Task<store::Result<Buffer>> read_again(store::Store& store, const content::Piece& piece) {
  const store::Ref ref = *piece.ref;
  auto read = co_await store.read_run(ref, 0, ref.length, false);
  if (!read) co_return read.error();
  Buffer& run = std::get<Buffer>(*read);
  if (store::crc32c(run.view()) != ref.crc32c) co_return store::Error::kCorrupt;
  if (piece.length == ref.length) co_return std::move(run);
  co_return Buffer::copy_of(run.view().substr(piece.skip, piece.length));
}

}  // namespace

Task<Result<std::optional<SeenEntry>>> Drafts::find(store::Occasion& occasion, Draft& draft) {
  Shard& mine = shard(draft.file);
  while (true) {
    std::vector<std::pair<EntryId, std::string>> places;
    uint64_t moves = 0;
    {
      MutexLock lock(mine.mutex);
      moves = draft.moves;
      const auto add = [&](const Where& where) {
        places.emplace_back(where.parent(), folded_name(draft.tree, where.path));
      };
      add(draft.where);
      if (const auto perhaps = mine.perhaps.find(draft.file); perhaps != mine.perhaps.end())
        for (const Where& where : perhaps->second) add(where);
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
  std::shared_ptr<const Entry> before;  // Null: it is gone.
  Entry file;
  auto decide = [&](store::Attempt& attempt) -> Task<Result<void>> {
    auto found = co_await find(occasion, draft);
    if (!found) co_return found.error();
    before = nullptr;
    if (!*found) co_return Result<void>();
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
  if (done && before == nullptr) {
    // Nobody misses what was written to a file that was removed. Who removes it says so before that
    // is over.
    const bool goes = table_.is_being_removed(draft.file);
    Shard& mine = shard(draft.file);
    MutexLock lock(mine.mutex);
    if (!goes && !draft.removed && !draft.directory && !draft.storing.bytes.empty())
      give_up(mine, draft, "the file is not where it was");
  }
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
  draft.rewritten = false;
  auto written = co_await write_anew(draft);
  {
    // What was written over is not kept any more, however far that came.
    MutexLock lock(mine.mutex);
    std::vector<store::Ref> refs;
    for (const auto& part : draft.storing.bytes.parts(0, UINT64_MAX)) {
      if (part.piece && part.piece->ref) refs.push_back(*part.piece->ref);
    }
    draft.storing.kept.assign(1, draft.store->keep(std::move(refs)));
  }
  if (!written) co_return written;
  draft.rewritten = true;
  draft.unreadable = 0;
  draft.unreadable_since.reset();
  co_return co_await commit(draft);
}

Task<Result<void>> Drafts::write_anew(Draft& draft) {
  Shard& mine = shard(draft.file);
  std::vector<content::Overlay::Part> parts;
  {
    MutexLock lock(mine.mutex);
    parts = draft.storing.bytes.parts(0, UINT64_MAX);
  }
  for (const auto& part : parts) {
    if (!part.piece || !part.piece->ref) continue;
    content::Piece piece = *part.piece;
    auto bytes = co_await read_again(*draft.store, piece);
    if (!bytes && is_hopeless(draft, bytes.error())) {
      MutexLock lock(mine.mutex);
      draft.storing.bytes.forget(part.from, part.to);
      give_up(mine, draft, "the disk does not have it any more");
      continue;
    }
    if (!bytes) co_return Error(bytes.error());
    auto ref = co_await draft.store->append(std::move(*bytes));
    if (!ref) co_return Error(ref.error());
    piece.ref = *ref;
    piece.skip = 0;
    MutexLock lock(mine.mutex);
    draft.storing.kept.push_back(draft.store->keep({*ref}));
    draft.storing.bytes.write(std::move(piece));
  }
  co_return Result<void>();
}

bool Drafts::is_hopeless(Draft& draft, store::Error why) {
  if (why != store::Error::kCorrupt && why != store::Error::kIo) return false;
  const Moment now = draft.clock->moment();
  if (!draft.unreadable_since) draft.unreadable_since = now;
  if (++draft.unreadable < kMaxUnreadable) return false;
  return why == store::Error::kCorrupt ||
         now >= after_seconds(*draft.unreadable_since, kMaxUnreadableSeconds);
}

void Drafts::give_up(Shard& mine, const Draft& draft, std::string_view why) {
  log_error("smb: what was written to " + draft.where.path + " is lost: " + std::string(why));
  ++mine.given_up;
  table_.note_lost(draft.file);
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
        if (draft->storing.empty()) {
          forget_if_empty(mine, file);
          co_return Result<void>();
        }
        draft->busy = true;
        break;
      }
      found->second->waiting.push_back(&turn);
    }
    co_await turn;
  }
  Result<void> done = Error(store::Error::kBusy);
  try {
    auto storing = draft->anew ? commit_anew(*draft) : commit(*draft);
    done = co_await std::move(storing);
  } catch (const std::bad_alloc&) {
    // There may be memory for it later.
  }
  if (draft->directory) done = Result<void>();  // Its times are promised to nobody.
  std::vector<Pending<bool>*> waiting;
  {
    MutexLock lock(mine.mutex);
    draft->busy = false;
    note_failed(*draft, !done);
    // What cannot be read below it is not mended by writing it again and again.
    if (done) {
      draft->rewritten = false;
      draft->unreadable = 0;
      draft->unreadable_since.reset();
    }
    draft->anew = !done && (done.error() != Error(store::Error::kCorrupt) || !draft->rewritten);
    draft->rest = done ? 0 : std::clamp(draft->rest * 2, kFirstRest, kLongestRest);
    draft->tried = draft->clock->moment();
    if (done) {
      ++stored_;
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

}  // namespace kyanite::tree
