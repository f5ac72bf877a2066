#include "base/check.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "base/log.h"

namespace kyanite {

// What led here is in the log, unless nobody reads it: the end does not wait for ever.
void check_failed(const char* file, int line, const char* what) {
  flush_log();
  char text[1024];
  const int length =
      std::snprintf(text, sizeof text, "%s:%d: CHECK failed: %s\n", file, line, what);
  pollfd standard_error{STDERR_FILENO, POLLOUT, 0};
  if (length > 0 && poll(&standard_error, 1, static_cast<int>(kLogFlush.count())) > 0) {
    [[maybe_unused]] const auto written =
        write(STDERR_FILENO, text, std::min(static_cast<size_t>(length), sizeof text - 1));
  }
  std::abort();
}

}  // namespace kyanite
