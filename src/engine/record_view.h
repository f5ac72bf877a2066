// One state of the records as services see it, and how long they may look at it.
#pragma once

#include <rocksdb/db.h>
#include <rocksdb/snapshot.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/log.h"
#include "engine/codec.h"
#include "store/store.h"

namespace kyanite::engine {

inline store::Error error_of(const rocksdb::Status& status) {
  if (status.IsNoSpace()) return store::Error::kFull;
  if (status.IsCorruption()) return store::Error::kCorrupt;
  return store::Error::kIo;
}

inline store::Error unknown_format() {
  log_error("a record is not in a format this version knows");
  return store::Error::kCorrupt;
}

inline store::Result<store::RecordPtr> record_of(const rocksdb::Status& status,
                                                 const rocksdb::Slice& bytes) {
  if (status.IsNotFound()) return store::RecordPtr();
  if (!status.ok()) {
    log_error("reading a record: " + status.ToString());
    return error_of(status);
  }
  auto record = decode_record({bytes.data(), bytes.size()});
  if (!record) return unknown_format();
  return store::RecordPtr(std::make_shared<const store::SharedRecord>(std::move(*record)));
}

// What a look has used up of its time. In memory it must not wait for the device, nor go on when
// others wait for its thread, which it asks now and then.
class Allotment {
 public:
  static constexpr uint32_t kSeek = 16;  // as many steps as a seek costs

  using OthersWait = std::function<bool()>;
  static Allotment in_memory(std::chrono::microseconds time, const OthersWait& others_wait) {
    return {time, &others_wait};
  }
  static Allotment of_time(std::chrono::microseconds time) { return {time, nullptr}; }

  bool must_be_in_memory() const { return others_wait_ != nullptr; }
  void spend(uint32_t steps) {
    spent_ += steps;
    // Looks that do not ask whether they have had enough are short, or not for here.
    if (spent_ > next_ask_ + kMostUnasked) missed_ = true;
  }
  bool enough() {
    if (others_wait_ != nullptr) {
      if (!over_ && spent_ >= next_ask_) {
        over_ = (*others_wait_)() || late();
        next_ask_ = spent_ + kStepsPerAsk;
      }
    } else if (++asked_ % kAsksPerClock == 0) {
      over_ = late();  // Asking the clock costs as much as a step.
    }
    return over_;
  }
  // The look cannot go on in memory: what it does from here on is for nothing.
  void miss() { missed_ = true; }
  bool missed() const { return others_wait_ != nullptr && missed_; }

 private:
  static constexpr uint32_t kAsksPerClock = 8;
  static constexpr uint32_t kStepsPerAsk = 256;  // Some 0.1 ms.
  static constexpr uint32_t kMostUnasked = 768;

  Allotment(std::chrono::microseconds time, const OthersWait* others_wait)
      : others_wait_(others_wait), until_(std::chrono::steady_clock::now() + time) {}
  bool late() const { return std::chrono::steady_clock::now() >= until_; }

  const OthersWait* const others_wait_;  // Null where the look may wait.
  const std::chrono::steady_clock::time_point until_;
  uint32_t spent_ = 0;
  uint32_t next_ask_ = kStepsPerAsk;
  uint32_t asked_ = 0;
  bool over_ = false;
  bool missed_ = false;
};

class RecordCursor final : public store::View::Cursor {
 public:
  RecordCursor(rocksdb::DB& database, rocksdb::ReadOptions options, const store::Range& range,
               Allotment* allotment)
      : range_(range), end_(range_.to()), allotment_(allotment) {
    options.iterate_upper_bound = &end_;
    options.ignore_range_deletions = true;  // There are none: looking for them costs each step.
    iterator_.reset(database.NewIterator(options));
    iterator_->Seek(range_.from());
    moved(Allotment::kSeek);
  }
  bool valid() const override { return valid_; }
  std::string_view key() const override { return key_; }
  store::Result<store::RecordPtr> record() const override {
    return record_of(rocksdb::Status::OK(), iterator_->value());
  }
  store::Result<std::string_view> value() const override {
    const auto value = decode_value(iterator_->value().ToStringView());
    if (!value) return unknown_format();
    return *value;
  }
  void next() override {
    iterator_->Next();
    moved(1);
  }
  void seek(std::string_view key) override {
    iterator_->Seek(std::max<std::string_view>(key, range_.from()));
    moved(Allotment::kSeek);
  }
  store::Result<void> status() const override {
    if (allotment_ != nullptr && allotment_->missed()) return store::Error::kIo;
    if (iterator_->status().ok()) return {};
    log_error("scanning records: " + iterator_->status().ToString());
    return error_of(iterator_->status());
  }

 private:
  void moved(uint32_t steps) {
    valid_ = iterator_->Valid();
    if (valid_) key_ = iterator_->key().ToStringView();
    if (allotment_ == nullptr) return;
    allotment_->spend(steps);
    if (!valid_ && iterator_->status().IsIncomplete()) allotment_->miss();
    if (allotment_->missed()) valid_ = false;
  }

  const store::Range range_;
  const rocksdb::Slice end_;  // The iterator keeps a pointer to it.
  Allotment* const allotment_;
  std::unique_ptr<rocksdb::Iterator> iterator_;
  bool valid_ = false;
  std::string_view key_;
};

class RecordView final : public store::View {
 public:
  // Without a allotment a look has all the time.
  RecordView(rocksdb::DB& database, const rocksdb::Snapshot* snapshot,
             Allotment* allotment = nullptr)
      : database_(database), allotment_(allotment) {
    options_.snapshot = snapshot;
    if (allotment_ == nullptr || !allotment_->must_be_in_memory()) return;
    options_.read_tier = rocksdb::kBlockCacheTier;
    options_.background_purge_on_iterator_cleanup = true;
  }
  store::Result<store::RecordPtr> get(const store::Key& key) const override {
    rocksdb::PinnableSlice bytes;
    const auto status =
        database_.Get(options_, database_.DefaultColumnFamily(), key.bytes(), &bytes);
    if (allotment_ != nullptr) {
      allotment_->spend(Allotment::kSeek);
      if (status.IsIncomplete()) allotment_->miss();
      if (allotment_->missed()) return store::Error::kIo;
    }
    return record_of(status, bytes);
  }
  std::unique_ptr<Cursor> scan(const store::Range& range) const override {
    return std::make_unique<RecordCursor>(database_, options_, range, allotment_);
  }
  bool enough() const override { return allotment_ != nullptr && allotment_->enough(); }

 private:
  rocksdb::DB& database_;
  Allotment* const allotment_;
  rocksdb::ReadOptions options_;
};

}  // namespace kyanite::engine
