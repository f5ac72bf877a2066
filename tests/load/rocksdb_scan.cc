// Bare RocksDB: how long a scan of so many records takes in a database of many, flushed and cached.
// A directory used before is not filled again.
//
//   rocksdb_scan DIRECTORY RECORDS SCANNED SECONDS
#include <rocksdb/db.h>
#include <rocksdb/write_batch.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>

#include "measure.h"

namespace kyanite::load {
namespace {

// About the size of a small blob's record.
constexpr size_t kValueBytes = 120;
constexpr uint64_t kBatch = 1000;

rocksdb::Status fill(rocksdb::DB* db, uint64_t records) {
  rocksdb::Status status;
  const std::string value(kValueBytes, 'v');
  for (uint64_t i = 0; i < records && status.ok();) {
    rocksdb::WriteBatch batch;
    for (uint64_t j = 0; j < kBatch && i < records && status.ok(); ++j, ++i) {
      char key[48];
      std::snprintf(key, sizeof key, "container-blob-%012llu-head",
                    static_cast<unsigned long long>(i));
      status = batch.Put(key, value);
    }
    if (status.ok()) status = db->Write({}, &batch);
  }
  return status.ok() ? db->Flush({}) : status;
}

int run(const char* directory, uint64_t records, uint64_t scanned, double seconds) {
  const bool filled = std::filesystem::exists(directory);
  rocksdb::Options options;
  options.create_if_missing = true;
  rocksdb::DB* opened = nullptr;
  auto status = rocksdb::DB::Open(options, directory, &opened);
  const std::unique_ptr<rocksdb::DB> db(opened);
  if (status.ok() && !filled) status = fill(opened, records);
  Histogram latencies;
  const auto began = Clock::now();
  uint64_t bytes = 0;
  while (status.ok() && static_cast<double>(nanoseconds_since(began)) < seconds * 1e9) {
    const auto begin = Clock::now();
    const std::unique_ptr<rocksdb::Iterator> it(db->NewIterator({}));
    it->SeekToFirst();
    for (uint64_t i = 0; i < scanned && it->Valid(); ++i, it->Next()) {
      bytes += it->key().size() + it->value().size();
    }
    status = it->status();
    latencies.add(nanoseconds_since(begin));
  }
  if (!status.ok() || bytes == 0) {
    std::fprintf(stderr, "%s\n", status.ToString().c_str());
    return EXIT_FAILURE;
  }
  print_result(latencies, static_cast<double>(nanoseconds_since(began)) / 1e9, 0, "");
  return EXIT_SUCCESS;
}

}  // namespace
}  // namespace kyanite::load

int main(int argc, char** argv) {
  if (argc != 5) {
    std::fputs("usage: rocksdb_scan DIRECTORY RECORDS SCANNED SECONDS\n", stderr);
    return EXIT_FAILURE;
  }
  return kyanite::load::run(argv[1], std::strtoull(argv[2], nullptr, 10),
                            std::strtoull(argv[3], nullptr, 10), std::atof(argv[4]));
}
