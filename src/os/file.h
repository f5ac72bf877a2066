// Files: the only place with raw file system calls. Every call checks its result; failures come back as errno values.
#pragma once

#include <cstdint>
#include <memory>
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

class File {
 public:
  explicit File(int descriptor, std::string path) : descriptor_(descriptor), path_(std::move(path)) {}
  ~File();
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  int descriptor() const { return descriptor_; }
  const std::string& path() const { return path_; }

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

}  // namespace kyanite::os
