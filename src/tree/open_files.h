// The open-file table: what SMB clients have open, which byte ranges they hold locked and which
// files wait to be deleted, keyed by file id. It is the one place where both front ends learn
// whether an operation can go on beside what others do. REST operations never stay in it: they are
// admitted, do their commit and leave.
//
// All of it is volatile. After a restart no handle is open and no file is marked for deletion.
//
// The table is cut into shards by file, each with a mutex of its own. What concerns one file alone,
// as every REST operation does, asks one shard. Opening asks for those of the directories above as
// well, in one order for all. Nothing ever holds all of them.
//
// Every member may be called from any thread. A coroutine that waits resumes on its executor.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/executor.h"
#include "base/result.h"
#include "base/task.h"
#include "concurrency/share_mode.h"
#include "store/key.h"
#include "tree/error.h"
#include "tree/records.h"

namespace kyanite::tree {

// A file or directory of a share. Ids are never used twice within a share, so a key that outlives
// its file meets nothing.
struct FileKey {
  store::SpaceId share = 0;
  uint64_t id = 0;
  bool operator==(const FileKey&) const = default;
};

using HandleId = uint64_t;

// Azure's limit for one file or directory.
inline constexpr size_t kMaxHandlesPerFile = 2000;

// An open as an SMB client asks for it and as List Handles shows it.
struct FileOpen {
  FileKey file;
  concurrency::Open mode;
  std::vector<uint64_t> ancestors;  // Ids from the root to the parent; empty for the root itself.
  std::string path;                 // From the root, with the case of the stored names.
  uint64_t session = 0;
  std::string client;  // address and port
  Time opened;
  bool delete_on_close = false;  // The file is marked for deletion when this handle closes.
  // What others must let it do at the moment of opening, besides its access: it empties the file.
  concurrency::AccessSet besides;
};

struct Handle : FileOpen {
  HandleId id = 0;
  uint64_t moves = 0;  // How often it was renamed since.

  EntryId parent() const { return ancestors.empty() ? kRootId : ancestors.back(); }
};

struct ByteRange {
  uint64_t offset = 0;
  uint64_t length = 0;  // May be 0, and may reach beyond the largest offset.
  bool operator==(const ByteRange&) const = default;
};

struct RangeLock {
  ByteRange range;
  bool exclusive = false;
};

class Drafts;

class OpenFiles {
 public:
  OpenFiles();
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
    void renamed(std::vector<uint64_t> ancestors, std::string path);

   private:
    friend class OpenFiles;
    Admission(OpenFiles* table, FileKey file, concurrency::FileOperation operation)
        : table_(table), file_(file), operation_(operation) {}
    void leave();

    OpenFiles* table_ = nullptr;
    FileKey file_;
    concurrency::FileOperation operation_ = concurrency::FileOperation::kListFiles;
  };

  // What was written through handles and is not stored yet. Whoever is admitted finds it stored.
  Drafts& drafts() { return *drafts_; }
  // Nothing is open and nothing is left to be stored.
  bool idle() const { return open_.load(std::memory_order_relaxed) == 0; }

  // --- REST ---

  // Whether a REST operation may touch the file now. kDeletePending, kSharingViolation or
  // kLockConflict. Operations that change the file keep the admission over their commit. A
  // coroutine, because this is where an operation will wait for clients to give back what they
  // cache under an SMB lease.
  Task<Result<Admission>> admit(FileKey file, concurrency::FileOperation operation);

  // The same for readers, who need no admission: they read a snapshot.
  Task<Result<void>> admit_reader(FileKey file, concurrency::FileOperation operation);

  // The same for moving a directory: besides, nothing below it may be open, and nothing below can
  // be opened while the admission stands.
  Task<Result<Admission>> admit_directory_rename(FileKey directory);

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

  // The share is deleted: none of its handles is good for anything any more.
  void force_close_share(store::SpaceId share);

  // --- SMB ---

  // Grants an open or says why not, after REST operations in flight that conflict with it. The
  // caller looks the path up again afterwards and closes the handle when it leads elsewhere now:
  // from the open on no REST operation can delete the file or move what is above it, but before it
  // one could. It also reads the REST lease then (concurrency::may_open_leased_file).
  Task<kyanite::Result<HandleId, Refusal>> open(FileOpen request);

  // The open as it is now; absent once it was closed.
  std::optional<Handle> find(HandleId handle) const;
  bool is_delete_pending(FileKey file) const;
  // When no rename of the file is in flight: from then on its handles say where it is.
  Task<void> wait_for_rename(FileKey file);

  // Moving a file or directory through one of its handles. kAccessDenied without delete access, and
  // for a directory below which something is open; kSharingViolation when another handle does not
  // let it be moved.
  Task<Result<Admission>> admit_rename_by(HandleId handle, bool directory);
  // Something is put into a directory over SMB, which counts as opening it for that.
  Task<Result<Admission>> admit_entering(FileKey directory);

  // What closing leaves to do.
  struct Closed {
    // Set when this was the last handle of a file marked for deletion: the caller removes the file
    // and then drops it. Until then the file stays marked.
    std::optional<Admission> removal;
  };
  kyanite::Result<Closed, Refusal> close(HandleId handle);

  // Marks the file for deletion at its last close, or withdraws the mark, once REST operations in
  // flight on it are over. Needs delete access. For a directory the caller marks first, then looks
  // whether it is empty, and withdraws when it is not: nothing is created in a marked directory.
  Task<kyanite::Result<void, Refusal>> set_delete_pending(HandleId handle, bool pending);

  // All of the locks or none. A failed lock waits for nothing: the client asks again.
  Task<kyanite::Result<void, Refusal>> lock(HandleId handle, std::vector<RangeLock> locks);
  // Exactly one lock of this handle with this range.
  kyanite::Result<void, Refusal> unlock(HandleId handle, ByteRange range);
  // Whether other handles' locks (and this one's shared locks, for writing) let it read or write.
  kyanite::Result<void, Refusal> check_io(HandleId handle, ByteRange range, bool write) const;

 private:
  friend class Drafts;
  struct HeldLock {
    HandleId holder;
    RangeLock lock;
  };
  // Something that conflicts with a REST operation in flight, until that is over.
  using Turn = Pending<bool>;

  // What is known about one file or directory; forgotten when nothing is. The modes under which SMB
  // clients cache the file (leases, oplocks) belong here too, beside the handles they were granted
  // to; admit() and open() break them before they decide.
  struct File {
    std::vector<HandleId> handles;
    size_t open_below = 0;  // handles whose ancestor it is
    std::vector<HeldLock> locks;
    std::vector<concurrency::FileOperation> in_flight;
    bool moving = false;  // A directory rename is among those in flight.
    std::vector<Turn*> waiting;

    bool idle() const {
      return handles.empty() && open_below == 0 && in_flight.empty() && waiting.empty();
    }
  };
  struct KeyHash {
    size_t operator()(const FileKey& key) const { return hash(key); }
  };
  // Those of a few million files are spread well by 64 shards, and one word can name any set of
  // them.
  static constexpr size_t kShardBits = 6;
  static constexpr size_t kShards = size_t{1} << kShardBits;
  struct alignas(64) Shard {
    mutable std::mutex mutex;
    std::unordered_map<FileKey, File, KeyHash> files;
    // Marked for deletion. Each has a handle, or an admission in flight that removes it.
    std::unordered_set<FileKey, KeyHash> delete_pending;
    std::map<HandleId, Handle> handles;  // Of its files.
  };
  // A set of shards, one bit each.
  using ShardSet = uint64_t;
  class LockedShards;

  static size_t hash(const FileKey& key);
  static size_t shard_of(const FileKey& key) { return hash(key) >> (64 - kShardBits); }
  // The last bits of a handle's id name its shard.
  static size_t shard_of(HandleId handle) { return handle & (kShards - 1); }
  static ShardSet shards_of(store::SpaceId share, const std::vector<uint64_t>& ids);

  Shard& shard(const FileKey& key) { return shards_[shard_of(key)]; }
  const Shard& shard(const FileKey& key) const { return shards_[shard_of(key)]; }
  Shard& shard(HandleId handle) { return shards_[shard_of(handle)]; }
  const Shard& shard(HandleId handle) const { return shards_[shard_of(handle)]; }
  File* find_file(const FileKey& key);

  // Those with a Shard are called with its mutex held; those about an open or a handle as a whole
  // with the mutexes of its file and of the directories above.
  static std::optional<Refusal> refuse(const Shard& shard, FileKey key,
                                       concurrency::FileOperation operation);
  static std::optional<Refusal> refuse(const Shard& shard, const FileOpen& request);
  Admission note(Shard& shard, FileKey key, concurrency::FileOperation operation);
  // The file or directory whose operations in flight the open has to wait for; null: none.
  File* in_the_way(const FileOpen& request);
  HandleId add(FileOpen request);
  void count_below(const Handle& handle, bool opened);
  static kyanite::Result<void, Refusal> add_locks(File& file, HandleId holder,
                                                  const std::vector<RangeLock>& locks);
  // Forgets the handle and its locks, but for counting it below its ancestors, which the caller
  // does once it has let go of the shard (uncount).
  Handle remove(Shard& shard, std::map<HandleId, Handle>::iterator handle);
  // The same by force: a mark for deletion ends with the last handle.
  Handle remove_by_force(Shard& shard, std::map<HandleId, Handle>::iterator handle);
  void uncount(const Handle& handle);
  void mark(Shard& shard, FileKey key);
  void unmark(Shard& shard, FileKey key);
  static void forget_if_idle(Shard& shard, FileKey key);
  // Closes by force the handles of one shard that are `meant`.
  template <class Meant>
  size_t force_close_in(Shard& shard, Meant meant);

  std::unique_ptr<Drafts> drafts_;
  std::array<Shard, kShards> shards_;
  std::atomic<size_t> open_{0};    // handles and drafts, in all shards
  std::atomic<size_t> marked_{0};  // for deletion, in all shards
  std::atomic<HandleId> next_handle_;
};

}  // namespace kyanite::tree
