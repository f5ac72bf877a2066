// The store on one machine: records in RocksDB, bulk bytes in extent files, one directory, one
// process.
//
//   get      record cache, else RocksDB
//   read     a RocksDB snapshot, on a worker; a kept snapshot also right here, what is in memory
//   scan     on workers that take turns and stand back
//   commit   [syncer: bytes durable ->] committer: guards checked, one synced batch for all that
//            wait -> cache
//   append   a worker writes the run to an extent
//   sweep    extents lose what no record lists
//
// Workers for appends, for reads and for scans are different ones: docs/decisions/fairness.md.
// docs/formats/engine.md describes what is on the disk.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "base/executor.h"
#include "engine/descriptors.h"
#include "engine/metrics.h"
#include "store/store.h"

namespace kyanite::engine {

class Pin;
struct SweepReport;

struct Options {
  std::string location;
  int append_threads = 4;
  int read_threads = 4;
  int scan_threads = 0;                         // 0: one less than there are processors.
  size_t most_waiting = Workers::kMostWaiting;  // for each kind of threads
  // How long a scan keeps a thread from others: first one for reads, then one for scans.
  std::chrono::microseconds first_scan_turn{500};
  std::chrono::microseconds scan_turn{2000};
  // And where the request is, as long as nobody waits there.
  std::chrono::microseconds unawaited_turn{2000};
  size_t record_cache_bytes = size_t{256} << 20;
  size_t block_cache_bytes = size_t{64} << 20;
  uint64_t extent_bytes = uint64_t{128} << 20;
  std::chrono::seconds sweep_interval{600};     // Zero: only when told to.
  uint64_t descriptors = 1024;                  // It has no more files open at a time.
  uint64_t reserve_bytes = uint64_t{64} << 20;  // Room on the disk for deletions when it is full.
  std::function<os::Result<uint64_t>()> free_bytes;  // Empty: as the disk says.
};

class Engine final : public store::Store {
 public:
  // The error is one sentence for the person who started the server.
  static kyanite::Result<std::unique_ptr<Engine>, std::string> open(Options options);
  // Everything acknowledged is durable already; this only tidies up. No call may be under way.
  ~Engine() override;

  Task<store::Result<store::RecordPtr>> get(const store::Key& key) override;
  std::optional<store::RecordPtr> peek(const store::Key& key) override;
  Task<store::Result<void>> look(store::Look look) override;
  std::unique_ptr<store::Snapshot> snapshot() override;
  Task<store::Result<void>> commit(store::Commit commit) override;
  Task<store::Result<store::Ref>> append(Buffer bytes) override;
  Task<store::Result<std::vector<store::Ref>>> append_all(std::vector<Buffer> runs) override;
  Task<store::Result<os::Bytes>> read_run(store::Ref ref, uint32_t offset, uint32_t length,
                                          bool prefer_file) override;
  store::Hold hold() override;
  store::Hold keep(std::vector<store::Ref> refs) override;
  Task<store::Result<size_t>> erase(store::Range range, size_t most) override;

  // The location at this instant, for whoever copies or checks it. Waits for the disk. The error is
  // a clause. There is one at a time, which the caller sees to.
  kyanite::Result<std::unique_ptr<Pin>, std::string> pin();

  // Sweeps on the calling thread, which must not hold a Hold.
  store::Result<SweepReport> sweep_now();
  Metrics metrics() const;

 private:
  struct Parts;
  explicit Engine(std::unique_ptr<Parts> parts);
  Task<store::Result<void>> submit(store::Commit commit);

  const std::unique_ptr<Parts> parts_;
};

}  // namespace kyanite::engine
