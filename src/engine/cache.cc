#include "engine/cache.h"

#include "base/check.h"

namespace kyanite::engine {

namespace {

// Map node, hash bucket, control block and malloc headers of an entry, roughly.
constexpr size_t kEntryOverhead = 200;

size_t cost(std::string_view key, const store::RecordPtr& record) {
  const size_t content = record == nullptr
                             ? 0
                             : record->value.size() + record->refs.size() * sizeof(store::Ref) +
                                   record->decoded.bytes();
  return kEntryOverhead + key.size() + content;
}

void add(std::atomic<uint64_t>& counter, uint64_t amount) {
  // Only changed under the shard's mutex; atomic for readers of metrics.
  counter.store(counter.load(std::memory_order_relaxed) + amount, std::memory_order_relaxed);
}

}  // namespace

RecordCache::RecordCache(size_t budget_bytes) : shard_budget_(budget_bytes / kShards) {}

RecordCache::Shard& RecordCache::shard_of(const Hashed& key) {
  // The high bits: the map inside uses the low ones.
  return shards_[(key.hash >> 48) % kShards];
}

RecordCache::Cached RecordCache::find(std::string_view bytes) {
  const Hashed key(bytes);
  Shard& shard = shard_of(key);
  MutexLock lock(shard.mutex);
  auto found = shard.entries.find(key);
  if (found == shard.entries.end() || found->second.in_doubt) {
    add(shard.misses, 1);
    return {false, nullptr, shard.version};
  }
  add(shard.hits, 1);
  found->second.used = true;
  charge(shard, *found);  // It may have been decoded meanwhile.
  return {true, found->second.record, shard.version};
}

void RecordCache::fill(std::string_view bytes, store::RecordPtr record, uint64_t version) {
  const Hashed key(bytes);
  Shard& shard = shard_of(key);
  MutexLock lock(shard.mutex);
  if (!shard.trusted || shard.version != version || shard.writing.contains(key)) return;
  set(shard, key, std::move(record));
}

void RecordCache::begin_write(std::string_view bytes) {
  const Hashed key(bytes);
  Shard& shard = shard_of(key);
  MutexLock lock(shard.mutex);
  shard.writing.insert(key);
  if (auto found = shard.entries.find(key); found != shard.entries.end())
    found->second.in_doubt = true;
}

void RecordCache::put(std::string_view bytes, store::RecordPtr record) {
  const Hashed key(bytes);
  Shard& shard = shard_of(key);
  MutexLock lock(shard.mutex);
  CHECK(shard.writing.erase(key) == 1);
  ++shard.version;
  if (record != nullptr) {
    set(shard, key, std::move(record));
  } else if (auto found = shard.entries.find(key); found != shard.entries.end()) {
    remove(shard, found);
  }
}

void RecordCache::distrust() {
  for (auto& shard : shards_) {
    MutexLock lock(shard.mutex);
    shard.trusted = false;
    shard.writing.clear();
    shard.entries.clear();
    shard.newest = shard.oldest = shard.hand = nullptr;
    shard.bytes = 0;
  }
}

void RecordCache::trust() {
  for (auto& shard : shards_) {
    MutexLock lock(shard.mutex);
    shard.trusted = true;
    ++shard.version;  // Who asked before may have read the database as it was before.
  }
}

void RecordCache::set(Shard& shard, const Hashed& key, store::RecordPtr record) {
  auto found = shard.entries.find(key);
  if (found == shard.entries.end()) {
    found = shard.entries.emplace(key.key, Entry{}).first;
    Entry& entry = found->second;
    entry.older = shard.newest;
    (shard.newest == nullptr ? shard.oldest : shard.newest->second.newer) = &*found;
    shard.newest = &*found;
  }
  found->second.record = std::move(record);
  found->second.in_doubt = false;
  charge(shard, *found);
  while (shard.bytes > shard_budget_ && !shard.entries.empty()) evict_one(shard);
}

void RecordCache::charge(Shard& shard, Entries::value_type& item) {
  Entry& entry = item.second;
  const size_t bytes = cost(item.first, entry.record);
  if (bytes == entry.bytes) return;
  add(shard.bytes, bytes - entry.bytes);
  entry.bytes = bytes;
}

void RecordCache::evict_one(Shard& shard) {
  auto* item = shard.hand == nullptr ? shard.oldest : shard.hand;
  while (item->second.used) {
    item->second.used = false;
    item = item->second.newer == nullptr ? shard.oldest : item->second.newer;
  }
  shard.hand = item;
  remove(shard, shard.entries.find(item->first));
}

void RecordCache::remove(Shard& shard, Entries::iterator item) {
  Entry& entry = item->second;
  if (shard.hand == &*item) shard.hand = entry.newer;
  (entry.newer == nullptr ? shard.newest : entry.newer->second.older) = entry.older;
  (entry.older == nullptr ? shard.oldest : entry.older->second.newer) = entry.newer;
  add(shard.bytes, 0 - entry.bytes);
  shard.entries.erase(item);
}

uint64_t RecordCache::sum(std::atomic<uint64_t> Shard::*counter) const {
  uint64_t total = 0;
  for (const auto& shard : shards_) total += (shard.*counter).load(std::memory_order_relaxed);
  return total;
}

}  // namespace kyanite::engine
