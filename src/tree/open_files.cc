#include "tree/open_files.h"

#include <algorithm>
#include <bit>
#include <iterator>

#include "base/random.h"
#include "tree/aftermath.h"
#include "tree/drafts.h"

namespace kyanite::tree {

using concurrency::FileOperation;

const Clock& system_clock() {
  static const SystemClock clock;
  return clock;
}

// A start that differs between runs, so that a handle id noted before a restart meets nothing.
OpenFiles::OpenFiles(const Clock& clock)
    : clock_(clock),
      drafts_(std::make_unique<Drafts>(*this)),
      next_handle_((random_u64() >> 24) + 1) {}
OpenFiles::~OpenFiles() = default;

// --- Shards ---

OpenFiles::ShardSet OpenFiles::shards_of(store::SpaceId share, const std::vector<uint64_t>& ids) {
  ShardSet set = 0;
  for (const uint64_t id : ids) set |= ShardSet{1} << shard_of(FileKey{share, id});
  return set;
}

// Several shards at once, in one order for all, so that no two wait for each other.
class OpenFiles::LockedShards {
 public:
  LockedShards(OpenFiles& table, ShardSet set) {
    locks_.reserve(static_cast<size_t>(std::popcount(set)));
    for (ShardSet left = set; left != 0; left &= left - 1) {
      Shard& next = table.shards_[static_cast<size_t>(std::countr_zero(left))];
      locks_.push_back(std::make_unique<MutexLock>(next.mutex));
    }
  }

 private:
  std::vector<std::unique_ptr<MutexLock>> locks_;
};

OpenFiles::File* OpenFiles::find_file(const FileKey& key) {
  auto& files = shard(key).files;
  const auto found = files.find(key);
  return found == files.end() ? nullptr : &found->second;
}

// --- Admissions ---

OpenFiles::Admission& OpenFiles::Admission::operator=(Admission&& other) noexcept {
  if (this != &other) {
    leave();
    table_ = std::exchange(other.table_, nullptr);
    file_ = other.file_;
    operation_ = other.operation_;
  }
  return *this;
}

void OpenFiles::Admission::leave() {
  if (table_ == nullptr) return;
  OpenFiles& table = *std::exchange(table_, nullptr);
  std::vector<Wait*> waiting;
  {
    Shard& shard = table.shard(file_);
    MutexLock lock(shard.mutex);
    File& file = shard.files.at(file_);
    file.in_flight.erase(std::find(file.in_flight.begin(), file.in_flight.end(), operation_));
    waiting.swap(file.waiting);
    if (operation_ == FileOperation::kRenameFile)
      file.moving = std::count(file.in_flight.begin(), file.in_flight.end(), operation_) > 0;
    // Without handles the mark was kept for the removal that is over now.
    if (file.handles.empty() && file.in_flight.empty()) table.unmark(shard, file_);
    forget_if_idle(shard, file_);
  }
  for (Wait* wait : waiting) wait->turn.set(true);
}

void OpenFiles::Admission::renamed(std::vector<uint64_t> ancestors, std::string path) {
  OpenFiles& table = *table_;
  Shard& shard = table.shard(file_);
  const auto above = [&]() NO_THREAD_SAFETY_ANALYSIS {
    ShardSet set = 0;
    for (const HandleId id : shard.files.at(file_).handles)
      set |= shards_of(file_.share, shard.handles.at(id).ancestors);
    return set;
  };
  const ShardSet fixed = shards_of(file_.share, ancestors) | ShardSet{1} << shard_of(file_);
  // Handles that are opened meanwhile may hang elsewhere.
  for (ShardSet wanted = fixed;;) {
    LockedShards locked(table, wanted);
    const ShardSet needed = fixed | above();
    if ((needed & ~wanted) != 0) {
      wanted |= needed;
      continue;
    }
    for (const HandleId id : shard.files.at(file_).handles) {
      Handle& handle = shard.handles.at(id);
      table.count_below(handle, false);
      handle.ancestors = ancestors;
      handle.path = path;
      ++handle.moves;
      table.count_below(handle, true);
    }
    break;
  }
  table.drafts_->moved(file_, ancestors, path);
}

void OpenFiles::Admission::perhaps_renamed(std::vector<uint64_t> ancestors, std::string path) {
  if (table_ != nullptr)
    table_->drafts_->perhaps_moved(file_, {std::move(ancestors), std::move(path)});
}

// --- Precedences ---

OpenFiles::Precedence& OpenFiles::Precedence::operator=(Precedence&& other) noexcept {
  if (this != &other) {
    give_up();
    table_ = std::exchange(other.table_, nullptr);
    file_ = other.file_;
    operations_ = other.operations_;
  }
  return *this;
}

void OpenFiles::Precedence::give_up() {
  if (table_ == nullptr) return;
  OpenFiles& table = *std::exchange(table_, nullptr);
  Aftermath after(table);
  Shard& shard = table.shard(file_);
  MutexLock lock(shard.mutex);
  File& file = shard.files.at(file_);
  file.precedences.erase(std::find(file.precedences.begin(), file.precedences.end(), operations_));
  wake_all(file, after);
  forget_if_idle(shard, file_);
}

void OpenFiles::take_precedence(File& file, FileKey key, Operations operations,
                                Precedence& precedence) {
  if (precedence.table_ != nullptr) return;
  file.precedences.push_back(operations);
  precedence.table_ = this;
  precedence.file_ = key;
  precedence.operations_ = operations;
}

bool OpenFiles::comes_later(const Shard& shard, FileKey key, FileOperation operation) {
  const auto found = shard.files.find(key);
  if (found == shard.files.end()) return false;
  const auto& precedences = found->second.precedences;
  return std::any_of(precedences.begin(), precedences.end(),
                     [&](Operations preceding) { return (preceding & only(operation)) != 0; });
}

// --- Operations of REST ---

uint64_t OpenFiles::locks_at(const Shard& shard, FileKey key) {
  const auto found = shard.files.find(key);
  const bool known = found != shard.files.end() && found->second.lock_moves != 0;
  return known ? found->second.lock_moves : shard.lock_moves;
}

OpenFiles::Admission OpenFiles::note(Shard& shard, FileKey key, FileOperation operation) {
  shard.files[key].in_flight.push_back(operation);
  return Admission(this, key, operation);
}

std::optional<Refusal> OpenFiles::refuse(Shard& shard, FileKey key, FileOperation operation,
                                         Aftermath& after) {
  const auto found = shard.files.find(key);
  if (found == shard.files.end()) return std::nullopt;
  if (shard.delete_pending.contains(key)) return Refusal::kDeletePending;
  if (found->second.closing != 0) return Refusal::kCached;
  const Grants::Doer doer;
  const auto beside = [&](const Handle& handle) { return compatible(operation, handle.mode); };
  const auto met = meet(shard, key, doer, beside, after);
  if (met) return met == Refusal::kUndecided ? Refusal::kCached : met;
  // REST writes do not look which range they would touch.
  if (operation == FileOperation::kPutRange && !found->second.locks.empty())
    return Refusal::kLockConflict;
  const auto rule = [&](concurrency::GrantKind kind, concurrency::Caching held) {
    return on_operation(kind, held, operation);
  };
  if (disturb(shard, key, doer, rule, after)) return Refusal::kCached;
  // A handle without a client that was in the way may have been the last of a file to be deleted.
  if (shard.delete_pending.contains(key)) return Refusal::kDeletePending;
  return std::nullopt;
}

// Where locks come and go without a pause an operation does not wait for ever. One that reads or
// writes the bytes is told of the locks, as long as they are known, which those are that matter.
std::optional<Refusal> OpenFiles::wait_for_drafts(const Shard& shard, FileKey key,
                                                  FileOperation operation, Awaited& awaited) {
  if (awaited.file != key) return Refusal::kCached;
  if (awaited.locks == locks_at(shard, key)) return std::nullopt;
  if (++awaited.again <= kMostLooksAtLocks) return Refusal::kCached;
  const auto found = shard.files.find(key);
  const bool known = found != shard.files.end() && found->second.lock_moves != 0;
  const bool bytes = operation == FileOperation::kGetFile || operation == FileOperation::kPutRange;
  if (known && bytes) return Refusal::kLockConflict;
  return std::nullopt;
}

void OpenFiles::Awaited::begin(FileKey key, uint64_t at) {
  if (file != key) again = 0;
  file = key;
  locks = at;
}

Result<OpenFiles::Admission> OpenFiles::admit(FileKey key, FileOperation operation,
                                              Awaited& awaited) {
  // Who deletes the file deletes what was written to it, and may do so because the disk is full.
  const bool looks =
      operation != FileOperation::kDeleteFile && operation != FileOperation::kListFiles;
  const bool unsettled = looks && !idle() && drafts_->has(key);
  Aftermath after(*this);
  Shard& mine = shard(key);
  MutexLock lock(mine.mutex);
  auto refusal = refuse(mine, key, operation, after);
  if (!refusal && unsettled) refusal = wait_for_drafts(mine, key, operation, awaited);
  if (!refusal && comes_later(mine, key, operation)) refusal = Refusal::kCached;
  if (!refusal) return note(mine, key, operation);
  if (refusal == Refusal::kCached) awaited.begin(key, locks_at(mine, key));
  return Error(*refusal);
}

Result<void> OpenFiles::admit_reader(FileKey key, FileOperation operation, ByteRange range,
                                     Awaited& awaited) {
  const bool unsettled = !idle() && drafts_->has(key);
  Aftermath after(*this);
  Shard& mine = shard(key);
  MutexLock lock(mine.mutex);
  auto refusal = refuse(mine, key, operation, after);
  const auto found = mine.files.find(key);
  if (!refusal && range.length != 0 && found != mine.files.end() &&
      found->second.locks.forbid(0, range, false))
    refusal = Refusal::kLockConflict;
  // Who reads no bytes does not mind locks.
  const bool waits = unsettled && (range.length != 0 || awaited.file != key);
  if (!refusal && waits) refusal = wait_for_drafts(mine, key, operation, awaited);
  if (refusal == Refusal::kCached) awaited.begin(key, locks_at(mine, key));
  if (after.any()) forget_if_idle(mine, key);
  if (refusal) return Error(*refusal);
  return {};
}

Result<OpenFiles::Admission> OpenFiles::admit_directory_rename(FileKey directory) {
  Aftermath after(*this);
  Shard& mine = shard(directory);
  MutexLock lock(mine.mutex);
  const auto refusal = refuse(mine, directory, FileOperation::kRenameFile, after);
  if (refusal) return Error(*refusal);
  const auto found = mine.files.find(directory);
  if (found != mine.files.end() && found->second.open_below > 0)
    return Error(Refusal::kSharingViolation);
  if (comes_later(mine, directory, FileOperation::kRenameFile)) return Error(Refusal::kCached);
  Admission admission = note(mine, directory, FileOperation::kRenameFile);
  mine.files.at(directory).moving = true;
  return admission;
}

// --- Opens ---

std::optional<OpenFiles::Obstacle> OpenFiles::deletion(const FileKey& key) {
  if (!shard(key).delete_pending.contains(key)) return std::nullopt;
  File* file = find_file(key);
  // Without handles it is being removed at this moment, and then it is nobody's.
  if (file->handles.empty()) return Obstacle{{}, file};
  return Obstacle{Refusal::kDeletePending};
}

std::optional<OpenFiles::Obstacle> OpenFiles::obstacle(const FileOpen& request, Aftermath& after) {
  Shard& mine = shard(request.file);
  File* file = find_file(request.file);
  const auto& lease = request.caching.lease;
  if (lease) {
    const auto leased = leases_.find(*lease);
    if (leased && *leased != request.file) return Obstacle{Refusal::kLeaseElsewhere};
  }
  if (file != nullptr) {
    if (auto deleted = deletion(request.file)) return deleted;
    const Grants::Doer doer{0, lease};
    const concurrency::Open mode{request.mode.access | request.besides, request.mode.share};
    const auto beside = [&](const Handle& handle) { return compatible(mode, handle.mode); };
    const auto refusal = meet(mine, request.file, doer, beside, after);
    if (refusal == Refusal::kUndecided) return Obstacle{{}, file};
    if (refusal == Refusal::kCached) return Obstacle{{}, file, true};
    if (refusal) return Obstacle{refusal};
    const size_t most = request.file.id == kRootId ? kMaxHandlesOfRoot : kMaxHandlesPerFile;
    if (file->handles.size() >= most) return Obstacle{Refusal::kTooManyHandles};
    const auto rule = [&](concurrency::GrantKind kind, concurrency::Caching held) {
      auto effect = on_open(kind, held, request.reach, request.replaces);
      if (!request.delete_on_close) return effect;
      const auto moved = on_use(kind, held, concurrency::HandleUse::kMove);
      return concurrency::Effect{effect.kept & moved.kept, effect.waits || moved.waits};
    };
    if (disturb(mine, request.file, doer, rule, after)) return Obstacle{{}, file, true};
    // Handles without clients that were in the way may have been to delete it.
    if (auto deleted = deletion(request.file)) return deleted;
    // Who opens the content as it is waits for breaks under way, even where it takes nothing away.
    const bool looks = request.reach == concurrency::OpenReach::kContent && !request.replaces;
    if (looks && file->grants.breaking_beside(doer)) return Obstacle{{}, file, true};
  }
  if (auto busy = in_the_way(request)) return busy;
  if (!handle_counts_.add(request.file.share)) return Obstacle{Refusal::kTooManyHandles};
  if (!lease || leases_.add(*lease, request.file)) return std::nullopt;
  handle_counts_.remove(request.file.share);
  return Obstacle{Refusal::kLeaseElsewhere};
}

std::optional<OpenFiles::Obstacle> OpenFiles::in_the_way(const FileOpen& request) {
  const auto conflicts = [&](FileOperation operation) {
    return !compatible(operation, request.mode);
  };
  if (File* file = find_file(request.file)) {
    if (std::any_of(file->in_flight.begin(), file->in_flight.end(), conflicts))
      return Obstacle{{}, file, false, operations_that(conflicts), request.file};
  }
  for (const uint64_t ancestor : request.ancestors) {
    const FileKey key{request.file.share, ancestor};
    File* directory = find_file(key);
    if (directory != nullptr && directory->moving)
      return Obstacle{{}, directory, false, only(FileOperation::kRenameFile), key};
  }
  return std::nullopt;
}

HandleId OpenFiles::add(FileOpen request) {
  const FileKey key = request.file;
  Shard& mine = shard(key);
  const HandleId id = next_handle_.fetch_add(1) << kShardBits | shard_of(key);
  grant(mine, request, id);
  request.caching.holder = nullptr;
  request.may_wait = nullptr;
  File& file = mine.files[key];
  file.handles.push_back(id);
  if (request.undecided) ++file.undecided;
  ++open_;
  const auto added = mine.handles.emplace(id, Handle{std::move(request), id, {}, 0}).first;
  count_below(added->second, true);
  return id;
}

Task<kyanite::Result<HandleId, Refusal>> OpenFiles::open(FileOpen request) {
  const ShardSet set =
      shards_of(request.file.share, request.ancestors) | ShardSet{1} << shard_of(request.file);
  Precedence precedence;
  while (true) {
    Wait wait;
    wait.ticket = request.ticket;
    bool cached = false;
    {
      Aftermath after(*this);
      LockedShards locked(*this, set);
      const auto met = obstacle(request, after);
      if (!met) co_return add(std::move(request));
      if (met->refusal) co_return *met->refusal;
      met->wait_for->waiting.push_back(&wait);
      if (met->in_flight != 0)
        take_precedence(*met->wait_for, met->key, met->in_flight, precedence);
      cached = met->cached;
    }
    if (cached) precedence = {};
    if (cached && request.may_wait && !request.may_wait())
      cancel_open(request.file, request.ticket);
    if (!co_await wait.turn) co_return Refusal::kCancelled;
  }
}

void OpenFiles::cancel_open(FileKey key, uint64_t ticket) {
  Aftermath after(*this);
  Shard& mine = shard(key);
  MutexLock lock(mine.mutex);
  const auto file = mine.files.find(key);
  if (file == mine.files.end()) return;
  auto& waiting = file->second.waiting;
  const auto found = std::find_if(waiting.begin(), waiting.end(),
                                  [&](const Wait* wait) { return wait->ticket == ticket; });
  if (found == waiting.end()) return;
  after.wake(*found, false);
  waiting.erase(found);
  forget_if_idle(mine, key);
}

void OpenFiles::decide(HandleId handle) {
  Aftermath after(*this);
  Shard& mine = shard(handle);
  MutexLock lock(mine.mutex);
  const auto found = mine.handles.find(handle);
  if (found == mine.handles.end() || !std::exchange(found->second.undecided, false)) return;
  File& file = mine.files.at(found->second.file);
  --file.undecided;
  wake_all(file, after);
}

std::optional<Handle> OpenFiles::find(HandleId handle) const {
  const Shard& mine = shard(handle);
  MutexLock lock(mine.mutex);
  const auto found = mine.handles.find(handle);
  if (found == mine.handles.end()) return std::nullopt;
  return found->second;
}

bool OpenFiles::is_open(HandleId handle) const {
  const Shard& mine = shard(handle);
  MutexLock lock(mine.mutex);
  return mine.handles.contains(handle);
}

void OpenFiles::note_lost(FileKey key) {
  Shard& mine = shard(key);
  MutexLock lock(mine.mutex);
  const auto file = mine.files.find(key);
  if (file == mine.files.end()) return;
  for (const HandleId id : file->second.handles) {
    Handle& handle = mine.handles.at(id);
    if (concurrency::kWriteAccess.within(handle.mode.access)) handle.lost = true;
  }
}

kyanite::Result<bool, Refusal> OpenFiles::take_lost(HandleId handle) {
  Shard& mine = shard(handle);
  MutexLock lock(mine.mutex);
  const auto found = mine.handles.find(handle);
  if (found == mine.handles.end()) return Refusal::kNoSuchHandle;
  return std::exchange(found->second.lost, false);
}

// --- Bookkeeping ---

Handle OpenFiles::remove(Shard& shard, std::map<HandleId, Handle>::iterator handle,
                         Aftermath& after) {
  const HandleId id = handle->first;
  File& file = shard.files.at(handle->second.file);
  std::erase(file.handles, id);
  file.closing -= handle->second.closing;
  if (handle->second.undecided) --file.undecided;
  const store::SpaceId share = handle->second.file.share;
  handle_counts_.remove(share);
  if (handle->second.watch) after.close_watch(*handle->second.watch);
  const size_t given_back = file.locks.remove_all(id);
  if (given_back != 0) note_lock_move(file);
  lock_counts_.remove(share, given_back);
  std::erase_if(file.lock_waits, [&](LockWait* wait) {
    if (wait->handle == id) after.wake(wait, Refusal::kRangeNotLocked);
    return wait->handle == id;
  });
  retry_locks(file, share, after);
  if (const auto over = file.grants.remove(id)) leases_.remove(*over);
  note_breaks(shard, handle->second.file);
  wake_all(file, after);
  if (const auto parked = shard.parked.find(id); parked != shard.parked.end()) {
    if (parked->second.front != nullptr) after.end(std::move(parked->second.front));
    shard.parked.erase(parked);
    --parked_;
    parked_counts_.remove(share);
  }
  Handle removed = std::move(handle->second);
  shard.handles.erase(handle);
  --open_;
  return removed;
}

void OpenFiles::count_below(const Handle& handle, bool opened) {
  for (const uint64_t ancestor : handle.ancestors) {
    const FileKey key{handle.file.share, ancestor};
    Shard& above = shard(key);
    File& directory = above.files[key];
    if (opened) {
      ++directory.open_below;
    } else {
      --directory.open_below;
    }
    forget_if_idle(above, key);
  }
}

void OpenFiles::uncount(const Handle& handle) {
  for (const uint64_t ancestor : handle.ancestors) {
    const FileKey key{handle.file.share, ancestor};
    Shard& above = shard(key);
    MutexLock lock(above.mutex);
    --above.files.at(key).open_below;
    forget_if_idle(above, key);
  }
}

void OpenFiles::mark(Shard& shard, FileKey key) {
  if (shard.delete_pending.insert(key).second) ++marked_;
}

void OpenFiles::unmark(Shard& shard, FileKey key) {
  if (shard.delete_pending.erase(key) != 0) --marked_;
}

void OpenFiles::forget_if_idle(Shard& shard, FileKey key) {
  const auto found = shard.files.find(key);
  if (found == shard.files.end() || !found->second.idle()) return;
  shard.lock_moves = std::max(shard.lock_moves, found->second.lock_moves);
  shard.files.erase(found);
}

}  // namespace kyanite::tree
