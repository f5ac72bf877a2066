// In the place of server/open_store.cc: a store that breaks its promises.
#include <chrono>
#include <map>
#include <mutex>

#include "fault.h"
#include "server/open_store.h"

#define open_store open_sound_store
#include "server/open_store.cc"
#undef open_store

namespace kyanite::planted {

namespace {

using store::Key;
using store::RecordPtr;

// How long a record may be seen as it was before it changed.
constexpr std::chrono::milliseconds kBehind{5};

// What records were before they changed a moment ago.
class Former {
 public:
  void changed(const Key& key, RecordPtr before) {
    std::lock_guard lock(mutex_);
    records_.insert_or_assign(key.bytes(), Was{std::move(before), Clock::now() + kBehind});
  }
  // The former record, or the present one when it has been there for long.
  RecordPtr of(std::string_view key, RecordPtr present) {
    std::lock_guard lock(mutex_);
    auto found = records_.find(key);
    if (found == records_.end()) return present;
    if (Clock::now() < found->second.until) return found->second.record;
    records_.erase(found);
    return present;
  }

 private:
  using Clock = std::chrono::steady_clock;
  struct Was {
    RecordPtr record;
    Clock::time_point until;
  };
  std::mutex mutex_;
  std::map<std::string, Was, std::less<>> records_;
};

// Every second record is seen as it was.
class FracturedCursor final : public store::View::Cursor {
 public:
  FracturedCursor(std::unique_ptr<Cursor> below, Former& former)
      : below_(std::move(below)), former_(former) {}
  bool valid() const override { return below_->valid(); }
  std::string_view key() const override { return below_->key(); }
  store::Result<RecordPtr> record() const override {
    auto present = below_->record();
    if (!present || std::hash<std::string_view>{}(key()) % 2 == 0) return present;
    auto seen = former_.of(key(), *present);
    return seen == nullptr ? present : seen;
  }
  store::Result<std::string_view> value() const override {
    auto seen = record();
    if (!seen) return seen.error();
    shown_ = std::move(*seen);
    return std::string_view(shown_->value);
  }
  void next() override { below_->next(); }
  void seek(std::string_view key) override { below_->seek(key); }
  store::Result<void> status() const override { return below_->status(); }

 private:
  const std::unique_ptr<Cursor> below_;
  Former& former_;
  mutable RecordPtr shown_;
};

class FracturedView final : public store::View {
 public:
  FracturedView(const View& below, Former& former) : below_(below), former_(former) {}
  store::Result<RecordPtr> get(const Key& key) const override { return below_.get(key); }
  std::unique_ptr<Cursor> scan(const store::Range& range) const override {
    return std::make_unique<FracturedCursor>(below_.scan(range), former_);
  }
  bool enough() const override { return below_.enough(); }

 private:
  const View& below_;
  Former& former_;
};

store::Look fractured(store::Look look, Former& former) {
  return [look = std::move(look), &former](const store::View& view) {
    return look(FracturedView(view, former));
  };
}

class FracturedSnapshot final : public store::Snapshot {
 public:
  FracturedSnapshot(std::unique_ptr<Snapshot> below, Former& former)
      : below_(std::move(below)), former_(former) {}
  Task<store::Result<void>> look(store::Look look) override {
    return below_->look(fractured(std::move(look), former_));
  }
  Task<store::Result<void>> scan(store::Look look) override {
    return below_->scan(fractured(std::move(look), former_));
  }

 private:
  const std::unique_ptr<Snapshot> below_;
  Former& former_;
};

class FaultyStore final : public store::Store {
 public:
  explicit FaultyStore(std::unique_ptr<Store> below) : below_(std::move(below)) {}

  Task<store::Result<RecordPtr>> get(const Key& key) override {
    auto record = co_await below_->get(key);
    if (record && has("stale")) record = former_.of(key.bytes(), *record);
    co_return record;
  }
  Task<store::Result<void>> look(store::Look look) override {
    if (has("snapshot")) look = fractured(std::move(look), former_);
    return below_->look(std::move(look));
  }
  std::unique_ptr<store::Snapshot> snapshot() override {
    auto below = below_->snapshot();
    if (!has("snapshot")) return below;
    return std::make_unique<FracturedSnapshot>(std::move(below), former_);
  }
  Task<store::Result<void>> commit(store::Commit commit) override {
    if (has("guard")) commit.guards.clear();
    if (has("torn")) return commit_in_pieces(std::move(commit));
    if (has("stale") || has("snapshot")) return commit_and_remember(std::move(commit));
    return below_->commit(std::move(commit));
  }
  Task<store::Result<store::Ref>> append(Buffer bytes) override {
    return below_->append(std::move(bytes));
  }
  Task<store::Result<os::Bytes>> read_run(store::Ref ref, uint32_t offset, uint32_t length,
                                          bool prefer_file) override {
    return below_->read_run(ref, offset, length, prefer_file);
  }
  store::Hold hold() override { return below_->hold(); }
  store::Hold keep(std::vector<store::Ref> refs) override { return below_->keep(std::move(refs)); }
  Task<store::Result<size_t>> erase(store::Range range, size_t most) override {
    return below_->erase(std::move(range), most);
  }

 private:
  Task<store::Result<void>> commit_in_pieces(store::Commit whole) {
    store::Commit piece;
    piece.guards = std::move(whole.guards);
    for (store::Write& write : whole.writes) {
      piece.writes = {std::move(write)};
      auto done = co_await below_->commit(std::move(piece));
      if (!done) co_return done;
      piece = {};
    }
    co_return store::Result<void>();
  }
  Task<store::Result<void>> commit_and_remember(store::Commit commit) {
    std::vector<std::pair<Key, RecordPtr>> before;
    for (const store::Write& write : commit.writes) {
      auto record = co_await below_->get(write.key);
      if (!record) co_return record.error();
      before.emplace_back(write.key, std::move(*record));
    }
    auto done = co_await below_->commit(std::move(commit));
    if (!done) co_return done;
    for (auto& [key, record] : before) former_.changed(key, std::move(record));
    co_return done;
  }

  const std::unique_ptr<Store> below_;
  Former former_;
};

}  // namespace

}  // namespace kyanite::planted

namespace kyanite::server {

Result<OpenStore, std::string> open_store(const Options& options) {
  auto opened = open_sound_store(options);
  if (opened) opened->store = std::make_unique<planted::FaultyStore>(std::move(opened->store));
  return opened;
}

}  // namespace kyanite::server
