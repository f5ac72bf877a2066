// Records in memory, absent ones included, within a budget of bytes. Holds exactly what is
// committed: the committer puts every record it wrote, and whoever reads one from the database may
// add it only if no commit touched that part of the cache meanwhile. While a batch is being written
// its records are not known here, so that they change for everyone in the one instant when they
// change in the database, and all of them together.
#pragma once

#include <array>
#include <atomic>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "base/mutex.h"
#include "store/store.h"

namespace kyanite::engine {

class RecordCache {
 public:
  explicit RecordCache(size_t budget_bytes);

  struct Cached {
    bool known = false;       // Whether `record` says how things are.
    store::RecordPtr record;  // Null: known to be absent.
    uint64_t version = 0;     // For fill(), when not known.
  };
  Cached find(std::string_view key);
  // Adds what the database said after find() gave `version`, unless a commit came between.
  void fill(std::string_view key, store::RecordPtr record, uint64_t version);
  // Forgets the record: it is about to be written. Until put(), up to when `key` must stay valid,
  // the database alone tells how it is.
  void begin_write(std::string_view key);
  // Sets what was just committed. Ends what begin_write() began. What was deleted is forgotten: few
  // ask for it, and consumers of queues delete all day.
  void put(std::string_view key, store::RecordPtr record);
  // A write has failed: opened again, the database may show it or not. Forgets everything, writes
  // that have begun among it, and takes nothing in until the database was opened and trust()
  // called.
  void distrust();
  void trust();

  uint64_t hits() const { return sum(&Shard::hits); }
  uint64_t misses() const { return sum(&Shard::misses); }
  uint64_t bytes() const { return sum(&Shard::bytes); }

 private:
  struct Entry;
  // A key that is looked for in several places is hashed once.
  struct Hashed {
    explicit Hashed(std::string_view bytes)
        : key(bytes), hash(std::hash<std::string_view>{}(bytes)) {}
    bool operator==(const Hashed& other) const { return key == other.key; }
    std::string_view key;
    size_t hash;
  };
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view key) const { return std::hash<std::string_view>{}(key); }
    size_t operator()(const Hashed& key) const { return key.hash; }
  };
  struct Equal {
    using is_transparent = void;
    bool operator()(std::string_view a, std::string_view b) const { return a == b; }
    bool operator()(const Hashed& a, std::string_view b) const { return a.key == b; }
    bool operator()(std::string_view a, const Hashed& b) const { return a == b.key; }
  };
  using Entries = std::unordered_map<std::string, Entry, Hash, Equal>;
  // Entries form a queue from newest to oldest. A hit only sets a flag; a hand that walks from old
  // to new evicts what was not used since it last came by (the SIEVE policy).
  struct Entry {
    store::RecordPtr record;
    size_t bytes = 0;
    bool used = false;
    bool in_doubt = false;  // Being written.
    Entries::value_type* newer = nullptr;
    Entries::value_type* older = nullptr;
  };
  struct alignas(64) Shard {
    Mutex mutex;
    Entries entries GUARDED_BY(mutex);
    Entries::value_type* newest GUARDED_BY(mutex) = nullptr;
    Entries::value_type* oldest GUARDED_BY(mutex) = nullptr;
    Entries::value_type* hand GUARDED_BY(mutex) = nullptr;
    uint64_t version GUARDED_BY(mutex) = 0;
    bool trusted GUARDED_BY(mutex) = true;
    std::unordered_set<Hashed, Hash> writing GUARDED_BY(mutex);  // Keys that must not be filled in.
    std::atomic<uint64_t> bytes{0};
    std::atomic<uint64_t> hits{0};
    std::atomic<uint64_t> misses{0};
  };

  Shard& shard_of(const Hashed& key);
  void set(Shard& shard, const Hashed& key, store::RecordPtr record) REQUIRES(shard.mutex);
  static void charge(Shard& shard, Entries::value_type& item) REQUIRES(shard.mutex);
  static void evict_one(Shard& shard) REQUIRES(shard.mutex);
  static void remove(Shard& shard, Entries::iterator item) REQUIRES(shard.mutex);
  uint64_t sum(std::atomic<uint64_t> Shard::*counter) const;

  static constexpr size_t kShards = 64;
  const size_t shard_budget_;
  std::array<Shard, kShards> shards_;
};

}  // namespace kyanite::engine
