#include "base/log.h"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <ctime>

#include "base/line_writer.h"

namespace kyanite {

namespace {
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
std::string stamped(LogLevel level, std::string_view message) {
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
  return line;
}

std::string tell_gap(uint64_t count) {
  return stamped(LogLevel::kWarning,
                 std::to_string(count) + " lines of this log are missing: nobody took them");
}

// Never destroyed, as others log to the very end.
std::atomic<LineWriter*> chosen{nullptr};
LineWriter& writer() {
  if (LineWriter* file = chosen.load(std::memory_order_acquire)) return *file;
  static auto* standard_error = new LineWriter(STDERR_FILENO, tell_gap);
  return *standard_error;
}
}  // namespace

bool log_to_file(const std::string& path) {
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (file < 0) return false;
  chosen = new LineWriter(file, tell_gap);
  return true;
}

void set_log_level(LogLevel least) { least_level = least; }

void log(LogLevel level, std::string_view message) {
  if (level < least_level.load(std::memory_order_relaxed)) return;
  writer().write(stamped(level, message));
}

void flush_log() { writer().flush(kLogFlush); }

uint64_t log_lines_dropped() { return writer().dropped(); }

}  // namespace kyanite
