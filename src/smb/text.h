// Names travel as UTF-16 little-endian and are UTF-8 everywhere else in the server.
//
// An unpaired surrogate has no UTF-8 form and no REST client could name such a file, so text that
// has one is refused, as is a NUL.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace kyanite::smb {

// Of one text on the wire, in units of UTF-16: twice the longest path of the File service, whose
// own limits for paths and their parts come after.
inline constexpr size_t kMaxTextUnits = 4096;

// Nothing if the bytes are an odd number, too many, or not text as above.
std::optional<std::string> utf8_of(std::string_view utf16);

// Bytes that are not valid UTF-8 become U+FFFD.
void append_utf16(std::string& out, std::string_view utf8);

}  // namespace kyanite::smb
