// Lines for people, on standard error or a file. Never called with secrets: whoever logs a URL
// removes its signature first.
#pragma once

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

}  // namespace kyanite
