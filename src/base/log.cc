#include "base/log.h"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <ctime>

namespace kyanite {

namespace {
std::atomic<int> output{STDERR_FILENO};
std::atomic<LogLevel> least_level{LogLevel::kInfo};

const char* name(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug:
      return "debug";
    case LogLevel::kInfo:
      return "info ";
    case LogLevel::kWarning:
      return "warn ";
    case LogLevel::kError:
      return "error";
  }
  return "";
}
}  // namespace

bool log_to_file(const std::string& path) {
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (file < 0) return false;
  output = file;
  return true;
}

void set_log_level(LogLevel least) { least_level = least; }

void log(LogLevel level, std::string_view message) {
  if (level < least_level.load(std::memory_order_relaxed)) return;
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  tm parts{};
  gmtime_r(&now.tv_sec, &parts);
  char stamp[40];
  const size_t length = std::strftime(stamp, sizeof stamp, "%Y-%m-%dT%H:%M:%S", &parts);
  std::string line(stamp, length);
  const auto millis = static_cast<int>(now.tv_nsec / 1'000'000);
  line += '.';
  line += static_cast<char>('0' + millis / 100);
  line += static_cast<char>('0' + millis / 10 % 10);
  line += static_cast<char>('0' + millis % 10);
  line += "Z ";
  line += name(level);
  line += ' ';
  for (char c : message) line += (c == '\n' || c == '\r') ? ' ' : c;
  line += '\n';
  // One write a line, so that lines of several threads do not mix.
  [[maybe_unused]] auto written = write(output.load(), line.data(), line.size());
}

}  // namespace kyanite
