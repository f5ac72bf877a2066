// The pieces of which RocksDB makes its logs: blocks of 32 KiB with fragments of records, none of
// which crosses a block. A fragment is a masked CRC-32C of what follows the length, the length in
// two bytes, the kind, and the bytes. A record is the batch of some commits: the number of its
// first write, how many there are, and the writes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace kyanite::engine {

inline constexpr size_t kLogBlockBytes = 32 * 1024;
inline constexpr size_t kFragmentHeaderBytes = 7;
inline constexpr size_t kBatchHeaderBytes = 12;
enum FragmentKind : uint8_t { kWhole = 1, kFirst = 2, kMiddle = 3, kLast = 4 };

struct Fragment {
  FragmentKind kind;
  std::string_view bytes;
  size_t size() const { return kFragmentHeaderBytes + bytes.size(); }
  bool begins_record() const { return kind == kWhole || kind == kFirst; }
  bool ends_record() const { return kind == kWhole || kind == kLast; }
};

// What the rest of a block holds at its beginning, if that is a fragment with the right checksum.
std::optional<Fragment> parse_fragment(std::string_view rest);

}  // namespace kyanite::engine
