#include "engine/records.h"

#include <rocksdb/cache.h>
#include <rocksdb/db.h>
#include <rocksdb/env.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/metadata.h>
#include <rocksdb/slice_transform.h>
#include <rocksdb/snapshot.h>
#include <rocksdb/table.h>
#include <rocksdb/write_batch.h>

#include <cerrno>
#include <cstdarg>
#include <cstdio>

#include "base/log.h"
#include "engine/codec.h"
#include "engine/record_files.h"
#include "engine/record_view.h"
#include "os/directory.h"

namespace kyanite::engine {

namespace {

using rocksdb::PinnableSlice;
using rocksdb::ReadOptions;
using store::Error;
using store::RecordPtr;

constexpr size_t kFamilyPrefixBytes = 9;  // of a key: space and family
constexpr size_t kWriteBufferBytes = size_t{32} << 20;
constexpr std::chrono::milliseconds kFirstRepairDelay{100};
constexpr std::chrono::milliseconds kLongestRepairDelay{5000};

// RocksDB's own remarks. Its usual way, a file, ends the process when the disk is full.
class Remarks final : public rocksdb::Logger {
 public:
  Remarks() : Logger(rocksdb::InfoLogLevel::WARN_LEVEL) {}
  void LogHeader(const char*, va_list) override {}
  using Logger::Logv;
  void Logv(const char* format, va_list arguments) override {
    char text[512];
    std::vsnprintf(text, sizeof text, format, arguments);
    log_warning(std::string("records: ") + text);
  }
};

uint64_t log_bytes(const std::string& directory) {
  uint64_t sum = 0;
  const auto names = os::list_directory(directory);
  if (!names) return 0;
  for (const auto& name : *names) {
    if (!name.ends_with(".log")) continue;
    auto log = os::File::open(directory + "/" + name, os::File::Mode::kRead);
    const auto status = log ? (*log)->status() : Failure{log.error()};
    if (status) sum += status->size;
  }
  return sum;
}

}  // namespace

// The right to use the database until destroyed.
class Records::Reading {
 public:
  explicit Reading(Records& records) : records_(records) {
    if (records.closing_) MutexLock wait(records.turnstile_);
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

Records::Records(RecordOptions options, std::unique_ptr<LogLedger> ledger)
    : opened_with_(std::move(options)),
      ledger_(std::move(ledger)),
      block_cache_(rocksdb::NewLRUCache(opened_with_.block_cache_bytes, 4)),
      env_(rocksdb::NewCompositeEnv(make_record_files(*ledger_))) {}

Records::~Records() = default;

kyanite::Result<std::unique_ptr<Records>, Records::Unopened> Records::open(
    RecordOptions options, std::unique_ptr<LogLedger> ledger) {
  std::unique_ptr<Records> records(new Records(std::move(options), std::move(ledger)));
  auto problem = records->open_database();
  if (!problem) return records;
  const auto lost = records->ledger_->refusal();
  return Failure{lost ? Unopened{*lost, true} : Unopened{*problem, false}};
}

rocksdb::Options Records::options() const {
  rocksdb::Options options;
  // Never after the first time: an empty database in the place of a lost one would be believed.
  options.create_if_missing = opened_with_.create && !adopted_;
  options.track_and_verify_wals_in_manifest = !ledger_->lenient();
  options.env = env_.get();
  options.write_buffer_size = kWriteBufferBytes;
  options.max_write_buffer_number = 3;
  options.max_total_wal_size = 4 * kWriteBufferBytes;
  options.max_background_jobs = 2;
  // Every file more makes a listing slower; docs/decisions/rocksdb.md has what merging early costs.
  options.level0_file_num_compaction_trigger = 2;
  options.max_open_files = static_cast<int>(opened_with_.most_open_files);
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
  options.info_log = std::make_shared<Remarks>();

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

std::optional<std::string> Records::open_database(const OpenHow& how) {
  if (auto lost = ledger_->begin(opened_with_.directory)) return lost;
  rocksdb::DB* opened = nullptr;
  const auto status = how(&opened);
  if (!status.ok()) return status.ToString();
  std::unique_ptr<rocksdb::DB> database(opened);
  if (adopted_ && !is_adopted(*database)) return "it is not the database that was open before";
  database_ = std::move(database);
  return std::nullopt;
}

std::optional<std::string> Records::open_database() {
  auto problem = open_database([this](rocksdb::DB** database) {
    return rocksdb::DB::Open(options(), opened_with_.directory, database);
  });
  if (!problem && adopted_) {
    if (auto settled = ledger_->settle(); !settled) {
      database_.reset();
      problem = settled.error().what;
    }
  }
  writable_ = !problem;
  return problem;
}

bool Records::is_adopted(rocksdb::DB& database) const {
  PinnableSlice bytes;
  const auto status =
      database.Get(ReadOptions(), database.DefaultColumnFamily(), standing_key().bytes(), &bytes);
  const auto record = record_of(status, bytes);
  if (!record || *record == nullptr) return false;
  const auto standing = standing_of(**record);
  return standing && standing->location == adopted_->location && standing->start == adopted_->start;
}

store::Result<void> Records::adopt(const Standing& standing) {
  if (auto settled = ledger_->settle(); !settled) {
    log_error(settled.error().what);
    return os::is_out_of_space(settled.error().code) ? Error::kFull : Error::kIo;
  }
  const auto record = to_record(standing);
  rocksdb::WriteBatch batch;
  batch.Put(standing_key().bytes(), encode_head(record->refs) + record->value)
      .PermitUncheckedError();
  if (auto written = write(batch); !written) return written;
  adopted_ = standing;
  return {};
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

store::Result<void> Records::look(const store::Look& look) {
  const Reading reading(*this);
  if (!reading.allowed()) return Error::kIo;
  rocksdb::ManagedSnapshot snapshot(&reading.database());
  return look(RecordView(reading.database(), snapshot.snapshot()));
}

// No gate: what is still in the list is of the database that is open.
Records::Kept::~Kept() {
  MutexLock lock(records_.kept_mutex_);
  const auto found = records_.kept_.find(number_);
  if (found == records_.kept_.end()) return;
  records_.database_->ReleaseSnapshot(found->second);
  records_.kept_.erase(found);
}

const rocksdb::Snapshot* Records::Kept::snapshot(rocksdb::DB& database) {
  MutexLock lock(records_.kept_mutex_);
  if (number_ == 0) {
    number_ = ++records_.last_kept_;
    records_.kept_.emplace(number_, database.GetSnapshot());
  }
  const auto found = records_.kept_.find(number_);
  return found == records_.kept_.end() ? nullptr : found->second;
}

store::Result<void> Records::Kept::look(const store::Look& look, std::chrono::microseconds turn) {
  const Reading reading(records_);
  if (!reading.allowed()) return Error::kIo;
  const auto* taken = snapshot(reading.database());
  if (taken == nullptr) return Error::kIo;
  Allotment allotment = Allotment::of_time(turn);
  return look(RecordView(reading.database(), taken, &allotment));
}

std::optional<store::Result<void>> Records::Kept::look_in_memory(
    const store::Look& look, const std::function<bool()>& others_wait,
    std::chrono::microseconds turn, bool& enough) {
  const Reading reading(records_, std::try_to_lock);
  if (!reading.allowed()) return std::nullopt;
  const auto* taken = snapshot(reading.database());
  if (taken == nullptr) return Error::kIo;
  Allotment allotment = Allotment::in_memory(turn, others_wait);
  auto looked = look(RecordView(reading.database(), taken, &allotment));
  enough = allotment.enough();
  if (allotment.missed()) return std::nullopt;
  return looked;
}

store::Result<void> Records::scan_all(
    const std::function<bool(std::string_view, std::string_view)>& see) {
  const Reading reading(*this);
  if (!reading.allowed() || !writable_) return Error::kIo;
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

namespace {

// A table that is missing is left out: whoever opens the copy finds that.
os::Result<void> pin_file(const rocksdb::LiveFileStorageInfo& file, const std::string& directory,
                          LogLedger::Synced& logs) {
  const std::string from = file.directory + "/" + file.relative_filename;
  const std::string to = directory + "/" + file.relative_filename;
  if (file.file_type == rocksdb::kOptionsFile) return {};
  if (file.file_type == rocksdb::kTableFile) {
    auto linked = os::link_file(from, to);
    if (!linked && linked.error().code == ENOENT) return {};
    return linked;
  }
  std::string bytes = file.replacement_contents;
  if (bytes.empty()) {
    auto text = os::read_text(from);
    if (!text) return Failure{text.error()};
    bytes = std::move(*text);
  }
  if (file.file_type == rocksdb::kWalFile) {
    // Beyond what is synced somebody may be writing.
    const auto known = logs.find(file.file_number);
    bytes.resize(std::min<uint64_t>(bytes.size(), known == logs.end() ? 0 : known->second));
  } else if (file.trim_to_size) {
    bytes.resize(std::min<uint64_t>(bytes.size(), file.size));
  }
  return os::write_text(directory, file.relative_filename, bytes);
}

}  // namespace

kyanite::Result<void, std::string> Records::pin_to(const std::string& directory,
                                                   const std::string& ledger) {
  const Reading reading(*this);
  if (!reading.allowed()) return Failure{std::string("the records cannot be read")};
  auto& database = reading.database();
  if (auto kept = database.DisableFileDeletions(); !kept.ok()) return Failure{kept.ToString()};
  std::vector<rocksdb::LiveFileStorageInfo> files;
  const auto listed = database.GetLiveFilesStorageInfo({}, &files);
  // Asked after the files: what is synced by now is in them.
  const auto synced = ledger_->synced();
  LogLedger::Synced logs;
  os::Result<void> pinned;
  for (const auto& file : files) {
    if (file.file_type == rocksdb::kWalFile) {
      const auto known = synced.find(file.file_number);
      if (known != synced.end()) logs.insert(*known);
    }
    if (pinned) pinned = pin_file(file, directory, logs);
  }
  const auto freed = database.EnableFileDeletions(false);
  if (!listed.ok()) return Failure{listed.ToString()};
  if (!freed.ok()) return Failure{freed.ToString()};
  if (pinned) pinned = os::sync_directory(directory);
  if (pinned) pinned = LogLedger::create(ledger, logs);
  if (!pinned) return Failure{pinned.error().what};
  return {};
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
  MutexLock lock(kept_mutex_);
  for (const auto& [number, snapshot] : kept_) database_->ReleaseSnapshot(snapshot);
  kept_.clear();
}

store::Result<void> Records::repair() {
  CHECK(broken_);
  const auto now = std::chrono::steady_clock::now();
  if (now < next_repair_) return *broken_;
  repair_delay_ = std::clamp(repair_delay_ * 2, kFirstRepairDelay, kLongestRepairDelay);
  next_repair_ = now + repair_delay_;
  // Closing a full database could leave nothing to read from, so it stays open until there is room.
  // Opening writes what it recovers from the logs to a table and begins a log.
  const uint64_t needed = log_bytes(opened_with_.directory) + kWriteBufferBytes / 4;
  if (*broken_ == Error::kFull && !opened_with_.room->make(needed)) return *broken_;
  // The same where its files cannot be opened, for want of descriptors or whatever else.
  if (const auto lost = ledger_->begin(opened_with_.directory)) {
    log_error("opening the records again: " + *lost);
    return *broken_;
  }

  MutexLock turnstile(turnstile_);
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
  // Reading may go on where writing cannot.
  (void)open_database([this](rocksdb::DB** database) {
    return rocksdb::DB::OpenForReadOnly(options(), opened_with_.directory, database);
  });
  return *broken_;
}

}  // namespace kyanite::engine
