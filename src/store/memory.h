// The store in memory: the reference the contract suite is written against, and what services are
// tested on. Nothing survives it and bytes are never reclaimed.
#pragma once

#include <map>

#include "base/mutex.h"
#include "store/store.h"

namespace kyanite::store {

// Tests override what is to go wrong.
class MemoryStore : public Store {
 public:
  Task<Result<RecordPtr>> get(const Key& key) override;
  Task<Result<void>> look(Look look) override;
  std::unique_ptr<Snapshot> snapshot() override;
  Task<Result<void>> commit(Commit commit) override;
  Task<Result<Ref>> append(Buffer bytes) override;
  Task<Result<os::Bytes>> read_run(Ref ref, uint32_t offset, uint32_t length,
                                   bool prefer_file) override;
  Hold hold() override;
  Hold keep(std::vector<Ref> refs) override;
  Task<Result<size_t>> erase(Range range, size_t most) override;

  // All records there are, in order.
  std::vector<Entry> everything();

  using Records = std::map<std::string, RecordPtr, std::less<>>;

 private:
  class KeptSnapshot;

  // The records, for changing them: copied first when a View still looks at them.
  Records& writable() REQUIRES(mutex_);

  Mutex mutex_;
  std::shared_ptr<Records> records_ GUARDED_BY(mutex_) = std::make_shared<Records>();
  std::map<uint64_t, std::string> runs_ GUARDED_BY(mutex_);  // By offset; all in extent 1.
  uint64_t next_offset_ GUARDED_BY(mutex_) = 0;
};

}  // namespace kyanite::store
