// System calls without libc: no hook of this library sees them, and unseen.cc lets no others change
// the server's files.
#pragma once

#include <cerrno>

extern "C" {
long kyanite_faults_raw(long number, long a, long b, long c, long d, long e, long f);
// The instructions of it.
extern const char kyanite_faults_raw_begin[];
extern const char kyanite_faults_raw_end[];
}

namespace kyanite::faults {

template <class T>
long word(T value) {
  return (long)value;
}

// The result, or minus errno.
template <class... Arguments>
long raw(long number, Arguments... arguments) {
  long words[6] = {word(arguments)...};
  return kyanite_faults_raw(number, words[0], words[1], words[2], words[3], words[4], words[5]);
}

// As libc returns it.
template <class T = long>
T with_errno(long result) {
  if (result >= 0) return static_cast<T>(result);
  errno = static_cast<int>(-result);
  return T{-1};
}

}  // namespace kyanite::faults
