#include "engine/committer.h"

#include <pthread.h>
#include <rocksdb/write_batch.h>

#include <chrono>

namespace kyanite::engine {

namespace {

using store::Error;
using store::RecordPtr;

// More in one batch gains nothing and makes everyone in it wait longer.
constexpr size_t kMostInBatch = 128;
constexpr std::chrono::milliseconds kRepairPause{100};

bool same(const RecordPtr& a, const RecordPtr& b) {
  return a == b || (a != nullptr && b != nullptr && *a == *b);
}

void add_write(rocksdb::WriteBatch& batch, const store::Write& write, const std::string& head) {
  if (write.record == nullptr) {
    batch.Delete(write.key.bytes())
        .PermitUncheckedError();  // Fails only past a limit we do not set.
    return;
  }
  const rocksdb::Slice key(write.key.bytes());
  const rocksdb::Slice value[] = {head, write.record->value};
  batch.Put(rocksdb::SliceParts(&key, 1), rocksdb::SliceParts(value, 2)).PermitUncheckedError();
}

}  // namespace

Committer::Committer(Records& records, RecordCache& cache, Room& room)
    : records_(records), cache_(cache), room_(room), thread_([this] { loop(); }) {
  pthread_setname_np(thread_.native_handle(), "committer");
}

Committer::~Committer() {
  queue_.close();
  thread_.join();
}

void Committer::watch(CommitWatch* watch) {
  MutexLock lock(batch_mutex_);
  watch_ = watch;
  if (watch_ == nullptr) return;
  for (const auto& commit : in_doubt_) watch_->committing(commit);
}

void Committer::loop() {
  Batch batch;
  const auto patience = [this]() -> CommitQueue::Patience {
    // Nobody may come to commit while nothing can be read, or while the disk is full: neither a
    // repair nor a look for room waits for it.
    if (records_.broken() || !room_.plenty()) return kRepairPause;
    return std::nullopt;
  };
  while (queue_.take(batch, kMostInBatch, patience())) process(batch);
}

void Committer::process(const Batch& batch) {
  store::Result<void> result;
  {
    MutexLock lock(batch_mutex_);
    room_.look();
    if (records_.broken()) result = repair();
    if (result.ok()) {
      rocksdb::WriteBatch writes;
      stage(batch, writes);
      result = write(writes);
      if (!result.ok()) doubt(batch);
      staged_.clear();
    }
  }
  finish(batch, result);
}

store::Result<void> Committer::repair() {
  auto repaired = records_.repair();
  if (!repaired) return repaired;
  cache_.trust();
  in_doubt_.clear();
  return {};
}

void Committer::stage(const Batch& batch, rocksdb::WriteBatch& writes) {
  for (auto* request : batch) {
    request->refused = obstacle(request->commit);
    if (request->refused) continue;
    if (watch_ != nullptr) watch_->committing(request->commit);
    for (size_t i = 0; i < request->commit.writes.size(); ++i) {
      const auto& write = request->commit.writes[i];
      add_write(writes, write, request->heads[i]);
      staged_.insert_or_assign(write.key.bytes(), write.record);
    }
  }
}

std::optional<Error> Committer::obstacle(const store::Commit& commit) {
  for (const auto& guard : commit.guards) {
    auto now = current(guard.key.bytes());
    if (!now) return now.error();
    if (!same(*now, guard.expected)) return Error::kConflict;
  }
  if (!room_.plenty() && !frees(commit)) return Error::kFull;
  return std::nullopt;
}

store::Result<RecordPtr> Committer::current(const std::string& key) {
  if (auto found = staged_.find(key); found != staged_.end()) return found->second;
  const auto found = cache_.find(key);
  if (found.known) return found.record;
  auto record = records_.get(key);
  if (record.ok()) cache_.fill(key, *record, found.version);
  return record;
}

store::Result<void> Committer::write(rocksdb::WriteBatch& writes) {
  if (writes.Count() == 0) return {};
  for (const auto& [key, record] : staged_) cache_.begin_write(key);
  const auto start = std::chrono::steady_clock::now();
  auto written = records_.write(writes);
  counters_.sync_nanos += static_cast<uint64_t>((std::chrono::steady_clock::now() - start).count());
  ++counters_.batches;
  if (!written.ok()) {
    if (written.error() == Error::kFull) room_.refused();
    cache_.distrust();
    return Error::kUnknown;
  }
  // Of several writes to one key only the last: readers must not see the ones before it.
  for (const auto& [key, record] : staged_) cache_.put(key, record);
  return {};
}

// Whether the batch is on the disk shows only when the database is opened again.
void Committer::doubt(const Batch& batch) {
  for (const auto* request : batch) {
    if (!request->refused) in_doubt_.push_back(request->commit);
  }
}

void Committer::finish(const Batch& batch, const store::Result<void>& result) {
  wakeups_.clear();
  for (auto* request : batch) {
    if (!result.ok() && !request->refused) request->refused = result.error();
    store::Result<void> outcome;
    if (!request->refused) {
      ++counters_.commits;
    } else {
      ++(*request->refused == Error::kConflict ? counters_.conflicts : counters_.failures);
      outcome = *request->refused;
    }
    if (auto wakeup = request->done.set_quietly(outcome)) wakeups_.push_back(*wakeup);
  }
  wake(wakeups_);
}

}  // namespace kyanite::engine
