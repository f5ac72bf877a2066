#include "engine/log_audit.h"

#include <rocksdb/write_batch.h>

#include <algorithm>

#include "engine/log_fragment.h"
#include "engine/log_ledger.h"
#include "os/directory.h"

namespace kyanite::engine {

namespace {

constexpr size_t kMostLogKeys = 1000;

class Keys final : public rocksdb::WriteBatch::Handler {
 public:
  explicit Keys(std::vector<std::string>& out) : out_(out) {}
  rocksdb::Status PutCF(uint32_t, const rocksdb::Slice& key, const rocksdb::Slice&) override {
    return take(key);
  }
  rocksdb::Status DeleteCF(uint32_t, const rocksdb::Slice& key) override { return take(key); }
  void LogData(const rocksdb::Slice&) override {}

 private:
  rocksdb::Status take(const rocksdb::Slice& key) {
    if (out_.size() < kMostLogKeys) out_.push_back(key.ToString());
    return rocksdb::Status::OK();
  }
  std::vector<std::string>& out_;
};

// Of the commits in a record as far as they are in order.
std::vector<std::string> keys_of(const std::string& record) {
  std::vector<std::string> keys;
  if (record.size() < kBatchHeaderBytes) return keys;
  Keys handler(keys);
  const rocksdb::WriteBatch batch(record);
  batch.Iterate(&handler).PermitUncheckedError();
  return keys;
}

// Walks over the fragments of a log.
class Audit {
 public:
  Audit(const std::string& name, std::string_view log, uint64_t synced)
      : name_(name), log_(log), end_(std::min<uint64_t>(log.size(), synced)), synced_(synced) {}

  std::vector<LogDamage> run() {
    while (at_ < end_) {
      if (rest_of_block() < kFragmentHeaderBytes) {
        at_ += rest_of_block();
      } else if (const auto fragment = parse_fragment(block())) {
        take(*fragment);
      } else {
        skip_damage();
      }
    }
    finish();
    if (log_.size() < synced_) {
      found_.push_back({name_,
                        "it has " + std::to_string(log_.size()) + " bytes instead of " +
                            std::to_string(synced_) + ", so the commits at its end are lost",
                        {}});
    }
    return std::move(found_);
  }

 private:
  size_t rest_of_block() const { return kLogBlockBytes - at_ % kLogBlockBytes; }
  std::string_view block() const { return log_.substr(at_, rest_of_block()); }

  void take(const Fragment& fragment) {
    if (fragment.begins_record()) finish();
    record_ += fragment.bytes;
    at_ += fragment.size();
    if (fragment.ends_record()) finish();
  }
  // A record is over, or another one begins.
  void finish() {
    if (damage_)
      found_.push_back(
          {name_, "it is damaged at byte " + std::to_string(*damage_), keys_of(record_)});
    damage_.reset();
    record_.clear();
  }
  // Lengths cannot be trusted: every place is tried for the next fragment that is whole.
  void skip_damage() {
    if (!damage_) damage_ = at_;
    // What is there is taken for a fragment of the record at hand.
    size_t from = at_ + kFragmentHeaderBytes;
    const auto kind = static_cast<unsigned char>(log_[at_ + kFragmentHeaderBytes - 1]);
    if ((kind == kWhole || kind == kFirst) && !record_.empty()) {
      const auto damage = damage_;
      finish();
      damage_ = damage;
    }
    for (++at_; at_ < end_; ++at_) {
      const bool new_block = at_ % kLogBlockBytes == 0;
      if (rest_of_block() >= kFragmentHeaderBytes && parse_fragment(block())) break;
      if (new_block) {
        append(from, at_);
        from = at_ + kFragmentHeaderBytes;
      }
    }
    append(from, at_);
  }
  void append(size_t from, size_t to) {
    if (from < to) record_ += log_.substr(from, to - from);
  }

  const std::string& name_;
  const std::string_view log_;
  const uint64_t end_;
  const uint64_t synced_;
  size_t at_ = 0;
  std::string record_;  // that is being read
  std::optional<size_t> damage_;
  std::vector<LogDamage> found_;
};

}  // namespace

std::vector<LogDamage> audit_log(const std::string& name, std::string_view log, uint64_t synced) {
  return Audit(name, log, synced).run();
}

Result<std::vector<LogDamage>, std::string> audit_logs(const std::string& root,
                                                       const std::string& records) {
  auto synced = LogLedger::read(root);
  if (!synced) return Failure{synced.error()};
  std::vector<LogDamage> damages;
  for (const auto& [number, bytes] : *synced) {
    if (bytes == 0) continue;
    const std::string name = LogLedger::log_name(number);
    auto log = os::read_text(records + "/" + name);
    if (!log) {
      damages.push_back(
          {name,
           "it cannot be read (" + log.error().what + "), so the commits in it are lost",
           {}});
      continue;
    }
    auto found = audit_log(name, *log, bytes);
    std::move(found.begin(), found.end(), std::back_inserter(damages));
  }
  return damages;
}

}  // namespace kyanite::engine
