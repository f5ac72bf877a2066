// Page-aligned memory for everything that meets a socket or a file. Kernel copies into memory at
// page offset 16, where large mallocs sit, run three times slower on some CPUs; alignment also lets
// extents use direct I/O.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

namespace kyanite {

inline constexpr size_t kPageBytes = 4096;

// The unit in which bodies move through the server: one receive, one checksum, one run of an
// extent.
inline constexpr size_t kChunkBytes = 256 * 1024;

// A fixed-capacity block of bytes, movable, not copyable. Full-size blocks come from and return to
// a bounded free list.
class Buffer {
 public:
  Buffer() = default;
  explicit Buffer(size_t capacity);
  static Buffer copy_of(std::string_view bytes);
  // Whole pages that somebody else has, and keeps for as long as this lives. Nothing is copied.
  static Buffer lent(char* pages, size_t bytes);
  Buffer(Buffer&& other) noexcept;
  Buffer& operator=(Buffer&& other) noexcept;
  ~Buffer();

  char* data() { return data_; }
  const char* data() const { return data_; }
  size_t size() const { return size_; }
  size_t capacity() const { return capacity_; }
  size_t room() const { return capacity_ - size_; }
  bool empty() const { return size_ == 0; }
  void resize(size_t size);             // size <= capacity; new bytes are not initialised.
  void append(std::string_view bytes);  // bytes.size() <= room()
  std::string_view view() const { return {data_, size_}; }

 private:
  void release();

  char* data_ = nullptr;
  size_t size_ = 0;
  size_t capacity_ = 0;
  bool lent_ = false;
};

}  // namespace kyanite
