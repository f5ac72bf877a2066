// The records on disk: one RocksDB. Any thread may read; only the committer writes. A failed write
// stops writing until repair() has opened the database again; reading goes on meanwhile.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <shared_mutex>
#include <string>
#include <string_view>

#include "base/mutex.h"
#include "engine/identity.h"
#include "engine/log_ledger.h"
#include "engine/room.h"
#include "store/store.h"

namespace rocksdb {
class Cache;
class DB;
class Env;
class Snapshot;
class Status;
class WriteBatch;
struct Options;
}  // namespace rocksdb

namespace kyanite::engine {

struct RecordOptions {
  std::string directory;
  size_t block_cache_bytes = 0;
  size_t most_open_files = 0;
  bool create = false;  // There is no database yet. Otherwise a missing one is an error.
  Room* room = nullptr;
};

class Records {
 public:
  struct Unopened {
    std::string why;
    bool lost = false;  // Acknowledged commits are missing, says the ledger.
  };
  static kyanite::Result<std::unique_ptr<Records>, Unopened> open(
      RecordOptions options, std::unique_ptr<LogLedger> ledger);
  ~Records();

  // This is the right database: it gets this standing, durably, and from now on no repair accepts
  // another one. To be called before anything is written.
  store::Result<void> adopt(const Standing& standing);

  store::Result<store::RecordPtr> get(std::string_view key);
  // As get, without waiting for the device or for a repair: nothing when it would have to.
  std::optional<store::Result<store::RecordPtr>> get_in_memory(std::string_view key);

  // Runs `look` over a snapshot.
  store::Result<void> look(const store::Look& look);
  class Kept;
  // Hands every key and its stored bytes to `see`, over one snapshot and past the block cache;
  // stops when it says false. May take its time: fails when a repair becomes necessary meanwhile,
  // and while the records can only be read: they may show a commit then that is not durable.
  store::Result<void> scan_all(const std::function<bool(std::string_view, std::string_view)>& see);

  // Puts the records as they are at one instant into the directory: a database of its own, made of
  // links to tables and of copies of what else there is, with the ledger (LOGS) of its logs in
  // `ledger`. Commits go on meanwhile. Needs no more room than a few logs. The error is a clause.
  kyanite::Result<void, std::string> pin_to(const std::string& directory,
                                            const std::string& ledger);

  // Durable on success. After a failure only repair() makes it work again.
  store::Result<void> write(rocksdb::WriteBatch& batch);
  bool broken() const { return broken_.has_value(); }
  // Opens the database again after a failed write, from what is durable. Tries at most every so
  // often; otherwise repeats why it is broken.
  store::Result<void> repair();
  uint64_t repairs() const { return repairs_.load(std::memory_order_relaxed); }

 private:
  class Reading;
  Records(RecordOptions options, std::unique_ptr<LogLedger> ledger);
  rocksdb::Options options() const;
  using OpenHow = std::function<rocksdb::Status(rocksdb::DB**)>;
  std::optional<std::string> open_database(const OpenHow& how);  // The reason why not.
  std::optional<std::string> open_database();
  bool is_adopted(rocksdb::DB& database) const;
  void release_kept();

  const RecordOptions opened_with_;
  const std::unique_ptr<LogLedger> ledger_;
  const std::shared_ptr<rocksdb::Cache> block_cache_;
  const std::unique_ptr<rocksdb::Env> env_;

  // Readers share `gate_`; repair takes it alone. A reader prefers to pass, so that readers cannot
  // starve a repair: while `closing_` is set, new ones first queue at the turnstile.
  std::shared_mutex gate_;
  Mutex turnstile_;
  std::atomic<bool> closing_{false};
  std::unique_ptr<rocksdb::DB> database_;  // Null when it could not be opened again.
  bool writable_ = false;                  // Or only for reading.

  // Those of the database as it is open now, by number: a repair releases them all.
  Mutex kept_mutex_;
  std::map<uint64_t, const rocksdb::Snapshot*> kept_ GUARDED_BY(kept_mutex_);
  uint64_t last_kept_ GUARDED_BY(kept_mutex_) = 0;

  std::optional<Standing> adopted_;
  // The committer's own.
  std::optional<store::Error> broken_;
  std::chrono::steady_clock::time_point next_repair_{};
  std::chrono::milliseconds repair_delay_{0};
  std::atomic<uint64_t> repairs_{0};
};

// A snapshot of the records as they were at the first look. Used by one at a time; ends before the
// records do.
class Records::Kept {
 public:
  explicit Kept(Records& records) : records_(records) {}
  ~Kept();
  Kept(const Kept&) = delete;
  Kept& operator=(const Kept&) = delete;

  // A look has had enough after `turn`. kIo once a repair has been between two looks.
  store::Result<void> look(const store::Look& look, std::chrono::microseconds turn);
  // As look, without waiting for the device or for a repair and without keeping others waiting:
  // nothing when it would have to. `look` may have run for a while by then. It has had enough when
  // `others_wait`, which is asked every 0.1 ms or so, or after `turn`; `enough` tells that it had.
  std::optional<store::Result<void>> look_in_memory(const store::Look& look,
                                                    const std::function<bool()>& others_wait,
                                                    std::chrono::microseconds turn, bool& enough);

 private:
  const rocksdb::Snapshot* snapshot(rocksdb::DB& database);  // Null once it is gone.

  Records& records_;
  uint64_t number_ = 0;  // Zero until the first look.
};

}  // namespace kyanite::engine
