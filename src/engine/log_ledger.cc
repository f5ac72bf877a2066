#include "engine/log_ledger.h"

#include <array>

#include "base/bytes.h"
#include "engine/log_check.h"
#include "os/directory.h"
#include "store/checksum.h"

namespace kyanite::engine {

namespace {

// One sector, so that a power cut leaves the old text or the new one.
constexpr size_t kFileBytes = 512;
constexpr size_t kChecksumAt = kFileBytes - sizeof(uint32_t);
constexpr size_t kEntryBytes = 16;
constexpr std::string_view kMagic = "KYANLOG1";
constexpr std::string_view kLedgerName = "LOGS";
// RocksDB has one log a write buffer, so there are never nearly as many.
constexpr size_t kMostLogs = (kChecksumAt - kMagic.size()) / kEntryBytes;

// The file's bytes.
class Text {
 public:
  explicit Text(const std::map<uint64_t, uint64_t>& logs) {
    kMagic.copy(bytes_.data(), kMagic.size());
    char* at = bytes_.data() + kMagic.size();
    size_t count = 0;
    for (const auto& [number, bytes] : logs) {
      if (++count > kMostLogs) break;  // Knowing less is always right.
      write_be64(at, number);
      write_be64(at + sizeof number, bytes);
      at += kEntryBytes;
    }
    const uint32_t checksum = store::crc32c(view().substr(0, kChecksumAt));
    for (size_t i = 0; i < sizeof checksum; ++i)
      bytes_[kChecksumAt + i] = static_cast<char>(checksum >> (8 * i));
  }
  std::string_view view() const { return {bytes_.data(), bytes_.size()}; }

 private:
  std::array<char, kFileBytes> bytes_{};
};

std::optional<std::map<uint64_t, uint64_t>> decode(std::string_view text) {
  if (text.size() != kFileBytes || !text.starts_with(kMagic)) return std::nullopt;
  if (store::crc32c(text.substr(0, kChecksumAt)) != read_le32(text.data() + kChecksumAt))
    return std::nullopt;
  std::map<uint64_t, uint64_t> logs;
  for (size_t at = kMagic.size(); at + kEntryBytes <= kChecksumAt; at += kEntryBytes) {
    const uint64_t number = read_be64(text.data() + at);
    if (number != 0) logs.emplace(number, read_be64(text.data() + at + sizeof number));
  }
  return logs;
}

std::string_view name_of(std::string_view path) { return path.substr(path.rfind('/') + 1); }

std::string lost(std::string_view name, uint64_t whole, uint64_t synced) {
  return "of the log " + std::string(name) + " " + std::to_string(synced) +
         " bytes with acknowledged commits were on the disk, and now it is whole up to byte " +
         std::to_string(whole) + " only";
}

}  // namespace

os::Result<void> LogLedger::create(const std::string& directory) { return create(directory, {}); }

os::Result<void> LogLedger::create(const std::string& directory, const Synced& synced) {
  return os::write_text(directory, std::string(kLedgerName), std::string(Text(synced).view()));
}

Result<LogLedger::Synced, std::string> LogLedger::read(const std::string& directory) {
  auto text = os::read_text(directory + "/" + std::string(kLedgerName));
  if (!text) return Failure{"its file LOGS cannot be read (" + text.error().what + ")"};
  auto logs = decode(*text);
  if (!logs) return Failure{std::string("its file LOGS is damaged")};
  return std::move(*logs);
}

Result<std::unique_ptr<LogLedger>, std::string> LogLedger::open(const std::string& directory) {
  const std::string path = directory + "/" + std::string(kLedgerName);
  auto file = os::File::open(path, os::File::Mode::kReadWrite);
  if (!file) return Failure{"its file LOGS cannot be read (" + file.error().what + ")"};
  auto logs = read(directory);
  if (!logs) return Failure{logs.error()};
  return std::unique_ptr<LogLedger>(new LogLedger(std::move(*file), std::move(*logs)));
}

std::optional<std::string> LogLedger::say(std::optional<std::string> reason) {
  refusal_ = std::move(reason);
  return refusal_;
}

std::optional<std::string> LogLedger::refusal() const {
  MutexLock lock(mutex_);
  return refusal_;
}

std::optional<std::string> LogLedger::begin(const std::string& records) {
  MutexLock lock(mutex_);
  settled_ = false;
  obsolete_.clear();
  previous_.clear();
  if (lenient_) return say(std::nullopt);
  for (const auto& [number, bytes] : synced_) {
    const std::string name = log_name(number);
    auto log = os::File::open(records + "/" + name, os::File::Mode::kRead);
    auto status = log ? (*log)->status() : Failure{log.error()};
    if (!status)
      return say("the log " + name + " with acknowledged commits cannot be read (" +
                 status.error().what + ")");
    if (status->size < bytes) return say(lost(name, status->size, bytes));
  }
  return say(std::nullopt);
}

std::optional<std::string> LogLedger::refuse(const std::string& path, std::string_view log) {
  MutexLock lock(mutex_);
  if (lenient_) return std::nullopt;
  return say(checked(path, log));
}

std::optional<std::string> LogLedger::checked(const std::string& path, std::string_view log) {
  const auto found = check_log(log);
  const std::string name(name_of(path));
  if (found.damage) {
    return "the log " + name + " is damaged at byte " + std::to_string(*found.damage) +
           " and acknowledged commits follow";
  }
  const auto known = synced_.find(number_of(path));
  if (known != synced_.end() && found.end < known->second)
    return lost(name, found.end, known->second);
  if (!found.first) return std::nullopt;
  if (!previous_.empty() && *found.first > next_)
    return "the log " + previous_ + " is damaged at its end and acknowledged commits follow";
  previous_ = name;
  next_ = found.next;
  return std::nullopt;
}

os::Result<void> LogLedger::settle() {
  std::vector<std::string> obsolete;
  {
    MutexLock lock(mutex_);
    settled_ = true;
    obsolete.swap(obsolete_);
    for (const auto& path : obsolete) synced_.erase(number_of(path));
    if (lenient_) synced_.clear();
    lenient_ = false;
    if (auto written = write(); !written) return written;
  }
  if (auto kept = file_->sync_data(); !kept) return kept;
  for (const auto& path : obsolete) {
    if (auto removed = os::remove_file(path); !removed) return removed;
  }
  return {};
}

bool LogLedger::settled() const {
  MutexLock lock(mutex_);
  return settled_;
}

os::Result<void> LogLedger::write() const { return file_->write_at(Text(synced_).view(), 0); }

// RocksDB calls them 000123.log.
uint64_t LogLedger::number_of(std::string_view path) {
  const auto name = name_of(path);
  return parse_uint(name.substr(0, name.find('.'))).value_or(0);
}

std::string LogLedger::log_name(uint64_t number) {
  const std::string digits = std::to_string(number);
  return std::string(digits.size() < 6 ? 6 - digits.size() : 0, '0') + digits + ".log";
}

LogLedger::Synced LogLedger::synced() const {
  MutexLock lock(mutex_);
  return synced_;
}

void LogLedger::synced(uint64_t number, uint64_t bytes) {
  MutexLock lock(mutex_);
  if (!settled_) return;
  auto& known = synced_[number];
  if (bytes <= known) return;
  known = bytes;
  // Where it cannot be written the ledger lags behind, which it may.
  (void)write().ok();
}

os::Result<void> LogLedger::remove(const std::string& path) {
  {
    MutexLock lock(mutex_);
    if (!settled_) {
      obsolete_.push_back(path);
      return {};
    }
    if (synced_.erase(number_of(path)) != 0) {
      if (auto written = write(); !written) return written;
    }
  }
  // Not under the lock: commits go on meanwhile.
  if (auto kept = file_->sync_data(); !kept) return kept;
  return os::remove_file(path);
}

}  // namespace kyanite::engine
