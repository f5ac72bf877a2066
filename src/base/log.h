// Lines for people, on standard error or a file. Never called with secrets: whoever logs a URL
// removes its signature first.
//
// Logging never waits for the reader: lines are queued for a thread that writes them
// (line_writer.h), and left out while nobody takes them.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace kyanite {

enum class LogLevel { kDebug, kInfo, kWarning, kError };

// Where lines go from now on; the default is standard error. False when the file cannot be opened
// for appending.
bool log_to_file(const std::string& path);
void set_log_level(LogLevel least);

void log(LogLevel level, std::string_view message);
inline void log_info(std::string_view message) { log(LogLevel::kInfo, message); }
inline void log_warning(std::string_view message) { log(LogLevel::kWarning, message); }
inline void log_error(std::string_view message) { log(LogLevel::kError, message); }

// Waits until what was logged is written, but not for ever. For whoever ends the process.
inline constexpr std::chrono::milliseconds kLogFlush{2'000};
void flush_log();
// How many lines nobody took.
uint64_t log_lines_dropped();

}  // namespace kyanite
