#include "store/memory.h"

#include "base/check.h"
#include "base/executor.h"
#include "store/checksum.h"

namespace kyanite::store {

namespace {

using Records = MemoryStore::Records;

RecordPtr find(const Records& records, std::string_view key) {
  auto found = records.find(key);
  return found == records.end() ? nullptr : found->second;
}

bool same(const RecordPtr& a, const RecordPtr& b) {
  return a == b || (a != nullptr && b != nullptr && *a == *b);
}

// Few, so that tests go on in another look often.
constexpr size_t kMovesPerLook = 64;

class MemoryCursor final : public View::Cursor {
 public:
  MemoryCursor(const Records& records, const Range& range, size_t& moves)
      : records_(records), range_(range), moves_(moves) {
    at_ = records_.lower_bound(range_.from());
  }
  bool valid() const override { return at_ != records_.end() && at_->first < range_.to(); }
  std::string_view key() const override { return at_->first; }
  Result<RecordPtr> record() const override { return at_->second; }
  Result<std::string_view> value() const override { return std::string_view(at_->second->value); }
  void next() override {
    ++moves_;
    ++at_;
  }
  void seek(std::string_view key) override {
    ++moves_;
    at_ = records_.lower_bound(std::max<std::string_view>(key, range_.from()));
  }
  Result<void> status() const override { return {}; }

 private:
  const Records& records_;
  Range range_;
  size_t& moves_;
  Records::const_iterator at_;
};

class MemoryView final : public View {
 public:
  explicit MemoryView(const Records& records) : records_(records) {}
  Result<RecordPtr> get(const Key& key) const override { return find(records_, key.bytes()); }
  std::unique_ptr<Cursor> scan(const Range& range) const override {
    return std::make_unique<MemoryCursor>(records_, range, moves_);
  }
  bool enough() const override { return moves_ >= kMovesPerLook; }

 private:
  const Records& records_;
  mutable size_t moves_ = 0;
};

}  // namespace

Records& MemoryStore::writable() {
  if (records_.use_count() > 1) records_ = std::make_shared<Records>(*records_);
  return *records_;
}

Task<Result<RecordPtr>> MemoryStore::get(const Key& key) {
  MutexLock lock(mutex_);
  co_return find(*records_, key.bytes());
}

class MemoryStore::KeptSnapshot final : public Snapshot {
 public:
  explicit KeptSnapshot(MemoryStore& store) : store_(store) {}
  // Under the lock, so that writable() reads a settled count.
  ~KeptSnapshot() override {
    MutexLock lock(store_.mutex_);
    records_.reset();
  }
  Task<Result<void>> look(Look look) override {
    if (records_ == nullptr) {
      MutexLock lock(store_.mutex_);
      records_ = store_.records_;
    } else {
      co_await Executor::yield();  // Others have their turn.
    }
    co_return look(MemoryView(*records_));
  }
  Task<Result<void>> scan(Look look) override { return this->look(std::move(look)); }

 private:
  MemoryStore& store_;
  std::shared_ptr<const Records> records_;
};

Task<Result<void>> MemoryStore::look(Look look) {
  KeptSnapshot snapshot(*this);
  co_return co_await snapshot.look(std::move(look));
}

std::unique_ptr<Snapshot> MemoryStore::snapshot() { return std::make_unique<KeptSnapshot>(*this); }

Task<Result<void>> MemoryStore::commit(Commit commit) {
  if (auto fits = check_well_formed(commit); !fits) co_return fits.error();
  MutexLock lock(mutex_);
  for (const auto& guard : commit.guards) {
    if (!same(find(*records_, guard.key.bytes()), guard.expected)) co_return Error::kConflict;
  }
  Records& records = writable();
  for (auto& write : commit.writes) {
    if (write.record == nullptr) {
      records.erase(write.key.bytes());
    } else {
      records.insert_or_assign(write.key.bytes(), std::move(write.record));
    }
  }
  co_return Result<void>{};
}

Task<Result<Ref>> MemoryStore::append(Buffer bytes) {
  CHECK(!bytes.empty() && bytes.size() <= kMaxRunBytes);
  MutexLock lock(mutex_);
  Ref ref{1, next_offset_, static_cast<uint32_t>(bytes.size()), crc32c(bytes.view())};
  runs_.emplace(next_offset_, bytes.view());
  next_offset_ += bytes.size();
  co_return ref;
}

Task<Result<os::Bytes>> MemoryStore::read_run(Ref ref, uint32_t offset, uint32_t length, bool) {
  CHECK(length <= ref.length && offset <= ref.length - length);
  MutexLock lock(mutex_);
  auto found = runs_.find(ref.offset);
  if (ref.extent != 1 || found == runs_.end() || found->second.size() != ref.length ||
      crc32c(found->second) != ref.crc32c) {
    co_return Error::kCorrupt;
  }
  co_return os::Bytes(Buffer::copy_of(std::string_view(found->second).substr(offset, length)));
}

std::vector<Entry> MemoryStore::everything() {
  MutexLock lock(mutex_);
  std::vector<Entry> entries;
  for (const auto& [key, record] : *records_) entries.push_back({Key::from_bytes(key), record});
  return entries;
}

Hold MemoryStore::hold() { return Hold(); }
Hold MemoryStore::keep(std::vector<Ref>) { return Hold(); }

Task<Result<size_t>> MemoryStore::erase(Range range, size_t most) {
  MutexLock lock(mutex_);
  Records& records = writable();
  auto from = records.lower_bound(range.from());
  size_t count = 0;
  while (count < most && from != records.end() && from->first < range.to()) {
    from = records.erase(from);
    ++count;
  }
  co_return count;
}

}  // namespace kyanite::store
