#include "os/file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "base/check.h"
#include "os/failed.h"
#include "os/fault.h"

namespace kyanite::os {

namespace {

int flags_of(File::Mode mode) {
  switch (mode) {
    case File::Mode::kRead:
      return O_RDONLY;
    case File::Mode::kReadWrite:
      return O_RDWR;
    case File::Mode::kCreateNew:
      return O_RDWR | O_CREAT | O_EXCL;
    case File::Mode::kCreateOrOpen:
      return O_RDWR | O_CREAT;
    case File::Mode::kWriteDirect:
      return O_WRONLY | O_DIRECT;
  }
  return O_RDONLY;
}

int64_t nanos(const timespec& time) { return time.tv_sec * 1'000'000'000 + time.tv_nsec; }

}  // namespace

bool is_out_of_space(int code) { return code == ENOSPC || code == EDQUOT || code == EFBIG; }

Result<std::shared_ptr<const File>> File::open(const std::string& path, Mode mode) {
  if (auto fault = fault_before(SystemCall::kOpen, path); fault.error != 0) {
    return failed("open", path, fault.error);
  }
  const int descriptor = ::open(path.c_str(), flags_of(mode) | O_CLOEXEC, 0644);
  if (descriptor < 0) return failed("open", path, errno);
  return std::shared_ptr<const File>(std::make_shared<File>(descriptor, path));
}

File::~File() {
  if (descriptor_ >= 0) close(descriptor_);
}

Result<size_t> File::read_at(char* out, size_t length, uint64_t offset) const {
  size_t done = 0;
  while (done < length) {
    const auto fault = fault_before(SystemCall::kRead, path_);
    if (fault.error != 0) return failed("read", path_, fault.error);
    const ssize_t count = pread(descriptor_, out + done, std::min(length - done, fault.at_most),
                                static_cast<off_t>(offset + done));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return failed("read", path_, errno);
    if (count == 0) break;
    done += static_cast<size_t>(count);
  }
  return done;
}

Result<size_t> File::read_cached_at(char* out, size_t length, uint64_t offset) const {
  const auto fault = fault_before(SystemCall::kRead, path_);
  if (fault.error != 0) return failed("read", path_, fault.error);
  const iovec part{out, std::min(length, fault.at_most)};
  const ssize_t count = preadv2(descriptor_, &part, 1, static_cast<off_t>(offset), RWF_NOWAIT);
  if (count >= 0) return static_cast<size_t>(count);
  if (errno == EAGAIN || errno == EINTR || errno == EOPNOTSUPP) return size_t{0};
  return failed("read", path_, errno);
}

Result<void> File::write_at(std::string_view bytes, uint64_t offset) const {
  while (!bytes.empty()) {
    const auto fault = fault_before(SystemCall::kWrite, path_);
    if (fault.error != 0) return failed("write", path_, fault.error);
    const ssize_t count = pwrite(descriptor_, bytes.data(), std::min(bytes.size(), fault.at_most),
                                 static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return failed("write", path_, errno);
    bytes.remove_prefix(static_cast<size_t>(count));
    offset += static_cast<uint64_t>(count);
  }
  return {};
}

Result<void> File::write_pieces_at(std::span<const std::string_view> pieces,
                                   uint64_t offset) const {
  CHECK(pieces.size() <= kMostPieces);
  std::array<iovec, kMostPieces> parts;
  for (size_t i = 0; i < pieces.size(); ++i)
    parts[i] = {const_cast<char*>(pieces[i].data()), pieces[i].size()};  // Only read.
  const auto fault = fault_before(SystemCall::kWrite, path_);
  if (fault.error != 0) return failed("write", path_, fault.error);
  size_t written = 0;
  if (fault.at_most == SIZE_MAX) {
    ssize_t count = 0;
    do {
      count = pwritev(descriptor_, parts.data(), static_cast<int>(pieces.size()),
                      static_cast<off_t>(offset));
    } while (count < 0 && errno == EINTR);
    if (count < 0) return failed("write", path_, errno);
    written = static_cast<size_t>(count);
  }
  // What is left after a short write, piece by piece.
  for (const std::string_view piece : pieces) {
    const size_t done = std::min(written, piece.size());
    written -= done;
    if (auto rest = write_at(piece.substr(done), offset + done); !rest) return rest;
    offset += piece.size();
  }
  return {};
}

Result<void> File::allocate(uint64_t offset, uint64_t length) const {
  if (auto fault = fault_before(SystemCall::kAllocate, path_); fault.error != 0) {
    return failed("allocate", path_, fault.error);
  }
  int code = 0;
  do {
    code = fallocate(descriptor_, 0, static_cast<off_t>(offset), static_cast<off_t>(length)) == 0
               ? 0
               : errno;
  } while (code == EINTR);
  if (code == EOPNOTSUPP || code == ENOSYS) {
    auto now = status();
    if (!now) return Failure{now.error()};
    return now->size < offset + length ? truncate(offset + length) : Result<void>{};
  }
  if (code != 0) return failed("allocate", path_, code);
  return {};
}

Result<void> File::punch_hole(uint64_t offset, uint64_t length) const {
  if (auto fault = fault_before(SystemCall::kPunchHole, path_); fault.error != 0) {
    return failed("punch hole", path_, fault.error);
  }
  while (fallocate(descriptor_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                   static_cast<off_t>(offset), static_cast<off_t>(length)) != 0) {
    if (errno != EINTR) return failed("punch hole", path_, errno);
  }
  return {};
}

Result<void> File::truncate(uint64_t size) const {
  if (auto fault = fault_before(SystemCall::kTruncate, path_); fault.error != 0) {
    return failed("truncate", path_, fault.error);
  }
  while (ftruncate(descriptor_, static_cast<off_t>(size)) != 0) {
    if (errno != EINTR) return failed("truncate", path_, errno);
  }
  return {};
}

Result<void> File::sync_data() const {
  if (auto fault = fault_before(SystemCall::kSync, path_); fault.error != 0) {
    return failed("sync", path_, fault.error);
  }
  // Not repeated after EINTR or anything else: a second call may succeed without the bytes being
  // there.
  if (fdatasync(descriptor_) != 0) return failed("sync", path_, errno);
  return {};
}

Result<FileStatus> File::status() const {
  if (auto fault = fault_before(SystemCall::kStatus, path_); fault.error != 0) {
    return failed("stat", path_, fault.error);
  }
  struct stat found {};
  if (fstat(descriptor_, &found) != 0) return failed("stat", path_, errno);
  FileStatus status;
  status.size = static_cast<uint64_t>(found.st_size);
  status.allocated_bytes = static_cast<uint64_t>(found.st_blocks) * 512;
  status.modified_nanos = nanos(found.st_mtim);
  status.changed_nanos = nanos(found.st_ctim);
  return status;
}

Result<bool> File::try_lock() const {
  if (auto fault = fault_before(SystemCall::kLock, path_); fault.error != 0) {
    return failed("lock", path_, fault.error);
  }
  while (flock(descriptor_, LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK) return false;
    if (errno != EINTR) return failed("lock", path_, errno);
  }
  return true;
}

}  // namespace kyanite::os
