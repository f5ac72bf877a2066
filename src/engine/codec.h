// The bytes of a stored record: a head with the refs, then the value. See docs/formats/engine.md.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "store/store.h"

namespace kyanite::engine {

// Runs begin on pages, so that direct I/O, hole punching and the page cache all work on whole runs.
inline constexpr uint64_t kRunAlignment = kPageBytes;

// What goes before the value.
std::string encode_head(const std::vector<store::Ref>& refs);

// Nothing when the bytes are not a whole record of a known version.
std::optional<store::Record> decode_record(std::string_view bytes);
// Only the value, within `bytes`.
std::optional<std::string_view> decode_value(std::string_view bytes);
// Only the refs, for readers that do not need the value.
std::optional<std::vector<store::Ref>> decode_refs(std::string_view bytes);

}  // namespace kyanite::engine
