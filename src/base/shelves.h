// Freed blocks of memory kept by size for the thread's next request, so that what every request
// needs does not go through malloc each time. Only .cc files of base/ use it.
#pragma once

#include <array>
#include <cstddef>
#include <new>

#include "base/sanitized.h"

namespace kyanite {

// Blocks of up to kStep * (kClasses - 1) bytes, rounded up to kStep; larger ones are not kept. At
// most kMost of each size.
template <size_t kStep, size_t kClasses, unsigned kMost, size_t kAlignment>
class Shelves {
 public:
  ~Shelves() {
    ended_ = true;
    for (auto& shelf : shelves_) {
      while (shelf.first != nullptr) {
        Kept* block = shelf.first;
        shelf.first = block->next;
        free(block);
      }
    }
  }

  void* take(size_t bytes) {
    const size_t index = class_of(bytes);
    if (index >= kClasses) return allocate(bytes);
    auto& shelf = shelves_[index];
    if (ended_ || shelf.first == nullptr) return allocate(index * kStep);
    Kept* block = shelf.first;
    shelf.first = block->next;
    --shelf.count;
    return block;
  }

  // `bytes` as it was taken, by any thread.
  void give(void* block, size_t bytes) noexcept {
    const size_t index = class_of(bytes);
    if (index >= kClasses || ended_ || kMostKept == 0 || shelves_[index].count >= kMostKept) {
      free(block);
      return;
    }
    auto& shelf = shelves_[index];
    shelf.first = new (block) Kept{shelf.first};
    ++shelf.count;
  }

 private:
  // Sanitizers see the end of a block's life only when it is really freed.
  static constexpr unsigned kMostKept = kSanitized ? 0 : kMost;
  struct Kept {
    Kept* next;
  };
  struct Shelf {
    Kept* first = nullptr;
    unsigned count = 0;
  };

  static size_t class_of(size_t bytes) { return (bytes + kStep - 1) / kStep; }
  static void* allocate(size_t bytes) {
    return ::operator new (bytes, std::align_val_t{kAlignment});
  }
  static void free(void* block) { ::operator delete (block, std::align_val_t{kAlignment}); }

  std::array<Shelf, kClasses> shelves_{};
  // The thread ends: what is freed from now on is not kept. Apart, as it outlives the shelves, of
  // which a thread has one of each kind.
  inline static thread_local bool ended_ = false;
};

}  // namespace kyanite
