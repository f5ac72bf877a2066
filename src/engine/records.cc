#include "engine/records.h"

#include <rocksdb/cache.h>
#include <rocksdb/db.h>
#include <rocksdb/env.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/slice_transform.h>
#include <rocksdb/snapshot.h>
#include <rocksdb/table.h>
#include <rocksdb/write_batch.h>

#include "base/log.h"
#include "engine/codec.h"
#include "engine/record_files.h"
#include "os/directory.h"

namespace kyanite::engine {

namespace {

using rocksdb::PinnableSlice;
using rocksdb::ReadOptions;
using rocksdb::Slice;
using rocksdb::Status;
using store::Error;
using store::RecordPtr;

constexpr size_t kFamilyPrefixBytes = 9;  // of a key: space and family
constexpr size_t kWriteBufferBytes = size_t{32} << 20;
constexpr std::chrono::milliseconds kFirstRepairDelay{100};
constexpr std::chrono::milliseconds kLongestRepairDelay{5000};

Error error_of(const Status& status) {
  if (status.IsNoSpace()) return Error::kFull;
  if (status.IsCorruption()) return Error::kCorrupt;
  return Error::kIo;
}

Error unknown_format() {
  log_error("a record is not in a format this version knows");
  return Error::kCorrupt;
}

store::Result<RecordPtr> record_of(const Status& status, const Slice& bytes) {
  if (status.IsNotFound()) return RecordPtr();
  if (!status.ok()) {
    log_error("reading a record: " + status.ToString());
    return error_of(status);
  }
  auto record = decode_record({bytes.data(), bytes.size()});
  if (!record) return unknown_format();
  return RecordPtr(std::make_shared<const store::Record>(std::move(*record)));
}

// What a look in memory has used up. It must not wait for the device, and not keep its thread long.
class Budget {
 public:
  static constexpr uint32_t kSeek = 16;  // as many steps as a seek costs
  static constexpr uint32_t kEnough = 1024;
  static constexpr uint32_t kMost = 4096;

  void spend(uint32_t steps) { spent_ += steps; }
  bool enough() const { return spent_ >= kEnough; }
  // The look cannot go on in memory: what it does from here on is for nothing.
  void miss() { missed_ = true; }
  bool missed() const { return missed_ || spent_ > kMost; }

 private:
  uint32_t spent_ = 0;
  bool missed_ = false;
};

class RecordCursor final : public store::View::Cursor {
 public:
  // With a budget, in memory only.
  RecordCursor(rocksdb::DB& database, ReadOptions options, const store::Range& range,
               Budget* budget)
      : range_(range), end_(range_.to), budget_(budget) {
    if (!range_.to.empty()) options.iterate_upper_bound = &end_;
    options.ignore_range_deletions = true;  // There are none: looking for them costs each step.
    iterator_.reset(database.NewIterator(options));
    iterator_->Seek(range_.from);
    moved(Budget::kSeek);
  }
  bool valid() const override { return valid_; }
  std::string_view key() const override { return key_; }
  store::Result<RecordPtr> record() const override {
    return record_of(Status::OK(), iterator_->value());
  }
  store::Result<std::string_view> value() const override {
    const auto value = decode_value(iterator_->value().ToStringView());
    if (!value) return unknown_format();
    return *value;
  }
  void next() override {
    iterator_->Next();
    moved(1);
  }
  void seek(std::string_view key) override {
    iterator_->Seek(std::max<std::string_view>(key, range_.from));
    moved(Budget::kSeek);
  }
  store::Result<void> status() const override {
    if (budget_ != nullptr && budget_->missed()) return Error::kIo;
    if (iterator_->status().ok()) return {};
    log_error("scanning records: " + iterator_->status().ToString());
    return error_of(iterator_->status());
  }

 private:
  void moved(uint32_t steps) {
    valid_ = iterator_->Valid();
    if (valid_) key_ = iterator_->key().ToStringView();
    if (budget_ == nullptr) return;
    budget_->spend(steps);
    if (!valid_ && iterator_->status().IsIncomplete()) budget_->miss();
    if (budget_->missed()) valid_ = false;
  }

  const store::Range range_;
  const Slice end_;  // The iterator keeps a pointer to it.
  Budget* const budget_;
  std::unique_ptr<rocksdb::Iterator> iterator_;
  bool valid_ = false;
  std::string_view key_;
};

class RecordView final : public store::View {
 public:
  // With a budget, in memory only.
  RecordView(rocksdb::DB& database, const rocksdb::Snapshot* snapshot, Budget* budget = nullptr)
      : database_(database), budget_(budget) {
    options_.snapshot = snapshot;
    if (budget_ == nullptr) return;
    options_.read_tier = rocksdb::kBlockCacheTier;
    options_.background_purge_on_iterator_cleanup = true;
  }
  store::Result<RecordPtr> get(const store::Key& key) const override {
    PinnableSlice bytes;
    const auto status =
        database_.Get(options_, database_.DefaultColumnFamily(), key.bytes(), &bytes);
    if (budget_ != nullptr) {
      budget_->spend(Budget::kSeek);
      if (status.IsIncomplete()) budget_->miss();
      if (budget_->missed()) return Error::kIo;
    }
    return record_of(status, bytes);
  }
  std::unique_ptr<Cursor> scan(const store::Range& range) const override {
    return std::make_unique<RecordCursor>(database_, options_, range, budget_);
  }
  bool enough() const override { return budget_ != nullptr && budget_->enough(); }

 private:
  rocksdb::DB& database_;
  Budget* const budget_;
  ReadOptions options_;
};

}  // namespace

// The right to use the database until destroyed.
class Records::Reading {
 public:
  explicit Reading(Records& records) : records_(records) {
    if (records.closing_) std::lock_guard wait(records.turnstile_);
    lock_ = std::shared_lock(records.gate_);
  }
  Reading(Records& records, std::try_to_lock_t) : records_(records) {
    if (!records.closing_) lock_ = std::shared_lock(records.gate_, std::try_to_lock);
  }
  bool allowed() const { return lock_.owns_lock() && records_.database_ != nullptr; }
  rocksdb::DB& database() const { return *records_.database_; }

 private:
  Records& records_;
  std::shared_lock<std::shared_mutex> lock_;
};

Records::Records(std::string directory, size_t block_cache_bytes, size_t most_open_files)
    : directory_(std::move(directory)),
      most_open_files_(most_open_files),
      block_cache_(rocksdb::NewLRUCache(block_cache_bytes, 4)),
      env_(rocksdb::NewCompositeEnv(make_record_files())) {}

Records::~Records() = default;

kyanite::Result<std::unique_ptr<Records>, std::string> Records::open(std::string directory,
                                                                     size_t block_cache_bytes,
                                                                     size_t most_open_files) {
  std::unique_ptr<Records> records(
      new Records(std::move(directory), block_cache_bytes, most_open_files));
  if (auto problem = records->open_database()) return Failure{*problem};
  return records;
}

rocksdb::Options Records::options() const {
  rocksdb::Options options;
  options.create_if_missing = true;
  options.env = env_.get();
  options.write_buffer_size = kWriteBufferBytes;
  options.max_write_buffer_number = 3;
  options.max_total_wal_size = 4 * kWriteBufferBytes;
  options.max_background_jobs = 2;
  // Every file more makes a listing slower; docs/decisions/rocksdb.md has what merging early costs.
  options.level0_file_num_compaction_trigger = 2;
  options.max_open_files = static_cast<int>(most_open_files_);
  options.level_compaction_dynamic_level_bytes = true;
  options.compression = rocksdb::kLZ4Compression;
  // One thread writes, so the concurrent memtable only costs.
  options.allow_concurrent_memtable_write = false;
  options.enable_write_thread_adaptive_yield = false;
  // Most families grow at a few places: each finds the next one from where it was before.
  options.memtable_insert_with_hint_prefix_extractor.reset(
      rocksdb::NewFixedPrefixTransform(kFamilyPrefixBytes));
  // Every new object looks for records that are not there; this spares the search in the memtable.
  options.memtable_prefix_bloom_size_ratio = 0.02;
  options.memtable_whole_key_filtering = true;
  options.skip_stats_update_on_db_open = true;
  options.stats_dump_period_sec = 0;
  options.stats_persist_period_sec = 0;
  options.info_log_level = rocksdb::InfoLogLevel::WARN_LEVEL;
  options.max_log_file_size = 1 << 20;
  options.keep_log_file_num = 2;

  rocksdb::BlockBasedTableOptions table;
  table.block_cache = block_cache_;
  table.cache_index_and_filter_blocks = true;
  table.pin_l0_filter_and_index_blocks_in_cache = true;
  // In pieces: the index or filter of a large file as a whole would not fit its part of the cache,
  // and be read from the disk each time.
  table.index_type = rocksdb::BlockBasedTableOptions::kTwoLevelIndexSearch;
  table.partition_filters = true;
  table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
  table.format_version = 5;
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  return options;
}

std::optional<std::string> Records::open_database() {
  rocksdb::DB* database = nullptr;
  const auto status = rocksdb::DB::Open(options(), directory_, &database);
  if (!status.ok()) return status.ToString();
  database_.reset(database);
  return std::nullopt;
}

store::Result<RecordPtr> Records::get(std::string_view key) {
  const Reading reading(*this);
  if (!reading.allowed()) return Error::kIo;
  auto& database = reading.database();
  PinnableSlice bytes;
  const auto status = database.Get(ReadOptions(), database.DefaultColumnFamily(), key, &bytes);
  return record_of(status, bytes);
}

std::optional<store::Result<RecordPtr>> Records::get_in_memory(std::string_view key) {
  const Reading reading(*this, std::try_to_lock);
  if (!reading.allowed()) return std::nullopt;
  auto& database = reading.database();
  ReadOptions options;
  options.read_tier = rocksdb::kBlockCacheTier;
  PinnableSlice bytes;
  const auto status = database.Get(options, database.DefaultColumnFamily(), key, &bytes);
  if (status.IsIncomplete()) return std::nullopt;
  return record_of(status, bytes);
}

store::Result<void> Records::read(const store::Look& look) {
  const Reading reading(*this);
  if (!reading.allowed()) return Error::kIo;
  rocksdb::ManagedSnapshot snapshot(&reading.database());
  return look(RecordView(reading.database(), snapshot.snapshot()));
}

// No gate: what is still in the list is of the database that is open.
Records::Kept::~Kept() {
  std::lock_guard lock(records_.kept_mutex_);
  const auto found = records_.kept_.find(number_);
  if (found == records_.kept_.end()) return;
  records_.database_->ReleaseSnapshot(found->second);
  records_.kept_.erase(found);
}

const rocksdb::Snapshot* Records::Kept::snapshot(rocksdb::DB& database) {
  std::lock_guard lock(records_.kept_mutex_);
  if (number_ == 0) {
    number_ = ++records_.last_kept_;
    records_.kept_.emplace(number_, database.GetSnapshot());
  }
  const auto found = records_.kept_.find(number_);
  return found == records_.kept_.end() ? nullptr : found->second;
}

store::Result<void> Records::Kept::look(const store::Look& look) {
  const Reading reading(records_);
  if (!reading.allowed()) return Error::kIo;
  const auto* taken = snapshot(reading.database());
  if (taken == nullptr) return Error::kIo;
  return look(RecordView(reading.database(), taken));
}

std::optional<store::Result<void>> Records::Kept::look_in_memory(const store::Look& look) {
  const Reading reading(records_, std::try_to_lock);
  if (!reading.allowed()) return std::nullopt;
  const auto* taken = snapshot(reading.database());
  if (taken == nullptr) return Error::kIo;
  Budget budget;
  auto looked = look(RecordView(reading.database(), taken, &budget));
  if (budget.missed()) return std::nullopt;
  return looked;
}

store::Result<void> Records::scan_all(
    const std::function<bool(std::string_view, std::string_view)>& see) {
  const Reading reading(*this);
  if (!reading.allowed()) return Error::kIo;
  rocksdb::ManagedSnapshot snapshot(&reading.database());
  ReadOptions options;
  options.snapshot = snapshot.snapshot();
  options.fill_cache = false;
  std::unique_ptr<rocksdb::Iterator> iterator(reading.database().NewIterator(options));
  for (iterator->SeekToFirst(); iterator->Valid(); iterator->Next()) {
    if (closing_) return Error::kIo;  // A repair waits, and commits with it.
    if (!see(iterator->key().ToStringView(), iterator->value().ToStringView())) return {};
  }
  if (iterator->status().ok()) return {};
  return error_of(iterator->status());
}

store::Result<void> Records::write(rocksdb::WriteBatch& batch) {
  CHECK(!broken_);
  rocksdb::WriteOptions options;
  options.sync = true;
  // No gate: only this thread, the committer's, ever replaces the database.
  const auto status = database_->Write(options, &batch);
  if (status.ok()) return {};
  log_error("writing records: " + status.ToString());
  broken_ = status.IsNoSpace() ? Error::kFull : Error::kIo;
  next_repair_ = {};
  repair_delay_ = {};
  return *broken_;
}

void Records::release_kept() {
  std::lock_guard lock(kept_mutex_);
  for (const auto& [number, snapshot] : kept_) database_->ReleaseSnapshot(snapshot);
  kept_.clear();
}

bool Records::has_room() const {
  auto free = os::free_bytes(directory_);
  // Opening writes the recovered memtable out and begins a log.
  return !free || *free > 2 * kWriteBufferBytes;
}

store::Result<void> Records::repair() {
  CHECK(broken_);
  const auto now = std::chrono::steady_clock::now();
  if (now < next_repair_) return *broken_;
  repair_delay_ = std::clamp(repair_delay_ * 2, kFirstRepairDelay, kLongestRepairDelay);
  next_repair_ = now + repair_delay_;
  // Closing a full database could leave nothing to read from, so it stays open until there is room.
  if (*broken_ == Error::kFull && !has_room()) return *broken_;

  std::lock_guard turnstile(turnstile_);
  closing_ = true;
  std::unique_lock gate(gate_);
  closing_ = false;
  release_kept();
  database_.reset();
  const auto problem = open_database();
  if (!problem) {
    broken_.reset();
    ++repairs_;
    log_info("the records can be written again");
    return {};
  }
  log_error("opening the records again: " + *problem);
  rocksdb::DB* readable = nullptr;
  if (rocksdb::DB::OpenForReadOnly(options(), directory_, &readable).ok()) {
    database_.reset(readable);
  }
  return *broken_;
}

}  // namespace kyanite::engine
