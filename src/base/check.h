// Programmer errors stop the process, in release builds too: a wrong invariant must never reach the
// disk.
#pragma once

namespace kyanite {
[[noreturn]] void check_failed(const char* file, int line, const char* what);
}  // namespace kyanite

#define CHECK(condition)                                       \
  do {                                                         \
    if (!(condition)) [[unlikely]]                             \
      ::kyanite::check_failed(__FILE__, __LINE__, #condition); \
  } while (false)
