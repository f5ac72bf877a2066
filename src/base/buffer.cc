#include "base/buffer.h"

#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

#include "base/check.h"

namespace kyanite {

namespace {
// Keeps at most 16 MiB of full-size blocks around; more than that is given back.
constexpr size_t kMaxFree = 64;

struct FreeList {
  std::mutex mutex;
  std::vector<char*> blocks;
};
FreeList& free_list() {
  static auto* list = new FreeList;  // Never destroyed: buffers may outlive static destruction.
  return *list;
}

char* allocate(size_t capacity) {
  if (capacity == kChunkBytes) {
    auto& list = free_list();
    std::lock_guard lock(list.mutex);
    if (!list.blocks.empty()) {
      char* block = list.blocks.back();
      list.blocks.pop_back();
      return block;
    }
  }
  auto* block = static_cast<char*>(std::aligned_alloc(kPageBytes, capacity));
  if (block == nullptr) throw std::bad_alloc();
  return block;
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

Buffer::Buffer(Buffer&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)),
      capacity_(std::exchange(other.capacity_, 0)) {}

Buffer& Buffer::operator=(Buffer&& other) noexcept {
  if (this != &other) {
    release();
    data_ = std::exchange(other.data_, nullptr);
    size_ = std::exchange(other.size_, 0);
    capacity_ = std::exchange(other.capacity_, 0);
  }
  return *this;
}

Buffer::~Buffer() { release(); }

void Buffer::release() {
  if (data_ == nullptr) return;
  if (capacity_ == kChunkBytes) {
    auto& list = free_list();
    std::lock_guard lock(list.mutex);
    if (list.blocks.size() < kMaxFree) {
      list.blocks.push_back(data_);
      data_ = nullptr;
      return;
    }
  }
  std::free(data_);
  data_ = nullptr;
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
