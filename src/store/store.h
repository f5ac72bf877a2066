// The seam under every service: partitions of ordered records with guarded commits, and extents of
// bytes.
//
// Azure promises atomicity per partition, so the store offers exactly that, on one machine
// (engine/) and on a cluster. An operation is read, decide, commit: it reads records, decides, and
// commits its writes guarded by what it read. When another commit came first it learns of a
// conflict and decides again from fresh data.
//
// All methods may be called from any thread that runs an Executor (or none) and resume the caller
// there. One contract suite (store/contract.h) runs against every implementation; store/memory.h is
// the reference.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/buffer.h"
#include "base/clock.h"
#include "base/result.h"
#include "base/task.h"
#include "os/file.h"
#include "store/decoded.h"
#include "store/key.h"

namespace kyanite::store {

enum class Error {
  kConflict,  // A guard did not hold; nothing was written. Read again and decide again.
  kFull,      // No space on the device; nothing was written. Works again once there is space.
  kCorrupt,   // Stored bytes do not match their checksum. They are never returned.
  kIo,        // The device failed, or an earlier failure stopped writing; nothing was written.
  kUnknown,   // A commit failed on its way: it applies as a whole, perhaps only later, or never.
              // Whoever needs to know reads, or commits something guarded by what was there.
  kTooLarge,  // More than one commit may hold; nothing was written.
  kBusy,      // Too many wait for the same already; nothing was begun. Works again once there are
              // fewer.
  kTimeout,   // The time that the caller gave was over before the end.
};
const char* describe(Error error);

template <class T>
using Result = kyanite::Result<T, Error>;

// Where a run of bytes lies: at most kMaxRunBytes, immutable, with its own checksum. Never reused
// once dead.
inline constexpr uint32_t kMaxRunBytes = kChunkBytes;
struct Ref {
  uint64_t extent = 0;
  uint64_t offset = 0;
  uint32_t length = 0;
  uint32_t crc32c = 0;
  bool operator==(const Ref&) const = default;
};

// A stored value. Refs are listed apart from the value so that the store can find live runs without
// knowing the services' formats: bytes stay as long as some record lists their ref. A record has at
// least one byte of value.
struct Record {
  std::string value;
  std::vector<Ref> refs;
  bool operator==(const Record&) const = default;
};

// A record in memory, which requests and the store's cache share: with what it was decoded to, so
// that a hot one is decoded once (store/stored.h). That is never stored and no part of what it is.
struct SharedRecord : Record {
  SharedRecord() = default;
  explicit SharedRecord(Record record) : Record(std::move(record)) {}
  DecodedSlot decoded;
};
using RecordPtr = std::shared_ptr<const SharedRecord>;  // Null: absent.

struct Guard {
  Key key;
  RecordPtr expected;  // Exactly this record, or absent when null.
};
struct Write {
  Key key;
  RecordPtr record;  // Null: delete.
};
// What one commit may hold. Committing is one at a time, so a large one keeps all others waiting:
// what can be done in portions is (content/graves.h), and this is for what cannot. The largest that
// clients can ask for are 100,000 blocks that one list of blocks takes.
inline constexpr size_t kMaxCommitRecords = 500'000;        // guards and writes
inline constexpr size_t kMaxCommitBytes = size_t{1} << 30;  // of their keys and values
struct Commit {
  std::vector<Guard> guards;
  std::vector<Write> writes;  // Later writes to the same key win.

  // The record that was read there must still be there; null: still nothing.
  void expect(Key key, RecordPtr record) { guards.push_back({std::move(key), std::move(record)}); }
  void expect_absent(Key key) { guards.push_back({std::move(key), nullptr}); }
  void put(Key key, RecordPtr record) { writes.push_back({std::move(key), std::move(record)}); }
  void remove(Key key) { writes.push_back({std::move(key), nullptr}); }
};

struct Entry {
  Key key;
  RecordPtr record;
};

// A consistent picture of all committed records. Calls may block on the disk unless all is in
// memory, so a View is only handed to functions that run where that is allowed (see Store::look,
// Snapshot).
class View {
 public:
  // Moves forward through a range. Not valid beyond the View.
  class Cursor {
   public:
    virtual ~Cursor() = default;
    virtual bool valid() const = 0;            // False at the end of the range or after an error.
    virtual std::string_view key() const = 0;  // Key bytes; valid until the next move.
    virtual Result<RecordPtr> record() const = 0;
    virtual Result<std::string_view> value() const = 0;  // The record's; valid until the next move.
    virtual void next() = 0;
    virtual void seek(
        std::string_view key) = 0;  // To the first entry at or after these bytes, forward or back.
    virtual Result<void> status() const = 0;
  };

  virtual ~View() = default;
  virtual Result<RecordPtr> get(const Key& key) const = 0;
  virtual std::unique_ptr<Cursor> scan(const Range& range) const = 0;
  // Others wait for this thread: a look that can go on in another one ends soon. Asked once for
  // each entry. Never true in looks that cannot (Store::look).
  virtual bool enough() const { return false; }
};
using Look = std::function<Result<void>(const View&)>;

// One snapshot for many looks, as of the first; not to outlive its store. Keeps what is overwritten
// meanwhile, so it is for as long as a request.
class Snapshot {
 public:
  virtual ~Snapshot() = default;

  // Runs `look` right here when all it asks for is in memory and not too much. Else `look` sees an
  // error, what it returns is dropped, and it runs once more as by scan(). A look that has had
  // enough and is followed by another one goes on there, too.
  virtual Task<Result<void>> look(Look look) = 0;
  // Runs `look` once, on a thread that may block, in turn with others: a look that goes on for long
  // although it has had enough keeps them waiting. kBusy when too many wait, but never after the
  // third look; kIo when the store was repaired after the first.
  virtual Task<Result<void>> scan(Look look) = 0;
};

// While a Hold lives, no bytes reachable from records committed at or after its creation are
// reclaimed, nor bytes appended during its life. Every request holds one from its first read or
// append to its last commit and last byte sent; a copy may therefore commit refs it read earlier.
// Bytes appended without a Hold may be gone before they are committed.
class Hold {
 public:
  Hold() = default;
  explicit Hold(std::shared_ptr<void> token) : token_(std::move(token)) {}

 private:
  std::shared_ptr<void> token_;
};

class Store {
 public:
  virtual ~Store() = default;

  // The last committed record. Completes without suspending when the record is in memory.
  virtual Task<Result<RecordPtr>> get(const Key& key) = 0;
  // The same where that is known at once, for whoever asks for many; nothing: get() tells.
  virtual std::optional<RecordPtr> peek(const Key& key);

  // Runs `look` over one snapshot, on a thread that may block. For looks at one object, or a few
  // records: what may be long is scanned (below), or looked at in parts over a Snapshot.
  virtual Task<Result<void>> look(Look look) = 0;
  virtual std::unique_ptr<Snapshot> snapshot() = 0;

  // All guards hold and all writes apply, durably, or nothing changes. Keys are of one space
  // (CHECKed), and no more than the limits above: kTooLarge. Bytes behind refs of the writes are
  // made durable first. After success every get and look begun later sees the writes. Commits
  // without guards overwrite blindly. kUnknown is no promise either way; all other errors promise
  // that nothing was written.
  virtual Task<Result<void>> commit(Commit commit) = 0;

  // Adds one run of bytes (1 .. kMaxRunBytes). Durable once a commit that lists the ref succeeds.
  // Checksumming and writing happen off the calling thread.
  virtual Task<Result<Ref>> append(Buffer bytes) = 0;
  // The same for several runs, which costs less than one after the other.
  virtual Task<Result<std::vector<Ref>>> append_all(std::vector<Buffer> runs);

  // `length` bytes of the run from `offset` (within the run). The run's checksum is verified;
  // kCorrupt when it fails. With `prefer_file` a large part may come as an os::FileSlice, warm in
  // the page cache.
  virtual Task<Result<os::Bytes>> read_run(Ref ref, uint32_t offset, uint32_t length,
                                           bool prefer_file) = 0;

  virtual Hold hold() = 0;
  // The bytes behind these refs are not reclaimed while it lives, which may be long: unlike hold()
  // it keeps nothing else. To be called under a Hold of them.
  virtual Hold keep(std::vector<Ref> refs) = 0;

  // Removes up to `most` records of the range, which no request may reach any more (a deleted
  // incarnation): neither guarded nor bound to one partition. Tells how many went; 0 once the range
  // is empty, so callers repeat until then.
  virtual Task<Result<size_t>> erase(Range range, size_t most) = 0;
};

// Shows every entry of a range, in order and over one snapshot, to `see`, which says whether to go
// on. Takes turns with other scans. kTimeout when the deadline is over before the range is.
using See = std::function<Result<bool>(const View::Cursor&)>;
Task<Result<void>> scan(Store& store, Range range, See see, Deadline deadline = {});

// Whether the commit keeps the limits above: else kTooLarge. Stops the process unless it keeps the
// other rules: keys of one space, no empty values.
Result<void> check_well_formed(const Commit& commit);

}  // namespace kyanite::store
