// GUIDs in the text forms of .NET, which clients may use for lease ids.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace kyanite::concurrency {

// Reads any of the forms
//   N  00112233445566778899aabbccddeeff
//   D  00112233-4455-6677-8899-aabbccddeeff
//   B  {00112233-4455-6677-8899-aabbccddeeff}
//   P  (00112233-4455-6677-8899-aabbccddeeff)
//   X  {0x00112233,0x4455,0x6677,{0x88,0x99,0xaa,0xbb,0xcc,0xdd,0xee,0xff}}
// in either case, and returns form D in lower case, so that equal GUIDs are equal texts.
std::optional<std::string> parse_guid(std::string_view text);

}  // namespace kyanite::concurrency
