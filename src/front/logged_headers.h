// Header lines as the debug log shows them: with everything blanked that would let a reader of the
// log act as the caller or read what is encrypted.
#pragma once

#include <string>
#include <string_view>

#include "http/message.h"

namespace kyanite::front {

// A longer value is cut short, and so is a longer list of lines.
inline constexpr size_t kMaxLoggedValue = 2048;
inline constexpr size_t kMaxLoggedHeaders = 16 * 1024;

// What may be shown of one header line. Credentials keep their scheme ("SharedKey REDACTED"), URLs
// everything but their signatures.
std::string logged_value(std::string_view name, std::string_view value);

// "Name: value | Name: value" of the lines of a request.
std::string logged_headers(const http::Headers& headers);
// The same of a reply's head.
std::string logged_headers(std::string_view head);

}  // namespace kyanite::front
