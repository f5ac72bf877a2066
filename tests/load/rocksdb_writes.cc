// Bare RocksDB: threads that each put one record and wait for its sync, with default options.
//
//   rocksdb_writes DIRECTORY THREADS BYTES SECONDS
#include <rocksdb/db.h>

#include <atomic>
#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "measure.h"

namespace kyanite::load {
namespace {

struct Worker {
  Histogram latencies;
  std::string error;
};

// Keys as long as ours of a container's blob, in no order.
std::string key_of(uint64_t random) {
  char key[48];
  const int length = std::snprintf(key, sizeof key, "container-blob-%016llx-head",
                                   static_cast<unsigned long long>(random));
  return {key, static_cast<size_t>(length)};
}

void work(rocksdb::DB& db, size_t bytes, uint64_t seed, Clock::time_point until, Worker& worker) {
  std::mt19937_64 random(seed);
  std::string value(bytes, '\0');
  for (char& c : value) c = static_cast<char>(random());
  rocksdb::WriteOptions options;
  options.sync = true;
  while (Clock::now() < until) {
    const std::string key = key_of(random());
    const auto begin = Clock::now();
    const auto status = db.Put(options, key, value);
    if (!status.ok()) {
      worker.error = status.ToString();
      return;
    }
    worker.latencies.add(nanoseconds_since(begin));
  }
}

int run(const char* directory, size_t threads, size_t bytes, double seconds) {
  rocksdb::Options options;
  options.create_if_missing = true;
  rocksdb::DB* opened = nullptr;
  if (auto status = rocksdb::DB::Open(options, directory, &opened); !status.ok()) {
    std::fprintf(stderr, "%s\n", status.ToString().c_str());
    return EXIT_FAILURE;
  }
  const std::unique_ptr<rocksdb::DB> db(opened);
  std::vector<Worker> workers(threads);
  std::vector<std::thread> running;
  const auto began = Clock::now();
  const auto until = began + std::chrono::microseconds(static_cast<int64_t>(seconds * 1e6));
  for (size_t i = 0; i < threads; ++i) {
    running.emplace_back([&, i] { work(*db, bytes, i + 1, until, workers[i]); });
  }
  for (auto& thread : running) thread.join();
  const double elapsed = static_cast<double>(nanoseconds_since(began)) / 1e9;
  Histogram latencies;
  for (const auto& worker : workers) {
    if (!worker.error.empty()) {
      std::fprintf(stderr, "%s\n", worker.error.c_str());
      return EXIT_FAILURE;
    }
    latencies.add(worker.latencies);
  }
  print_result(latencies, elapsed, 0, "");
  return EXIT_SUCCESS;
}

}  // namespace
}  // namespace kyanite::load

int main(int argc, char** argv) {
  if (argc != 5) {
    std::fputs("usage: rocksdb_writes DIRECTORY THREADS BYTES SECONDS\n", stderr);
    return EXIT_FAILURE;
  }
  return kyanite::load::run(argv[1], std::strtoul(argv[2], nullptr, 10),
                            std::strtoul(argv[3], nullptr, 10), std::atof(argv[4]));
}
