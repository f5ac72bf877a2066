// Which logs the records have and how far each was synced, in a small file beside them (LOGS).
//
// The file is written after every sync of a log and not synced itself. So after a power cut it may
// lag behind what is on the device, but it never leads: a log that is missing, or is not whole as
// far as the file says, has lost acknowledged commits to something other than a power cut. The
// database is then not opened. What RocksDB leaves of a torn log is engine/log_check.h's business,
// which this asks about every log that is recovered.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"
#include "os/file.h"

namespace kyanite::engine {

class LogLedger {
 public:
  // Puts an empty one into the directory. Durable.
  static os::Result<void> create(const std::string& directory);
  // The error is a clause that says what is wrong with the file.
  static Result<std::unique_ptr<LogLedger>, std::string> open(const std::string& directory);

  // What the file says, without opening it for more: by a log's number how much of it was synced.
  using Synced = std::map<uint64_t, uint64_t>;
  static Result<Synced, std::string> read(const std::string& directory);
  // Puts one into the directory that says this. Durable.
  static os::Result<void> create(const std::string& directory, const Synced& synced);

  // Logs may be missing or damaged from now on.
  void accept_loss() { lenient_ = true; }
  bool lenient() const { return lenient_; }

  // A database is about to be opened in `records`. The reason why not, if a log is missing or too
  // short. Until settle() the ledger stays as it is and no log is deleted, because the database may
  // turn out to be the wrong one.
  std::optional<std::string> begin(const std::string& records);
  // The recovery reads this log, which is a later one than those before. The reason why the
  // database must not be opened with it, if it is damaged or does not go on where they end.
  std::optional<std::string> refuse(const std::string& path, std::string_view log);
  // What begin() or refuse() said last, nothing when all was well.
  std::optional<std::string> refusal() const;
  // It is the right database.
  os::Result<void> settle();
  // Whether it is known to be: logs are being written from then on, and no longer recovered.
  bool settled() const;

  // What the ledger calls the log at this path.
  static uint64_t number_of(std::string_view path);
  static std::string log_name(uint64_t number);
  // The log's first so many bytes are on the device. Every commit comes by here.
  void synced(uint64_t number, uint64_t bytes);
  // How much of each is known to be.
  Synced synced() const;
  // Deletes a log whose commits are elsewhere: durably from the ledger first.
  os::Result<void> remove(const std::string& path);

 private:
  LogLedger(std::shared_ptr<const os::File> file, Synced synced)
      : file_(std::move(file)), synced_(std::move(synced)) {}
  os::Result<void> write() const REQUIRES(mutex_);
  std::optional<std::string> checked(const std::string& path, std::string_view log)
      REQUIRES(mutex_);
  std::optional<std::string> say(std::optional<std::string> reason) REQUIRES(mutex_);

  const std::shared_ptr<const os::File> file_;
  bool lenient_ = false;

  mutable Mutex mutex_;
  Synced synced_ GUARDED_BY(mutex_);  // By a log's number how much of it is on the device.
  bool settled_ GUARDED_BY(mutex_) = false;
  std::vector<std::string> obsolete_ GUARDED_BY(mutex_);  // To be deleted once it is settled.
  std::string previous_ GUARDED_BY(mutex_);  // The last log of this recovery that has writes,
  uint64_t next_ GUARDED_BY(mutex_) = 0;     // and the number of the write that has to follow.
  std::optional<std::string> refusal_ GUARDED_BY(mutex_);
};

}  // namespace kyanite::engine
