#include "base/check.h"

#include <cstdio>
#include <cstdlib>

namespace kyanite {

void check_failed(const char* file, int line, const char* what) {
  std::fprintf(stderr, "%s:%d: CHECK failed: %s\n", file, line, what);
  std::fflush(stderr);
  std::abort();
}

}  // namespace kyanite
