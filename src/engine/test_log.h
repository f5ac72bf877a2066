// Logs as RocksDB writes them, for tests of what reads them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/bytes.h"
#include "store/checksum.h"

namespace kyanite::engine {

class TestLog {
 public:
  static constexpr size_t kBlockBytes = 32 * 1024;
  static constexpr size_t kHeaderBytes = 7;        // Of a fragment.
  static constexpr size_t kBatchHeaderBytes = 12;  // Of a record.

  // Adds a record of so many writes, which take `size` bytes together.
  void add(uint32_t writes, size_t size) {
    std::string record;
    append_le32(record, static_cast<uint32_t>(next_));
    append_le32(record, 0);
    append_le32(record, writes);
    record.append(size, 'x');
    next_ += writes;
    if (room() < kHeaderBytes) bytes_.append(room(), '\0');
    last_begin_ = bytes_.size();
    for (bool first = true; first || !record.empty(); first = false) {
      const size_t count = std::min(record.size(), room() - kHeaderBytes);
      const bool last = count == record.size();
      add_fragment(first ? (last ? 1 : 2) : (last ? 4 : 3), record.substr(0, count));
      record.erase(0, count);
    }
  }
  const std::string& bytes() const { return bytes_; }
  size_t room() const { return kBlockBytes - bytes_.size() % kBlockBytes; }  // In the last block.
  size_t last_begin() const { return last_begin_; }                          // Of a record.
  uint64_t next() const { return next_; }  // The number of the next write.

 private:
  void add_fragment(char kind, const std::string& payload) {
    const uint32_t crc = store::crc32c(kind + payload);
    append_le32(bytes_, ((crc >> 15) | (crc << 17)) + 0xa282ead8u);
    bytes_ += {static_cast<char>(payload.size()), static_cast<char>(payload.size() >> 8), kind};
    bytes_ += payload;
  }

  std::string bytes_;
  size_t last_begin_ = 0;
  uint64_t next_ = 1;
};

}  // namespace kyanite::engine
