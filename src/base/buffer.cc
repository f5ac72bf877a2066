#include "base/buffer.h"

#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/mutex.h"
#include "base/sanitized.h"
#include "base/shelves.h"

namespace kyanite {

namespace {
// Keeps at most 16 MiB of full-size blocks around; more than that is given back. Sanitizers see the
// end of a block's life only when it is.
constexpr size_t kMaxFree = kSanitized ? 0 : 64;

struct FreeList {
  Mutex mutex;
  std::vector<char*> blocks GUARDED_BY(mutex);
};
FreeList& free_list() {
  static auto* list = new FreeList;  // Never destroyed: buffers may outlive static destruction.
  return *list;
}

// Small bodies: a few pages, kept by each thread.
thread_local Shelves<kPageBytes, 5, 64, kPageBytes> small_blocks;

char* allocate(size_t capacity) {
  if (capacity == kChunkBytes) {
    auto& list = free_list();
    MutexLock lock(list.mutex);
    if (!list.blocks.empty()) {
      char* block = list.blocks.back();
      list.blocks.pop_back();
      return block;
    }
  }
  return static_cast<char*>(small_blocks.take(capacity));
}
}  // namespace

Buffer::Buffer(size_t capacity) : capacity_((capacity + kPageBytes - 1) / kPageBytes * kPageBytes) {
  if (capacity_ > 0) data_ = allocate(capacity_);
}

Buffer Buffer::copy_of(std::string_view bytes) {
  Buffer buffer(bytes.size());
  buffer.append(bytes);
  return buffer;
}

Buffer Buffer::lent(char* pages, size_t bytes) {
  CHECK(reinterpret_cast<uintptr_t>(pages) % kPageBytes == 0 && bytes % kPageBytes == 0);
  Buffer buffer;
  buffer.data_ = pages;
  buffer.size_ = buffer.capacity_ = bytes;
  buffer.lent_ = true;
  return buffer;
}

Buffer::Buffer(Buffer&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)),
      capacity_(std::exchange(other.capacity_, 0)),
      lent_(std::exchange(other.lent_, false)) {}

Buffer& Buffer::operator=(Buffer&& other) noexcept {
  if (this != &other) {
    release();
    data_ = std::exchange(other.data_, nullptr);
    size_ = std::exchange(other.size_, 0);
    capacity_ = std::exchange(other.capacity_, 0);
    lent_ = std::exchange(other.lent_, false);
  }
  return *this;
}

Buffer::~Buffer() { release(); }

void Buffer::release() {
  if (data_ == nullptr || lent_) return;
  if (capacity_ == kChunkBytes) {
    auto& list = free_list();
    MutexLock lock(list.mutex);
    if (list.blocks.size() < kMaxFree) {
      list.blocks.push_back(data_);
      data_ = nullptr;
      return;
    }
  }
  small_blocks.give(std::exchange(data_, nullptr), capacity_);
}

void Buffer::resize(size_t size) {
  CHECK(size <= capacity_);
  size_ = size;
}

void Buffer::append(std::string_view bytes) {
  CHECK(bytes.size() <= room());
  if (bytes.empty()) return;
  std::memcpy(data_ + size_, bytes.data(), bytes.size());
  size_ += bytes.size();
}

}  // namespace kyanite
