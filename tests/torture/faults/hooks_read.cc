// Reads of the server's data: some fail, some deliver a wrong bit.
#include <sys/sendfile.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cstdio>

#include "next.h"
#include "raw.h"
#include "state.h"

using kyanite::faults::count;
using kyanite::faults::is_data;
using kyanite::faults::kind_of;
using kyanite::faults::random_number;
using kyanite::faults::raw;
using kyanite::faults::state;
using kyanite::faults::with_errno;

namespace {

constexpr uint64_t kMillion = 1'000'000;

// Whether reads of this file may go wrong.
bool is_bad(int descriptor) {
  if (state() == nullptr) return false;
  const auto& control = *state()->control;
  if (control.read_error_ppm == 0 && control.flip_ppm == 0) return false;
  struct stat found {};
  return is_data(descriptor, found) && S_ISREG(found.st_mode) &&
         (control.read_kinds & kind_of(descriptor)) != 0;
}

bool fails() {
  if (random_number() % kMillion >= state()->control->read_error_ppm) return false;
  count(state()->control->read_errors);
  return true;
}

// Turns one bit over, perhaps.
void spoil(char* bytes, size_t length) {
  if (length == 0 || random_number() % kMillion >= state()->control->flip_ppm) return;
  const uint64_t at = random_number() % (length * 8);
  bytes[at / 8] = static_cast<char>(bytes[at / 8] ^ (1 << (at % 8)));
  count(state()->control->flips);
}

long send_spoilt(int out, int in, off_t* offset, size_t length) {
  char bytes[16 * 1024];
  const long count =
      raw(SYS_pread64, in, bytes, length < sizeof bytes ? length : sizeof bytes, *offset);
  if (count <= 0) return count;
  bytes[0] = static_cast<char>(bytes[0] ^ 1);
  const long sent = raw(SYS_write, out, bytes, count);
  if (sent > 0) *offset += sent;
  return sent;
}

template <class Make>
ssize_t read_with(int descriptor, const iovec* parts, int number, Make make) {
  if (!is_bad(descriptor)) return with_errno<ssize_t>(make());
  if (fails()) return with_errno<ssize_t>(-EIO);
  const long result = make();
  size_t left = result > 0 ? static_cast<size_t>(result) : 0;
  for (int i = 0; i < number && left > 0; ++i) {
    const size_t length = left < parts[i].iov_len ? left : parts[i].iov_len;
    spoil(static_cast<char*>(parts[i].iov_base), length);
    left -= length;
  }
  return with_errno<ssize_t>(result);
}

}  // namespace

extern "C" {

ssize_t read(int descriptor, void* bytes, size_t length) {
  const iovec part{bytes, length};
  return read_with(descriptor, &part, 1, [&] { return raw(SYS_read, descriptor, bytes, length); });
}

ssize_t pread(int descriptor, void* bytes, size_t length, off_t offset) {
  const iovec part{bytes, length};
  return read_with(descriptor, &part, 1,
                   [&] { return raw(SYS_pread64, descriptor, bytes, length, offset); });
}

ssize_t readv(int descriptor, const iovec* parts, int number) {
  return read_with(descriptor, parts, number,
                   [&] { return raw(SYS_readv, descriptor, parts, number); });
}

ssize_t preadv(int descriptor, const iovec* parts, int number, off_t offset) {
  return read_with(descriptor, parts, number,
                   [&] { return raw(SYS_preadv, descriptor, parts, number, offset, 0); });
}

// A disk that is bad has nothing in the page cache: reads that take only what is there get nothing.
// (What is there cannot be spoilt by a disk.)
ssize_t preadv2(int descriptor, const iovec* parts, int number, off_t offset, int flags) {
  if ((flags & RWF_NOWAIT) != 0 && is_bad(descriptor)) return with_errno<ssize_t>(-EAGAIN);
  return read_with(descriptor, parts, number,
                   [&] { return raw(SYS_preadv2, descriptor, parts, number, offset, 0, flags); });
}

// How RocksDB reads its log and its manifest.
size_t fread_unlocked(void* bytes, size_t size, size_t number, FILE* stream) {
  const bool bad = is_bad(fileno_unlocked(stream));
  if (bad && fails()) {
    stream->_flags |= _IO_ERR_SEEN;
    errno = EIO;
    return 0;
  }
  const size_t result = KYANITE_NEXT(fread_unlocked)(bytes, size, number, stream);
  if (bad) spoil(static_cast<char*>(bytes), size * result);
  return result;
}

// What the kernel sends by itself can fail. Its bits are those of the page cache: wrong ones stand
// for a server that does not look.
ssize_t sendfile(int out, int in, off_t* offset, size_t length) noexcept {
  if (is_bad(in) && fails()) return with_errno<ssize_t>(-EIO);
  if (state() != nullptr && state()->control->spoil_sent != 0 && offset != nullptr)
    return with_errno<ssize_t>(send_spoilt(out, in, offset, length));
  return with_errno<ssize_t>(raw(SYS_sendfile, out, in, offset, length));
}

}  // extern "C"
