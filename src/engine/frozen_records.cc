#include "engine/frozen_records.h"

#include <rocksdb/cache.h>
#include <rocksdb/db.h>
#include <rocksdb/env.h>
#include <rocksdb/metadata.h>
#include <rocksdb/sst_file_reader.h>
#include <rocksdb/table.h>

#include <algorithm>
#include <cstdarg>

#include "engine/codec.h"
#include "os/file.h"

namespace kyanite::engine {

namespace {

using rocksdb::ReadOptions;
using rocksdb::Status;
using IteratorPtr = std::unique_ptr<rocksdb::Iterator>;
using MakeIterator = std::function<IteratorPtr(const ReadOptions&)>;

constexpr size_t kCacheBytes = size_t{32} << 20;
constexpr int kMostOpenTables = 256;
// Of the keys found in a gap: damaged blocks are small, and nobody reads more names.
constexpr size_t kMostKeys = 1000;

class Silent final : public rocksdb::Logger {
 public:
  using Logger::Logv;
  void Logv(const char*, va_list) override {}
};

rocksdb::Options options_for(FrozenRecords::Care care) {
  rocksdb::Options options;
  options.info_log = std::make_shared<Silent>();
  options.max_open_files = kMostOpenTables;
  options.skip_stats_update_on_db_open = true;
  options.paranoid_checks = care == FrozenRecords::Care::kWhole;
  if (care == FrozenRecords::Care::kDamaged) {
    options.skip_checking_sst_file_sizes_on_db_open = true;
    options.wal_recovery_mode = rocksdb::WALRecoveryMode::kSkipAnyCorruptedRecords;
  }
  rocksdb::BlockBasedTableOptions table;
  table.block_cache = rocksdb::NewLRUCache(kCacheBytes);
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  return options;
}

ReadOptions once() {
  ReadOptions options;
  options.fill_cache = false;
  return options;
}

// The middle of two keys, a < b, as numbers; nothing when they are next to each other as far as it
// matters.
std::optional<std::string> between(const std::string& a, const std::string& b) {
  const auto [left, right] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  const size_t same = static_cast<size_t>(left - a.begin());
  constexpr size_t kDigits = 8;  // that differ at most
  const auto digit = [&](const std::string& key, size_t at) -> unsigned {
    return at < key.size() ? static_cast<unsigned char>(key[at]) : 0;
  };
  std::string sum(kDigits + 1, '\0');
  unsigned carry = 0;
  for (size_t i = kDigits; i-- > 0;) {
    const unsigned total = digit(a, same + i) + digit(b, same + i) + carry;
    sum[i + 1] = static_cast<char>(total & 0xff);
    carry = total >> 8;
  }
  sum[0] = static_cast<char>(carry);
  std::string half = a.substr(0, same);
  for (size_t i = 0; i < kDigits; ++i) {
    const unsigned high = static_cast<unsigned char>(sum[i]) & 1;
    half += static_cast<char>((high << 7) | (static_cast<unsigned char>(sum[i + 1]) >> 1));
  }
  if (half <= a || half >= b) return std::nullopt;
  return half;
}

// Walks over what some iterator shows, and over what it cannot.
class Walk {
 public:
  Walk(MakeIterator make, std::string to) : make_(std::move(make)), to_(std::move(to)) {}

  void run(const std::string& from, const FrozenRecords::See& see,
           const FrozenRecords::SeeGap& see_gap) {
    std::string last;       // The key that was seen last.
    std::string at = from;  // Where to go on.
    while (true) {
      const IteratorPtr iterator = make_(once());
      for (iterator->Seek(at); iterator->Valid(); iterator->Next()) {
        const auto key = iterator->key().ToStringView();
        if (beyond(key)) return;
        if (!see(key, iterator->value().ToStringView())) return;
        last.assign(key);
      }
      if (iterator->status().ok()) return;
      Gap gap{last, {}, iterator->status().ToString(), {}};
      const auto next = next_readable(std::max(last, at));
      if (next) gap.before = first_from(*next);
      gap.keys = keys_within(gap);
      see_gap(gap);
      if (!next || !gap.before) return;
      at = *gap.before;
    }
  }

 private:
  bool beyond(std::string_view key) const { return !to_.empty() && key >= to_; }
  bool readable(const std::string& key) const {
    const IteratorPtr iterator = make_(once());
    iterator->Seek(key);
    return iterator->status().ok();
  }
  // Where the first record lies that is not before these bytes.
  std::optional<std::string> first_from(const std::string& key) const {
    const IteratorPtr iterator = make_(once());
    iterator->Seek(key);
    if (!iterator->Valid() || beyond(iterator->key().ToStringView())) return std::nullopt;
    return iterator->key().ToString();
  }
  // Bytes from which on it can be read again, as near as they can be found.
  std::optional<std::string> next_readable(std::string low) const {
    std::optional<std::string> high;
    for (size_t length = low.size() + 1; length-- > 0 && !high;) {
      std::string next = store::after_prefix(low.substr(0, length));
      if (length == 0 || next.empty()) next = std::string(16, '\xff');
      if (readable(next)) {
        high = std::move(next);
      } else {
        low = std::max(low, next);
      }
    }
    if (!high) return std::nullopt;
    while (const auto middle = between(low, *high)) {
      if (readable(*middle)) {
        high = *middle;
      } else {
        low = *middle;
      }
    }
    return high;
  }
  std::vector<std::string> keys_within(const Gap& gap) const {
    std::vector<std::string> keys;
    ReadOptions unverified = once();
    unverified.verify_checksums = false;
    const IteratorPtr iterator = make_(unverified);
    if (gap.after.empty()) {
      iterator->SeekToFirst();
    } else {
      iterator->Seek(gap.after);
    }
    for (; iterator->Valid() && keys.size() < kMostKeys; iterator->Next()) {
      const auto key = iterator->key().ToStringView();
      if (gap.before && key >= *gap.before) break;
      if (beyond(key)) break;
      if (key > gap.after) keys.emplace_back(key);
    }
    return keys;
  }

  const MakeIterator make_;
  const std::string to_;
};

}  // namespace

FrozenRecords::FrozenRecords(std::string directory, std::unique_ptr<rocksdb::DB> database)
    : directory_(std::move(directory)), database_(std::move(database)) {}

FrozenRecords::~FrozenRecords() = default;

Result<std::unique_ptr<FrozenRecords>, std::string> FrozenRecords::open(
    const std::string& directory, Care care) {
  rocksdb::DB* opened = nullptr;
  const auto status = rocksdb::DB::OpenForReadOnly(options_for(care), directory, &opened);
  if (!status.ok()) return Failure{status.ToString()};
  return std::unique_ptr<FrozenRecords>(
      new FrozenRecords(directory, std::unique_ptr<rocksdb::DB>(opened)));
}

store::Result<store::RecordPtr> FrozenRecords::get(const store::Key& key) const {
  std::string bytes;
  const auto status = database_->Get(once(), key.bytes(), &bytes);
  if (status.IsNotFound()) return store::RecordPtr();
  if (!status.ok()) return store::Error::kCorrupt;
  auto record = decode_record(bytes);
  if (!record) return store::Error::kCorrupt;
  return store::RecordPtr(std::make_shared<const store::SharedRecord>(std::move(*record)));
}

void FrozenRecords::scan(const std::string& from, const std::string& to, const See& see,
                         const SeeGap& gap) const {
  const auto make = [this](const ReadOptions& options) {
    return IteratorPtr(database_->NewIterator(options));
  };
  Walk(make, to).run(from, see, gap);
}

std::vector<FrozenRecords::Table> FrozenRecords::tables() const {
  std::vector<rocksdb::LiveFileMetaData> files;
  database_->GetLiveFilesMetaData(&files);
  std::vector<Table> tables;
  tables.reserve(files.size());
  for (const auto& file : files)
    tables.push_back({file.relative_filename, file.size, file.smallestkey, file.largestkey});
  return tables;
}

void FrozenRecords::check_table(const Table& table, const SeeGap& gap) const {
  const std::string path = directory_ + "/" + table.name;
  const auto unreadable = [&](std::string why) {
    gap({table.first, table.last, std::move(why), {}});
  };
  auto file = os::File::open(path, os::File::Mode::kRead);
  auto status = file ? (*file)->status() : Failure{file.error()};
  if (!status) return unreadable(status.error().what);
  if (status->size != table.bytes) {
    return unreadable("the file has " + std::to_string(status->size) + " bytes instead of " +
                      std::to_string(table.bytes));
  }
  rocksdb::SstFileReader reader(options_for(Care::kDamaged));
  if (const auto opened = reader.Open(path); !opened.ok()) return unreadable(opened.ToString());
  const auto verified = reader.VerifyChecksum(once());
  if (verified.ok()) return;
  bool found = false;
  const auto make = [&](const ReadOptions& options) {
    return IteratorPtr(reader.NewIterator(options));
  };
  const auto see_gap = [&](const Gap& each) {
    found = true;
    gap(each);
  };
  Walk(make, {}).run(
      {}, [](std::string_view, std::string_view) { return true; }, see_gap);
  // Not in its records: in what helps to find them.
  if (!found) unreadable(verified.ToString());
}

}  // namespace kyanite::engine
