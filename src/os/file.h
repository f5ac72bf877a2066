// Files: the only place with raw file system calls. Every call checks its result; failures come
// back as errno values.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "base/buffer.h"
#include "base/result.h"

namespace kyanite::os {

// An errno value with what was being done to which file, for messages.
struct Error {
  int code = 0;
  std::string what;  // e.g. "open /data/extents/000001: No such file or directory"
};
template <class T>
using Result = kyanite::Result<T, Error>;

// Whether the device, the quota or the file system's own limit has no room for more.
bool is_out_of_space(int code);

struct FileStatus {
  uint64_t size = 0;
  uint64_t allocated_bytes = 0;  // Blocks on the device; less than `size` where there are holes.
  int64_t modified_nanos = 0;
  int64_t changed_nanos = 0;
  bool operator==(const FileStatus&) const = default;
};

// An open file. Reads and writes name their offset, so that threads may share one File without
// locking.
class File {
 public:
  enum class Mode {
    kRead,
    kReadWrite,
    kCreateNew,     // Fails when the file exists.
    kCreateOrOpen,  // Keeps what is there.
    kWriteDirect,   // Past the page cache: memory, offsets and lengths of writes are whole pages.
  };
  static Result<std::shared_ptr<const File>> open(const std::string& path, Mode mode);

  explicit File(int descriptor, std::string path)
      : descriptor_(descriptor), path_(std::move(path)) {}
  ~File();
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  int descriptor() const { return descriptor_; }
  const std::string& path() const { return path_; }

  // Reads until `length` bytes are there or the file ends; tells how many.
  Result<size_t> read_at(char* out, size_t length, uint64_t offset) const;
  // As read_at, but takes only what the page cache holds: fewer bytes come back rather than waiting
  // for the device.
  Result<size_t> read_cached_at(char* out, size_t length, uint64_t offset) const;
  // All bytes or an error; after an error some of them may have been written.
  Result<void> write_at(std::string_view bytes, uint64_t offset) const;
  // The same for pieces that go one behind the other, at most kMostPieces of them.
  static constexpr size_t kMostPieces = 64;
  Result<void> write_pieces_at(std::span<const std::string_view> pieces, uint64_t offset) const;
  // Reserves blocks and makes the file at least offset + length long. Where the file system cannot
  // reserve, only the length is set.
  Result<void> allocate(uint64_t offset, uint64_t length) const;
  // Gives blocks back to the device; the range reads as zeros.
  Result<void> punch_hole(uint64_t offset, uint64_t length) const;
  Result<void> truncate(uint64_t size) const;
  // Waits until everything written before is on the device. After a failure the kernel may have
  // dropped the bytes and report success next time: whoever sees one must never trust the unsynced
  // part again.
  Result<void> sync_data() const;
  Result<FileStatus> status() const;
  // Takes the advisory lock that lasts until the file is closed; false when another open file has
  // it.
  Result<bool> try_lock() const;

 private:
  int descriptor_;
  std::string path_;
};

// A piece of a file that the kernel can send by itself.
struct FileSlice {
  std::shared_ptr<const File> file;
  uint64_t offset = 0;
  uint64_t length = 0;
};

// Bytes on their way out: in memory, or still in a file.
using Bytes = std::variant<Buffer, FileSlice>;
inline uint64_t size_of(const Bytes& bytes) {
  if (const auto* slice = std::get_if<FileSlice>(&bytes)) return slice->length;
  return std::get<Buffer>(bytes).size();
}

}  // namespace kyanite::os
