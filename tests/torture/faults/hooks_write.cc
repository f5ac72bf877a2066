// Calls that change files: they are noted in the journal, and refused where the disk is full.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <string_view>

#include "journal.h"
#include "next.h"
#include "raw.h"
#include "state.h"

using kyanite::faults::Change;
using kyanite::faults::count;
using kyanite::faults::is_data;
using kyanite::faults::raw;
using kyanite::faults::state;
using kyanite::faults::Syncing;
using kyanite::faults::with_errno;

namespace {

bool is_there(const char* path) {
  struct stat found {};
  return raw(SYS_newfstatat, AT_FDCWD, path, &found, 0) == 0;
}

uint64_t fullness() { return state()->control->full.load(std::memory_order_relaxed); }

long refuse() {
  count(state()->control->refused_writes);
  return -ENOSPC;
}

uint64_t size_of(const struct stat& found) { return static_cast<uint64_t>(found.st_size); }

int64_t allocated(const struct stat& found) { return found.st_blocks * 512; }

// On a disk of limited size, counts what a change of a file takes and gives.
class Counted {
 public:
  Counted(int descriptor, const struct stat& before) : descriptor_(descriptor), before_(before) {}
  ~Counted() {
    struct stat now {};
    if (fullness() != kyanite::faults::kLimited || raw(SYS_fstat, descriptor_, &now) != 0) return;
    state()->control->room += allocated(before_) - allocated(now);
  }
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;

 private:
  const int descriptor_;
  const struct stat before_;
};

// Whether the disk takes a change of these bytes.
bool has_room(const struct stat& found, uint64_t end) {
  if (fullness() == kyanite::faults::kNoWrites) return false;
  if (fullness() == kyanite::faults::kLimited)
    return static_cast<int64_t>(end) - allocated(found) <=
           std::max<int64_t>(0, state()->control->room);
  return fullness() != kyanite::faults::kNoGrowth || end <= size_of(found);
}

// As a server would do that used a call which has no hook.
void plant_unseen_write(int descriptor) {
  if (state()->plant_unseen && state()->control->writes == 50)
    syscall(SYS_pwrite64, descriptor, "", 0, 0);
}

size_t length_of(const iovec* parts, int number) {
  size_t length = 0;
  for (int i = 0; i < number; ++i) length += parts[i].iov_len;
  return length;
}

// `offset` is nothing where the file's own position holds. `make` makes the call.
template <class Make>
long write_with(int descriptor, size_t length, const off_t* offset, Make make) {
  struct stat found {};
  if (!is_data(descriptor, found)) return make();
  count(state()->control->writes);
  plant_unseen_write(descriptor);
  const long flags = raw(SYS_fcntl, descriptor, F_GETFL);
  const long position = (flags & O_APPEND) != 0 ? found.st_size
                        : offset != nullptr     ? *offset
                                                : raw(SYS_lseek, descriptor, 0, SEEK_CUR);
  const auto begin = static_cast<uint64_t>(position);
  if (!has_room(found, begin + length)) return refuse();
  const Change change(descriptor, found, begin, length);
  const Counted counted(descriptor, found);
  return make();
}

int open_with(int directory, const char* path, int flags, mode_t mode) {
  const bool data = state() != nullptr && is_data(std::string_view(path));
  if (!data) return with_errno<int>(raw(SYS_openat, directory, path, flags, mode));
  const bool creates = (flags & O_CREAT) != 0 && !is_there(path);
  if (creates &&
      (fullness() == kyanite::faults::kNoGrowth || fullness() == kyanite::faults::kNoWrites))
    return with_errno<int>(refuse());
  const long descriptor = raw(SYS_openat, directory, path, flags & ~O_TRUNC, mode);
  if (descriptor < 0) return with_errno<int>(descriptor);
  kyanite::faults::note_open(static_cast<int>(descriptor), path);
  if (creates) kyanite::faults::note_created(path);
  if ((flags & O_TRUNC) != 0 && !creates && ftruncate(static_cast<int>(descriptor), 0) != 0) {
    const int code = errno;
    raw(SYS_close, descriptor);
    return with_errno<int>(-code);
  }
  return static_cast<int>(descriptor);
}

mode_t mode_of(int flags, va_list arguments) {
  return (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(arguments, mode_t) : 0;
}

int sync_with(int descriptor, long number) {
  struct stat found {};
  if (!is_data(descriptor, found)) return with_errno<int>(raw(number, descriptor));
  count(state()->control->syncs);
  if (state()->control->lie != 0) return 0;
  if (fullness() == kyanite::faults::kNoSyncs) return with_errno<int>(refuse());
  const Syncing syncing(found);
  const long result = raw(number, descriptor);
  if (result == 0) syncing.done();
  return with_errno<int>(result);
}

long allocate_with(int descriptor, int mode, off_t offset, off_t length) {
  const auto make = [&] { return raw(SYS_fallocate, descriptor, mode, offset, length); };
  struct stat found {};
  if (!is_data(descriptor, found)) return make();
  const auto begin = static_cast<uint64_t>(offset);
  const Counted counted(descriptor, found);
  if ((mode & FALLOC_FL_PUNCH_HOLE) != 0) {
    const Change change(descriptor, found, begin, static_cast<uint64_t>(length));
    return make();
  }
  if (fullness() == kyanite::faults::kNoGrowth ||
      !has_room(found, begin + static_cast<uint64_t>(length)))
    return refuse();
  const Change change(descriptor, found, size_of(found), 0);
  return make();
}

}  // namespace

extern "C" {

int open(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = mode_of(flags, arguments);
  va_end(arguments);
  return open_with(AT_FDCWD, path, flags, mode);
}

int openat(int directory, const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = mode_of(flags, arguments);
  va_end(arguments);
  return open_with(directory, path, flags, mode);
}

int creat(const char* path, mode_t mode) {
  return open_with(AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC, mode);
}

int close(int descriptor) {
  kyanite::faults::note_close(descriptor);
  return with_errno<int>(raw(SYS_close, descriptor));
}

int fclose(FILE* stream) {
  kyanite::faults::note_close(fileno(stream));
  return KYANITE_NEXT(fclose)(stream);
}

ssize_t write(int descriptor, const void* bytes, size_t length) {
  return with_errno<ssize_t>(write_with(descriptor, length, nullptr,
                                        [&] { return raw(SYS_write, descriptor, bytes, length); }));
}

ssize_t pwrite(int descriptor, const void* bytes, size_t length, off_t offset) {
  return with_errno<ssize_t>(write_with(descriptor, length, &offset, [&] {
    return raw(SYS_pwrite64, descriptor, bytes, length, offset);
  }));
}

ssize_t writev(int descriptor, const iovec* parts, int number) {
  return with_errno<ssize_t>(write_with(descriptor, length_of(parts, number), nullptr, [&] {
    return raw(SYS_writev, descriptor, parts, number);
  }));
}

ssize_t pwritev(int descriptor, const iovec* parts, int number, off_t offset) {
  return with_errno<ssize_t>(write_with(descriptor, length_of(parts, number), &offset, [&] {
    return raw(SYS_pwritev, descriptor, parts, number, offset, 0);
  }));
}

ssize_t pwritev2(int descriptor, const iovec* parts, int number, off_t offset, int flags) {
  return with_errno<ssize_t>(
      write_with(descriptor, length_of(parts, number), offset == -1 ? nullptr : &offset,
                 [&] { return raw(SYS_pwritev2, descriptor, parts, number, offset, 0, flags); }));
}

int fallocate(int descriptor, int mode, off_t offset, off_t length) {
  return with_errno<int>(allocate_with(descriptor, mode, offset, length));
}

// Returns the error instead of setting it.
int posix_fallocate(int descriptor, off_t offset, off_t length) {
  return static_cast<int>(-allocate_with(descriptor, 0, offset, length));
}

int ftruncate(int descriptor, off_t size) noexcept {
  const auto make = [&] { return raw(SYS_ftruncate, descriptor, size); };
  struct stat found {};
  if (!is_data(descriptor, found)) return with_errno<int>(make());
  const auto wanted = static_cast<uint64_t>(size);
  if (wanted > size_of(found) && !has_room(found, wanted)) return with_errno<int>(refuse());
  const uint64_t begin = std::min(wanted, size_of(found));
  const Change change(descriptor, found, begin, size_of(found) - begin);
  const Counted counted(descriptor, found);
  return with_errno<int>(make());
}

int fsync(int descriptor) { return sync_with(descriptor, SYS_fsync); }
int fdatasync(int descriptor) { return sync_with(descriptor, SYS_fdatasync); }

int unlink(const char* path) noexcept {
  if (!is_data(std::string_view(path))) return with_errno<int>(raw(SYS_unlink, path));
  kyanite::faults::note_unlink(path);
  struct stat found {};
  const bool known = raw(SYS_newfstatat, AT_FDCWD, path, &found, 0) == 0;
  const long result = raw(SYS_unlink, path);
  if (result == 0 && known && fullness() == kyanite::faults::kLimited)
    state()->control->room += allocated(found);
  return with_errno<int>(result);
}

int rename(const char* from, const char* to) noexcept {
  if (is_data(std::string_view(to))) kyanite::faults::note_rename(from, to);
  return with_errno<int>(raw(SYS_rename, from, to));
}

int statvfs(const char* path, struct statvfs* found) noexcept {
  const int result = KYANITE_NEXT(statvfs)(path, found);
  if (result != 0 || !is_data(std::string_view(path)) || fullness() == kyanite::faults::kRoom)
    return result;
  const int64_t room = fullness() == kyanite::faults::kLimited ? state()->control->room.load() : 0;
  found->f_bavail = found->f_bfree =
      static_cast<fsblkcnt_t>(std::max<int64_t>(0, room)) / found->f_frsize;
  return result;
}

}  // extern "C"
