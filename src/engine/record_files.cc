#include "engine/record_files.h"

#include <rocksdb/file_system.h>

#include <algorithm>
#include <vector>

#include "engine/log_ledger.h"
#include "os/fault.h"
#include "os/file.h"

namespace kyanite::engine {

namespace {

using rocksdb::FileOptions;
using rocksdb::FSDirectory;
using rocksdb::FSSequentialFile;
using rocksdb::FSWritableFile;
using rocksdb::IODebugContext;
using rocksdb::IOOptions;
using rocksdb::IOStatus;
using rocksdb::Slice;

constexpr uint64_t kZeroStep = 1 << 20;
constexpr size_t kReadBytes = 1 << 20;

IOStatus status_of(int code, const std::string& what) {
  if (code == 0) return IOStatus::OK();
  return os::is_out_of_space(code) ? IOStatus::NoSpace(what) : IOStatus::IOError(what);
}

IOStatus status_of(const os::Result<void>& result) {
  return result.ok() ? IOStatus::OK() : status_of(result.error().code, result.error().what);
}

IOStatus injected(os::SystemCall call, const std::string& path) {
  return status_of(os::fault_before(call, path).error, path + ": injected fault");
}

const std::string& zeros() {
  static const auto* block = new std::string(kZeroStep, '\0');
  return *block;
}

class LogFile final : public FSWritableFile {
 public:
  LogFile(std::shared_ptr<const os::File> file, LogLedger& ledger)
      : file_(std::move(file)), ledger_(ledger), number_(LogLedger::number_of(file_->path())) {}
  ~LogFile() override { LogFile::Close({}, nullptr).PermitUncheckedError(); }

  using FSWritableFile::Append;
  IOStatus Append(const Slice& data, const IOOptions&, IODebugContext*) override {
    const uint64_t end = size_ + data.size();
    while (zeroed_ < end) {
      // Zeros only save time: where there is no space for them, the data itself decides.
      if (!file_->write_at(zeros(), zeroed_).ok()) break;
      zeroed_ += kZeroStep;
    }
    auto written = file_->write_at({data.data(), data.size()}, size_);
    if (written.ok()) size_ = end;
    zeroed_ = std::max(zeroed_, end);  // Never over data, also after zeros failed.
    return status_of(written);
  }
  IOStatus Close(const IOOptions&, IODebugContext*) override {
    if (file_ == nullptr) return IOStatus::OK();
    auto cut = file_->truncate(size_);
    file_ = nullptr;
    return status_of(cut);
  }
  IOStatus Flush(const IOOptions&, IODebugContext*) override { return IOStatus::OK(); }
  IOStatus Sync(const IOOptions&, IODebugContext*) override {
    const uint64_t end = size_;
    auto synced = file_->sync_data();
    // Never NoSpace: after a failed sync nobody knows what is on the device, whatever the reason.
    if (!synced) return IOStatus::IOError(synced.error().what);
    ledger_.synced(number_, end);
    return IOStatus::OK();
  }
  bool IsSyncThreadSafe() const override { return true; }
  uint64_t GetFileSize(const IOOptions&, IODebugContext*) override { return size_; }

 private:
  std::shared_ptr<const os::File> file_;
  LogLedger& ledger_;
  const uint64_t number_;
  uint64_t size_ = 0;    // Where the data ends,
  uint64_t zeroed_ = 0;  // and the zeros after it.
};

// A log to be recovered, as it was in memory when it was found to be undamaged.
class CheckedLog final : public FSSequentialFile {
 public:
  explicit CheckedLog(std::string bytes) : bytes_(std::move(bytes)) {}
  IOStatus Read(size_t most, const IOOptions&, Slice* result, char* scratch,
                IODebugContext*) override {
    const size_t count = bytes_.copy(scratch, most, at_);
    at_ += count;
    *result = Slice(scratch, count);
    return IOStatus::OK();
  }
  IOStatus Skip(uint64_t count) override {
    at_ += std::min<uint64_t>(count, bytes_.size() - at_);
    return IOStatus::OK();
  }

 private:
  const std::string bytes_;
  size_t at_ = 0;
};

class FaultableFile final : public rocksdb::FSWritableFileOwnerWrapper {
 public:
  FaultableFile(std::unique_ptr<FSWritableFile>&& file, std::string path)
      : FSWritableFileOwnerWrapper(std::move(file)), path_(std::move(path)) {}

  IOStatus Append(const Slice& data, const IOOptions& options, IODebugContext* debug) override {
    if (auto fault = injected(os::SystemCall::kWrite, path_); !fault.ok()) return fault;
    return target()->Append(data, options, debug);
  }
  IOStatus Append(const Slice& data, const IOOptions& options,
                  const rocksdb::DataVerificationInfo& verification,
                  IODebugContext* debug) override {
    if (auto fault = injected(os::SystemCall::kWrite, path_); !fault.ok()) return fault;
    return target()->Append(data, options, verification, debug);
  }
  IOStatus Sync(const IOOptions& options, IODebugContext* debug) override {
    if (auto fault = injected(os::SystemCall::kSync, path_); !fault.ok()) return fault;
    return target()->Sync(options, debug);
  }
  IOStatus Fsync(const IOOptions& options, IODebugContext* debug) override {
    if (auto fault = injected(os::SystemCall::kSync, path_); !fault.ok()) return fault;
    return target()->Fsync(options, debug);
  }

 private:
  const std::string path_;
};

class RecordFiles final : public rocksdb::FileSystemWrapper {
 public:
  explicit RecordFiles(LogLedger& ledger)
      : FileSystemWrapper(rocksdb::FileSystem::Default()), ledger_(ledger) {}
  const char* Name() const override { return "KyaniteRecordFiles"; }

  IOStatus NewWritableFile(const std::string& path, const FileOptions& options,
                           std::unique_ptr<FSWritableFile>* result,
                           IODebugContext* debug) override {
    if (path.ends_with(".log")) return new_log(path, result);
    if (auto fault = injected(os::SystemCall::kOpen, path); !fault.ok()) return fault;
    std::unique_ptr<FSWritableFile> file;
    auto opened = FileSystemWrapper::NewWritableFile(path, options, &file, debug);
    if (opened.ok()) *result = std::make_unique<FaultableFile>(std::move(file), path);
    return opened;
  }
  IOStatus NewSequentialFile(const std::string& path, const FileOptions& options,
                             std::unique_ptr<FSSequentialFile>* result,
                             IODebugContext* debug) override {
    auto opened = FileSystemWrapper::NewSequentialFile(path, options, result, debug);
    // A log that is being written is only looked at, to see where it begins (Records::pin_to).
    const bool recovered = opened.ok() && path.ends_with(".log") && !ledger_.settled();
    return recovered ? recover_log(path, *result) : opened;
  }
  IOStatus DeleteFile(const std::string& path, const IOOptions& options,
                      IODebugContext* debug) override {
    if (path.ends_with(".log")) return status_of(ledger_.remove(path));
    return FileSystemWrapper::DeleteFile(path, options, debug);
  }
  IOStatus RenameFile(const std::string& from, const std::string& to, const IOOptions& options,
                      IODebugContext* debug) override {
    if (auto fault = injected(os::SystemCall::kRename, from); !fault.ok()) return fault;
    return FileSystemWrapper::RenameFile(from, to, options, debug);
  }

 private:
  // Puts the log's bytes in the place of the file, if they are undamaged.
  IOStatus recover_log(const std::string& path, std::unique_ptr<FSSequentialFile>& file) {
    std::string bytes;
    std::vector<char> scratch(kReadBytes);
    Slice some;
    do {
      auto read = file->Read(scratch.size(), IOOptions(), &some, scratch.data(), nullptr);
      if (!read.ok()) return read;
      bytes.append(some.data(), some.size());
    } while (!some.empty());
    if (const auto damage = ledger_.refuse(path, bytes)) return IOStatus::Corruption(*damage);
    file = std::make_unique<CheckedLog>(std::move(bytes));
    return IOStatus::OK();
  }
  IOStatus new_log(const std::string& path, std::unique_ptr<FSWritableFile>* result) {
    auto file = os::File::open(path, os::File::Mode::kCreateOrOpen);
    if (!file) return status_of(file.error().code, file.error().what);
    if (auto cut = (*file)->truncate(0); !cut) return status_of(cut);
    *result = std::make_unique<LogFile>(std::move(*file), ledger_);
    return IOStatus::OK();
  }

  LogLedger& ledger_;
};

}  // namespace

std::shared_ptr<rocksdb::FileSystem> make_record_files(LogLedger& ledger) {
  return std::make_shared<RecordFiles>(ledger);
}

}  // namespace kyanite::engine
