// Drafts: what was written to files through handles and is not stored yet. A write changes the
// file's draft and is answered; one guarded commit stores the whole draft later. So what a crash
// takes is everything since some instant, never something in the middle, and what others than
// holders of handles see (REST, snapshots, copies) is stored first.
//
// Larger writes are in extents already when the draft learns of them, and are kept there for it;
// small ones are in memory until they are stored. Both are limited, for one file and for all.
//
// docs/decisions/write-behind.md. Every member may be called from any thread.
#pragma once

#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/executor.h"
#include "base/mutex.h"
#include "base/task.h"
#include "store/locks.h"
#include "store/occasion.h"
#include "store/store.h"
#include "tree/draft_layer.h"
#include "tree/error.h"
#include "tree/open_files.h"
#include "tree/opened.h"
#include "tree/records.h"

namespace kyanite::tree {

class Drafts {
 public:
  // Of one file: beyond them whoever writes waits until it is stored.
  static constexpr size_t kMaxInlineBytes = 4 * 1024 * 1024;
  static constexpr size_t kMaxParts = 512;
  static constexpr size_t kMaxKept = 2 * kMaxParts;  // In extents, written over or not.
  // After so many tries to read it what was written is lost; if the disk fails, also not before
  // so long: what is short of something else looks the same.
  static constexpr size_t kMaxUnreadable = 8;
  static constexpr int64_t kMaxUnreadableSeconds = 30;
  // What could not be stored rests for longer and longer before it is old again, up to this.
  static constexpr int64_t kLongestRest = 8 * kTicksPerSecond;
  // So many files may be in either of two places.
  static constexpr size_t kMaxPerhapsMoved = 1'000;
  // Of all files: what is in memory.
  static constexpr size_t kMaxInlineBytesOfAll = 64 * 1024 * 1024;
  // Of directories: beyond so many their times are stored at once.
  static constexpr size_t kMaxDirectories = 1'000;

  explicit Drafts(OpenFiles& table) : table_(table) {}
  ~Drafts();
  Drafts(const Drafts&) = delete;
  Drafts& operator=(const Drafts&) = delete;

  bool any() const { return count_.load(std::memory_order_relaxed) != 0; }
  bool has(FileKey file) const;
  size_t count() const { return count_.load(std::memory_order_relaxed); }
  size_t inline_bytes() const { return inline_bytes_.load(std::memory_order_relaxed); }

  // To be awaited before a change: as long as too much waits it is stored, of this file first.
  Task<Result<void>> make_room(FileKey file);
  // Changes the draft of an open file, which it begins to have, if the range is not locked: who
  // locks it from then on finds the change made. kQuotaExceeded when the share has no room for what
  // the file grows by.
  using Change = std::function<void(DraftLayer& newest)>;
  Result<void> change(const store::Occasion& occasion, const Opened& opened, ByteRange range,
                      const Growth& growth, const Change& change);
  // Through a handle an entry was put into a directory or taken out of it: the directory's times
  // tell so from now on, and are stored later. They are not promised to anybody, so that a crash
  // or a full disk may take them back. Its ETag stays. `ancestors` and `path` are the entry's, as
  // of a handle.
  Task<void> note_entry(const store::Occasion& occasion, const Tree& tree,
                        const std::vector<EntryId>& ancestors, std::string_view path);

  // The turn of one of those who only append to the file: nobody of them writes between another's
  // look at the length and its write.
  store::KeyedLocks::Locking lock_end(FileKey file);

  // What is laid over the stored state, without bytes outside of [from, to); nothing if there is
  // nothing.
  std::optional<DraftLayer> look(FileKey file, uint64_t from = 0, uint64_t to = 0) const;
  // How many drafts were stored ever. Who reads what is stored first and drafts after it, and finds
  // another number then, may have missed one between both.
  uint64_t stored() const { return stored_.load(); }

  // Somebody who wrote closes the file.
  void end_writing(FileKey file, Time date);
  // Another number than before: something that was written to this file, or perhaps to another one,
  // was given up meanwhile. Handles that were open then are told so, too (OpenFiles::note_lost).
  uint64_t given_up(FileKey file) const;
  // Stores everything that was written to the file before the call. The file may be gone: then
  // there is nothing to do. After an error it is all still there. What the disk has lost is left
  // out, which OpenFiles::note_lost() is told.
  Task<Result<void>> settle(FileKey file);
  // The same for all files of a share, without directories, one after the other until the deadline;
  // or for everything there is.
  Task<Result<void>> settle_share(store::SpaceId share, Deadline deadline = {});
  // For those who look at the share as far as it is stored, or make room: what cannot be stored
  // keeps nobody from that.
  Task<void> settle_share_if_possible(store::SpaceId share, Deadline deadline);
  Task<Result<void>> settle_all();

  // What waits for longer than `ticks`, the oldest first, behind all others what could not be
  // stored the last time.
  struct Old {
    FileKey file;
    uint64_t session = 0;  // Who began it.
  };
  std::vector<Old> old(Moment now, int64_t ticks) const;
  // settle() for one of those. A failure is only logged: false, and it stays old. Times that are
  // not told yet are not stored either.
  Task<bool> settle_old(FileKey file, Moment now);

  // The file is removed, and so is this.
  void discard(FileKey file);
  void discard_share(store::SpaceId share);
  // The file was renamed: from now on it lies there.
  void moved(FileKey file, const std::vector<EntryId>& ancestors, const std::string& path);
  // Where a file lies: ids from the root to its directory, names as they are stored.
  struct Where {
    std::vector<EntryId> ancestors;
    std::string path;
    bool operator==(const Where&) const = default;
    EntryId parent() const { return ancestors.empty() ? kRootId : ancestors.back(); }
  };
  // It lies there now, or not: nobody knows until it is looked for, and what is written meanwhile
  // is stored where it is then.
  void perhaps_moved(FileKey file, Where where);
  // Where it may lie besides where its handles say.
  std::vector<Where> perhaps_at(FileKey file) const;

 private:
  struct Draft {
    Tree tree;
    FileKey file;
    bool directory = false;
    Where where;
    bool removed = false;  // The file is, which is known.
    uint64_t moves = 0;
    uint64_t session = 0;  // of who began it
    store::Store* store = nullptr;
    const Clock* clock = nullptr;
    DraftLayer newest;
    DraftLayer storing;  // Below it, while it is committed.
    bool busy = false;
    bool failed = false;     // It could not be stored the last time.
    bool anew = false;       // What it has in extents is to be written anew,
    bool rewritten = false;  // which was done since it was stored the last time.
    int64_t rest = 0;        // How long it rests, in ticks,
    Moment tried;            // from then on.
    size_t unreadable = 0;   // How often since then something in it could not be read,
    std::optional<Moment> unreadable_since;  // and since when.
    std::vector<Pending<bool>*> waiting;
  };
  using DraftPtr = std::shared_ptr<Draft>;
  struct Shard {
    mutable Mutex mutex;
    std::unordered_map<FileKey, DraftPtr, FileKeyHash> drafts GUARDED_BY(mutex);
    // Files that were perhaps moved, with a draft or without.
    std::unordered_map<FileKey, std::vector<Where>, FileKeyHash> perhaps GUARDED_BY(mutex);
    uint64_t given_up GUARDED_BY(mutex) = 0;
  };
  static constexpr size_t kShards = 16;

  // The draft of the file, to be filled in if it is new.
  std::pair<Draft&, bool> begin(Shard& shard, const store::Occasion& occasion, const Tree& tree,
                                FileKey file) REQUIRES(shard.mutex);
  bool is_over() const { return inline_bytes_ > kMaxInlineBytesOfAll; }
  Shard& shard(const FileKey& key) { return shards_[FileKeyHash()(key) >> 60]; }
  const Shard& shard(const FileKey& key) const { return shards_[FileKeyHash()(key) >> 60]; }
  template <class See>
  void see_all(See see) const;
  template <class Meant>
  std::vector<FileKey> keys(Meant meant) const;
  Task<Result<void>> settle_keys(std::vector<FileKey> files, Deadline deadline);
  // With a moment: without times that are untold then.
  Task<Result<void>> settle(FileKey file, std::optional<Moment> now);
  Task<Result<void>> commit(Draft& draft);
  // Writes anew what the draft has in extents, and commits. An extent that the disk failed to sync
  // is good for nothing any more, though what was written to it can still be read for a while.
  Task<Result<void>> commit_anew(Draft& draft);
  Task<Result<void>> write_anew(Draft& draft);
  Task<Result<std::optional<SeenEntry>>> find(store::Occasion& occasion, Draft& draft);
  bool is_abandoned(const Draft& draft) const;
  // Whether what cannot be read for this reason is given up.
  static bool is_hopeless(Draft& draft, store::Error why);
  // Something in the draft will never be stored, which is told to those who may have written it.
  void give_up(Shard& shard, const Draft& draft, std::string_view why) REQUIRES(shard.mutex);
  void forget_places(Shard& shard, FileKey file) REQUIRES(shard.mutex);
  void forget_if_empty(Shard& shard, FileKey file) REQUIRES(shard.mutex);
  // Whether the draft could be stored, which is told when the first cannot and when all can again.
  void note_failed(Draft& draft, bool failed);
  static bool rests(const Draft& draft, Moment now);
  // The layer is stored or will never be.
  void end_layer(const Draft& draft, DraftLayer& layer);

  OpenFiles& table_;
  store::KeyedLocks locks_;  // What is settled waits in no line: see commit().
  store::KeyedLocks ends_;
  std::array<Shard, kShards> shards_;
  std::atomic<size_t> count_{0};
  std::atomic<size_t> directories_{0};  // Of them.
  std::atomic<uint64_t> stored_{0};
  std::atomic<size_t> inline_bytes_{0};
  std::atomic<size_t> failed_{0};   // drafts
  std::atomic<size_t> perhaps_{0};  // files
};

}  // namespace kyanite::tree
