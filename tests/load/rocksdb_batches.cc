// Bare RocksDB as one committer drives it: one thread that writes the commits of so many clients as
// one batch and syncs it. A commit is two records, of 300 and 40 bytes. The floor of every small
// durable write.
//
//   rocksdb_batches DIRECTORY COMMITS SECONDS
#include <rocksdb/db.h>
#include <rocksdb/write_batch.h>

#include <cstdlib>
#include <memory>
#include <random>
#include <string>

#include "measure.h"

namespace kyanite::load {
namespace {

constexpr size_t kLarge = 300;
constexpr size_t kSmall = 40;

std::string random_bytes(std::mt19937_64& random, size_t count) {
  std::string bytes(count, '\0');
  for (char& c : bytes) c = static_cast<char>(random());
  return bytes;
}

int run(const char* directory, size_t commits, double seconds) {
  rocksdb::Options options;
  options.create_if_missing = true;
  rocksdb::DB* opened = nullptr;
  auto status = rocksdb::DB::Open(options, directory, &opened);
  const std::unique_ptr<rocksdb::DB> db(opened);
  std::mt19937_64 random(1);
  const std::string large = random_bytes(random, kLarge);
  const std::string small = random_bytes(random, kSmall);
  rocksdb::WriteOptions synced;
  synced.sync = true;
  Histogram latencies;
  const auto began = Clock::now();
  while (status.ok() && static_cast<double>(nanoseconds_since(began)) < seconds * 1e9) {
    const auto begin = Clock::now();
    rocksdb::WriteBatch batch;
    for (size_t i = 0; i < commits && status.ok(); ++i) {
      char key[48];
      std::snprintf(key, sizeof key, "partition-%016llx-record-a",
                    static_cast<unsigned long long>(random()));
      status = batch.Put(key, large);
      key[35] = 'b';
      if (status.ok()) status = batch.Put(key, small);
    }
    if (status.ok()) status = db->Write(synced, &batch);
    const uint64_t took = nanoseconds_since(begin);
    for (size_t i = 0; i < commits; ++i) latencies.add(took);
  }
  if (!status.ok()) {
    std::fprintf(stderr, "%s\n", status.ToString().c_str());
    return EXIT_FAILURE;
  }
  print_result(latencies, static_cast<double>(nanoseconds_since(began)) / 1e9, 0, "");
  return EXIT_SUCCESS;
}

}  // namespace
}  // namespace kyanite::load

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fputs("usage: rocksdb_batches DIRECTORY COMMITS SECONDS\n", stderr);
    return EXIT_FAILURE;
  }
  return kyanite::load::run(argv[1], std::strtoul(argv[2], nullptr, 10), std::atof(argv[3]));
}
