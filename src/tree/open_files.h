// The open-file table: what SMB clients have open, what they cache of it, which byte ranges they
// hold locked and which files wait to be deleted, keyed by file id. It is the one place where both
// front ends learn whether an operation can go on beside what others do. REST operations never stay
// in it: they are admitted, do their commit and leave.
//
// All of it is volatile. After a restart no handle is open and no file is marked for deletion.
//
// The table is cut into shards by file, each with a mutex of its own. What concerns one file alone,
// as every REST operation does, asks one shard. Opening asks for those of the directories above as
// well, in one order for all. Nothing ever holds all of them.
//
// Every member may be called from any thread. A coroutine that waits resumes on its executor. Waits
// that end by time end when somebody calls pass_time().
#pragma once

#include <array>
#include <atomic>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/executor.h"
#include "base/fair_counts.h"
#include "base/mutex.h"
#include "base/result.h"
#include "base/task.h"
#include "store/key.h"
#include "tree/error.h"
#include "tree/handle.h"
#include "tree/held_locks.h"
#include "tree/lease_index.h"
#include "tree/limits.h"
#include "tree/records.h"
#include "tree/snapshot_opens.h"
#include "tree/watchers.h"

namespace kyanite::tree {

// The clock of the system.
const Clock& system_clock();

class Drafts;

class OpenFiles {
 public:
  // The clock outlives the table.
  explicit OpenFiles(const Clock& clock = system_clock());
  ~OpenFiles();
  OpenFiles(const OpenFiles&) = delete;
  OpenFiles& operator=(const OpenFiles&) = delete;

  // Lets a REST operation, or the removal of a file by its last close, be one step with its commit:
  // while it stands nobody can open the file in a way that conflicts, mark it for deletion or lock
  // a range of it. Those who try wait until it is destroyed, so it is taken right before the
  // decision and dropped right after the commit, never held while a body is received. Must not
  // outlive the table.
  class [[nodiscard]] Admission {
   public:
    Admission() = default;
    Admission(Admission&& other) noexcept
        : table_(std::exchange(other.table_, nullptr)),
          file_(other.file_),
          operation_(other.operation_) {}
    Admission& operator=(Admission&& other) noexcept;
    ~Admission() { leave(); }

    // After the commit of a rename: where handles that stayed open are found from now on.
    void renamed(std::vector<uint64_t> ancestors, std::string path) NO_THREAD_SAFETY_ANALYSIS;
    // After one of which nobody knows whether it happened: what was written is stored in either
    // place.
    void perhaps_renamed(std::vector<uint64_t> ancestors,
                         std::string path) NO_THREAD_SAFETY_ANALYSIS;

   private:
    friend class OpenFiles;
    Admission(OpenFiles* table, FileKey file, concurrency::FileOperation operation)
        : table_(table), file_(file), operation_(operation) {}
    void leave();

    OpenFiles* table_ = nullptr;
    FileKey file_;
    concurrency::FileOperation operation_ = concurrency::FileOperation::kListFiles;
  };

  // Of somebody over SMB who has to wait for operations in flight on a file: those that come, and
  // would be in the way again, wait in turn. Held for as long as commits take, never while a client
  // is waited for. Must not outlive the table.
  class [[nodiscard]] Precedence {
   public:
    Precedence() = default;
    Precedence(Precedence&& other) noexcept
        : table_(std::exchange(other.table_, nullptr)),
          file_(other.file_),
          operations_(other.operations_) {}
    Precedence& operator=(Precedence&& other) noexcept;
    ~Precedence() { give_up(); }

   private:
    friend class OpenFiles;
    void give_up();

    OpenFiles* table_ = nullptr;
    FileKey file_;
    uint32_t operations_ = 0;
  };

  // For which file an operation of REST has waited, through all its attempts: what clients write to
  // it from then on comes after the operation. Meanwhile the name may have become another file's.
  struct Awaited {
    std::optional<FileKey> file;
    uint64_t locks = 0;  // How locks of its ranges stood then: see locks_at().
    int again = 0;       // How often they stood otherwise when it was asked again.
    void begin(FileKey key, uint64_t at);
  };

  // What was written through handles and is not stored yet. Whoever is admitted finds it stored.
  Drafts& drafts() { return *drafts_; }
  // Nothing is open and nothing is left to be stored.
  bool idle() const { return open_.load(std::memory_order_relaxed) == 0; }
  // While nothing is open: what to ask silent_since() with, later, whether that is still so and was
  // all the time.
  uint64_t silence() const { return idle() ? next_handle_.load() : 0; }
  bool silent_since(uint64_t silence) const { return silence != 0 && silence == this->silence(); }

  // --- REST ---

  // Whether a REST operation may touch the file now. kDeletePending, kSharingViolation,
  // kLockConflict, or kCached: what clients have written is not stored yet, they were asked to give
  // back what they cache, or somebody has waited for longer. Then the operation lets go of what
  // others may need, awaits given_back() and asks again, from the beginning, with the same
  // `awaited`: what is written from now on comes after it, unless it is written under locks that
  // were taken or given back meanwhile, which must be seen as a whole. Operations that change the
  // file keep the admission over their commit.
  Result<Admission> admit(FileKey file, concurrency::FileOperation operation, Awaited& awaited);
  Result<Admission> admit(FileKey file, concurrency::FileOperation operation) {
    Awaited nothing;
    return admit(file, operation, nothing);
  }

  // The same for readers, who need no admission: they read a snapshot. Locks of ranges must let
  // somebody without a handle read `range`.
  Result<void> admit_reader(FileKey file, concurrency::FileOperation operation, ByteRange range,
                            Awaited& awaited);

  // The same for moving a directory: besides, nothing below it may be open, and nothing below can
  // be opened while the admission stands.
  Result<Admission> admit_directory_rename(FileKey directory);

  // Until it is worth asking again, or kCacheFlushDelay: it has taken longer than the deadline or
  // kCacheFlushSeconds. `by`: for admit_rename_by(), as long as the deadline lets it.
  Task<Result<void>> given_back(FileKey file, Deadline deadline, HandleId by = 0,
                                bool reads = false);

  // Files of the share that wait for deletion, to be left out of listings. Usually empty, which
  // costs nothing to see.
  std::unordered_set<uint64_t> delete_pending(store::SpaceId share) const;

  // Open handles of a file or directory in the order of their ids, beginning after `after`;
  // recursive: and of everything below it, shard after shard, so that what is opened or closed
  // meanwhile may be listed or not. At most `most`.
  std::vector<Handle> list(FileKey file, bool recursive, HandleId after, size_t most) const;

  // Closes one handle of those that list() shows; false when it is not among them. A mark for
  // deletion ends with the last handle and the file stays: only a client's own close deletes. The
  // client learns of it from find().
  bool force_close(FileKey file, bool recursive, HandleId handle);
  // Closes all of them and says how many.
  size_t force_close_all(FileKey file, bool recursive);

  // The share is deleted: none of its handles is good for anything any more, nor is what is open of
  // its snapshots.
  void force_close_share(store::SpaceId share);
  // One of its snapshots is.
  void force_close_snapshot(store::SpaceId share, Generation shown);
  // How often one of both has happened, never 0. Who has opened something asks whether its share,
  // or snapshot, is still there, unless it was there when this was the same as it is now.
  uint64_t deletions() const {
    const bool doubt = clock_.moment().ticks < doubt_until_.load(std::memory_order_relaxed);
    return doubt ? ++deletions_ : deletions_.load();
  }
  // Nobody knows whether one has: for a while it is never the same.
  void note_doubtful_deletion();

  // --- SMB ---

  // Grants an open or says why not, after REST operations in flight that conflict with it and after
  // clients who cache the file have given back what the open takes away. The caller looks the path
  // up again afterwards and closes the handle when it leads elsewhere now: from the open on no REST
  // operation can delete the file or move what is above it, but before it one could. It also reads
  // the REST lease then (concurrency::may_open_leased_file).
  Task<kyanite::Result<HandleId, Refusal>> open(FileOpen request);
  // An open that waits is refused with kCancelled.
  void cancel_open(FileKey file, uint64_t ticket);

  // An open that was undecided stands.
  void decide(HandleId handle);

  // The open as it is now; absent once it was closed.
  std::optional<Handle> find(HandleId handle) const;
  bool is_open(HandleId handle) const;
  bool is_delete_pending(FileKey file) const;
  // When no rename of the file is in flight: from then on its handles say where it is.
  Task<void> wait_for_rename(FileKey file) {
    return wait_for(concurrency::FileOperation::kRenameFile, file);
  }
  // When no removal of it is: then it is there, or it is not.
  Task<void> wait_for_removal(FileKey file) {
    return wait_for(concurrency::FileOperation::kDeleteFile, file);
  }

  // Moving a file or directory through one of its handles. kAccessDenied without delete access, and
  // for a directory below which something is open; kSharingViolation when another handle does not
  // let it be moved; kCached as for admit(). `precedence` is kept until it is admitted.
  Result<Admission> admit_rename_by(HandleId handle, bool directory, Precedence& precedence);
  // Clients that keep handles below the directory whose programs have closed them give them up.
  // kCacheFlushDelay when they take longer than the deadline.
  Task<Result<void>> release_below(FileKey directory, Deadline deadline);
  // Something is put into a directory over SMB, which counts as opening it for that.
  Task<Result<Admission>> admit_entering(FileKey directory);

  // What closing leaves to do.
  struct Closed {
    Handle handle;  // As it was in the end.
    // Set when this was the last handle of a file marked for deletion: the caller removes the file
    // and then drops it. Until then the file stays marked.
    std::optional<Admission> removal;
  };
  kyanite::Result<Closed, Refusal> close(HandleId handle);
  // The same for an open that its client never learns of: it deletes nothing on its own account.
  kyanite::Result<Closed, Refusal> withdraw(HandleId handle);
  // Before a handle is closed that deletes on close, or whose file is marked: operations in flight
  // on the file are over then, and those of REST that come wait until it is closed. So all of them
  // are before the mark or find it.
  Task<void> begin_closing(HandleId handle);

  // The handle deletes nothing when it closes: its directory is not empty.
  void spare(HandleId handle);

  // Something that was written to the file cannot be stored any more. Each handle that can write to
  // it is told once: by take_lost(), or when it is closed.
  void note_lost(FileKey file);
  bool is_being_removed(FileKey file) const;
  // Somebody has it open who can write to it.
  bool has_writer(FileKey file) const;
  // kNoSuchHandle once it was closed.
  kyanite::Result<bool, Refusal> take_lost(HandleId handle);

  // Marks the file for deletion at its last close, or withdraws the mark, once REST operations in
  // flight on it are over. Needs delete access.
  Task<kyanite::Result<void, Refusal>> set_delete_pending(HandleId handle, bool pending);
  // The same in two steps for a directory, which the caller finds empty between them, or not:
  // whoever would put something into it meanwhile waits. The second is always done.
  Task<kyanite::Result<void, Refusal>> begin_marking(HandleId handle);
  kyanite::Result<void, Refusal> end_marking(HandleId handle, bool empty);

  // --- Caching ---

  // What the handle's client caches now; absent: nothing, and no lease.
  std::optional<CachingState> caching(HandleId handle) const;
  // A client says what it keeps, of an oplock and of a lease.
  kyanite::Result<void, AcknowledgeError> acknowledge(HandleId handle, concurrency::Caching kept);
  kyanite::Result<void, AcknowledgeError> acknowledge(const LeaseName& lease,
                                                      concurrency::Caching kept);
  // To be awaited before a handle is used in this way: others give up what they cache.
  // check_io(), lock() and set_delete_pending() do it themselves.
  Task<kyanite::Result<void, Refusal>> prepare(HandleId handle, concurrency::HandleUse use);

  // --- Locks of ranges ---

  // All of the locks or none; a taken range is kLockConflict at once. kTooManyLocks.
  Task<kyanite::Result<void, Refusal>> lock(HandleId handle, std::vector<RangeLock> locks);
  // One lock, once it is free; those who wait get theirs in the order in which they came.
  // kRangeNotLocked when the handle is closed meanwhile, kCancelled, kTooManyWaiting.
  // `waits` is called, with nothing locked, when it begins to wait for other locks: from then on
  // cancel_lock() ends that. What it waits for before is short.
  Task<kyanite::Result<void, Refusal>> lock_when_free(HandleId handle, RangeLock lock,
                                                      uint64_t ticket, std::function<void()> waits);
  // The one that waits under this ticket.
  void cancel_lock(HandleId handle, uint64_t ticket);
  // For each range exactly one lock of this handle with that range, one after the other: what is
  // given back stays so when there is none of a later one.
  kyanite::Result<void, Refusal> unlock(HandleId handle, std::span<const ByteRange> ranges);
  kyanite::Result<void, Refusal> unlock(HandleId handle, ByteRange range) {
    return unlock(handle, {&range, 1});
  }
  // Whether other handles' locks (and this one's shared locks, for writing) let it read or write.
  // What is written is in nobody's cache any more.
  kyanite::Result<void, Refusal> check_io(HandleId handle, ByteRange range, bool write);

  // --- Handles whose clients are away ---

  // The client of the handle is gone and may come back within so many seconds: until then the
  // handle stays, and is closed when somebody else's open conflicts with it or with what it caches.
  // Only handles whose closing their client need not be told of can wait: false for one that does
  // not cache its handle, and when too many wait. `front` is what whoever parks it wants to find
  // again with it.
  bool park(HandleId handle, int64_t seconds, std::shared_ptr<void> front);
  // Its client is back. kNoSuchHandle when no such handle is parked, or `is_it` says that it is not
  // the one.
  struct Reclaimed {
    Handle handle;
    std::shared_ptr<void> front;
  };
  using IsIt = std::function<bool(const Handle& handle, const void* front)>;
  kyanite::Result<Reclaimed, Refusal> reclaim(HandleId handle, const IsIt& is_it, uint64_t session,
                                              std::string client,
                                              std::shared_ptr<CacheHolder> holder);

  // Called with nothing locked; must not wait. `front` is what the handle was parked with.
  class Remover {
   public:
    virtual ~Remover() = default;
    // A parked handle is closed: nobody comes back for it.
    virtual void ended(const std::shared_ptr<void>& front) = 0;
    // Removes a file that was marked for deletion and whose last handle was closed without a
    // client. Until there is somebody who does such files stay.
    virtual void remove(const Handle& last, std::shared_ptr<void> front, Admission removal) = 0;
  };
  void set_remover(Remover* remover) { remover_ = remover; }

  // Ends what has taken too long: clients that do not give back what they cache, who waits for
  // them, handles that nobody came back to. To be called every second, say; costs nothing while
  // there is nothing of the kind.
  void pass_time();

  // Who wants to know what changes.
  Watchers& watchers() { return watchers_; }
  // Has the handle watch its directory. Nothing when there are too many who do.
  kyanite::Result<std::optional<Watchers::WatchId>, Refusal> watch(HandleId handle, bool recursive,
                                                                   ChangedParts parts);
  SnapshotOpens& snapshots() { return snapshots_; }

 private:
  friend class Drafts;
  // Somebody who asks again when something has changed: true; false: who has waited long enough.
  struct Wait {
    Pending<bool> turn;
    Deadline deadline{};
    std::optional<Moment> until{};
    uint64_t ticket = 0;
  };
  struct LockWait {
    HandleId handle;
    RangeLock lock;
    uint64_t ticket;
    Pending<kyanite::Result<void, Refusal>> turn{};
  };

  // A set of operations of REST, one bit each.
  using Operations = uint32_t;

  // What is known about one file or directory; forgotten when nothing is.
  struct File {
    std::vector<HandleId> handles;
    size_t open_below = 0;  // handles whose ancestor it is
    HeldLocks locks;
    std::deque<LockWait*> lock_waits;  // in the order in which they came
    Grants grants;                     // What its handles cache.
    std::vector<concurrency::FileOperation> in_flight;
    bool moving = false;   // A directory rename is among those in flight.
    size_t closing = 0;    // handles about to mark it for deletion, each as often as it is
    size_t undecided = 0;  // handles that may still be withdrawn
    std::vector<Operations> precedences;  // Of each: what it comes before.
    uint64_t lock_moves = 0;              // When a lock was taken or given back last; 0: none was.
    std::vector<Wait*> waiting;

    bool idle() const {
      return handles.empty() && open_below == 0 && in_flight.empty() && waiting.empty() &&
             precedences.empty();
    }
  };
  struct Parked {
    Moment until;
    std::shared_ptr<void> front;
  };
  // Those of a few million files are spread well by 64 shards, and one word can name any set of
  // them.
  static constexpr size_t kShardBits = 6;
  static constexpr size_t kShards = size_t{1} << kShardBits;
  struct alignas(64) Shard {
    mutable Mutex mutex;
    std::unordered_map<FileKey, File, FileKeyHash> files GUARDED_BY(mutex);
    // Marked for deletion. Each has a handle, or an admission in flight that removes it.
    std::unordered_set<FileKey, FileKeyHash> delete_pending GUARDED_BY(mutex);
    std::map<HandleId, Handle> handles GUARDED_BY(mutex);           // Of its files.
    std::unordered_map<HandleId, Parked> parked GUARDED_BY(mutex);  // of those
    // Files with breaks under way, and those for which somebody waits no longer than some time.
    std::unordered_set<FileKey, FileKeyHash> breaking GUARDED_BY(mutex);
    std::unordered_set<FileKey, FileKeyHash> timed GUARDED_BY(mutex);
    uint64_t lock_moves GUARDED_BY(mutex) = 0;  // The last, of files that are forgotten.
  };
  class Aftermath;
  // A set of shards, one bit each.
  using ShardSet = uint64_t;
  class LockedShards;

  static size_t shard_of(const FileKey& key) { return FileKeyHash()(key) >> (64 - kShardBits); }
  // The last bits of a handle's id name its shard.
  static size_t shard_of(HandleId handle) { return handle & (kShards - 1); }
  static ShardSet shards_of(store::SpaceId share, const std::vector<uint64_t>& ids);

  Shard& shard(const FileKey& key) { return shards_[shard_of(key)]; }
  const Shard& shard(const FileKey& key) const { return shards_[shard_of(key)]; }
  Shard& shard(HandleId handle) { return shards_[shard_of(handle)]; }
  const Shard& shard(HandleId handle) const { return shards_[shard_of(handle)]; }
  File* find_file(const FileKey& key) NO_THREAD_SAFETY_ANALYSIS;

  // Those with a Shard are called with its mutex held; those about an open or a handle as a whole
  // with the mutexes of its file and of the directories above (LockedShards), which are told apart
  // by number: the analysis does not follow that.
  std::optional<Refusal> refuse(Shard& shard, FileKey key, concurrency::FileOperation operation,
                                Aftermath& after) REQUIRES(shard.mutex);
  // What stands between an open and being granted.
  struct Obstacle {
    std::optional<Refusal> refusal{};
    File* wait_for = nullptr;
    bool cached = false;       // For clients, that is.
    Operations in_flight = 0;  // Those that are in the way, of this file.
    FileKey key = {};
  };
  std::optional<Obstacle> obstacle(const FileOpen& request,
                                   Aftermath& after) NO_THREAD_SAFETY_ANALYSIS;
  // That it is marked for deletion, or being removed.
  std::optional<Obstacle> deletion(const FileKey& key) NO_THREAD_SAFETY_ANALYSIS;
  // Has what others cache given up, as the rule says. Whether there is something to wait for.
  bool disturb(Shard& shard, FileKey key, const Grants::Doer& doer, const Grants::Rule& rule,
               Aftermath& after) REQUIRES(shard.mutex);
  // The same of those whose opens are in the way of one that is not compatible with them.
  static Grants::Rule rule_of(concurrency::HandleUse use);
  using CanBeBeside = std::function<bool(const Handle& handle)>;
  std::optional<Refusal> meet(Shard& shard, FileKey key, const Grants::Doer& doer,
                              const CanBeBeside& can_be_beside, Aftermath& after)
      REQUIRES(shard.mutex);
  template <class Whose>
  kyanite::Result<void, AcknowledgeError> acknowledge_in(FileKey key, const Whose& whose,
                                                         concurrency::Caching kept);
  void note_breaks(Shard& shard, FileKey key) REQUIRES(shard.mutex);
  void close_gone(Shard& shard, const std::vector<HandleId>& gone, Aftermath& after)
      REQUIRES(shard.mutex);
  Admission note(Shard& shard, FileKey key, concurrency::FileOperation operation)
      REQUIRES(shard.mutex);
  // The file or directory whose operations in flight the open has to wait for.
  std::optional<Obstacle> in_the_way(const FileOpen& request) NO_THREAD_SAFETY_ANALYSIS;
  // Unless there is one already.
  void take_precedence(File& file, FileKey key, Operations operations, Precedence& precedence);
  static bool comes_later(const Shard& shard, FileKey key, concurrency::FileOperation operation)
      REQUIRES(shard.mutex);
  // What was written is stored first, unless it was once.
  static std::optional<Refusal> wait_for_drafts(const Shard& shard, FileKey key,
                                                concurrency::FileOperation operation,
                                                Awaited& awaited) REQUIRES(shard.mutex);
  // Differs when a lock of one of its ranges moved, that is was taken or given back.
  static uint64_t locks_at(const Shard& shard, FileKey key) REQUIRES(shard.mutex);
  void note_lock_move(File& file) { file.lock_moves = ++lock_moves_; }
  // Who waits for the file until some time.
  void add_timed(Shard& shard, FileKey key, Wait& wait) REQUIRES(shard.mutex);
  void end_timed(Shard& shard, FileKey key, Moment now, Aftermath& after) REQUIRES(shard.mutex);
  // When nothing of the kind is in flight on the file.
  Task<void> wait_for(concurrency::FileOperation operation, FileKey file);
  // Both of begin_closing() and begin_marking(), if `may` says nothing.
  using MayClose = std::function<std::optional<Refusal>(const Handle& handle, bool marked)>;
  Task<kyanite::Result<void, Refusal>> keep_off(HandleId handle, const MayClose& may);
  Closed close_in(Shard& shard, std::map<HandleId, Handle>::iterator handle, Aftermath& after)
      REQUIRES(shard.mutex);
  HandleId add(FileOpen request) NO_THREAD_SAFETY_ANALYSIS;
  void grant(Shard& shard, const FileOpen& request, HandleId handle) REQUIRES(shard.mutex);
  static void wake_all(File& file, Aftermath& after);
  void retry_locks(File& file, store::SpaceId share, Aftermath& after);
  void pass_time(Shard& shard, Moment now, Aftermath& after) REQUIRES(shard.mutex);
  void count_below(const Handle& handle, bool opened) NO_THREAD_SAFETY_ANALYSIS;
  kyanite::Result<void, Refusal> add_locks(File& file, store::SpaceId share, HandleId holder,
                                           std::span<const RangeLock> locks);
  // The file that a handle may lock ranges of.
  kyanite::Result<FileKey, Refusal> lockable(Shard& shard, HandleId handle, Aftermath& after)
      REQUIRES(shard.mutex);
  // Forgets the handle and its locks, but for counting it below its ancestors, which the caller
  // does once it has let go of the shard (uncount).
  Handle remove(Shard& shard, std::map<HandleId, Handle>::iterator handle, Aftermath& after)
      REQUIRES(shard.mutex);
  // The same by force: a mark for deletion ends with the last handle.
  void remove_by_force(Shard& shard, std::map<HandleId, Handle>::iterator handle, Aftermath& after)
      REQUIRES(shard.mutex);
  void uncount(const Handle& handle);
  void mark(Shard& shard, FileKey key) REQUIRES(shard.mutex);
  void unmark(Shard& shard, FileKey key) REQUIRES(shard.mutex);
  static void forget_if_idle(Shard& shard, FileKey key) REQUIRES(shard.mutex);
  // Closes by force the handles of one shard that are `meant`.
  template <class Meant>
  size_t force_close_in(Shard& shard, Meant meant);

  const Clock& clock_;
  std::unique_ptr<Drafts> drafts_;
  std::array<Shard, kShards> shards_;
  LeaseIndex leases_;
  FairCounts<store::SpaceId> handle_counts_{kMaxHandles};
  FairCounts<store::SpaceId> lock_counts_{kMaxLocks};
  FairCounts<store::SpaceId> parked_counts_{kMaxParkedHandles};
  Watchers watchers_;
  SnapshotOpens snapshots_;
  Remover* remover_ = nullptr;
  std::atomic<size_t> open_{0};      // handles and drafts, in all shards
  std::atomic<size_t> marked_{0};    // for deletion, in all shards
  std::atomic<size_t> breaking_{0};  // files with breaks under way
  std::atomic<size_t> timed_{0};     // files, likewise
  std::atomic<size_t> parked_{0};    // handles
  mutable std::atomic<uint64_t> deletions_{1};
  std::atomic<int64_t> doubt_until_{INT64_MIN};
  std::atomic<uint64_t> lock_moves_{0};
  std::atomic<HandleId> next_handle_;
};

}  // namespace kyanite::tree
