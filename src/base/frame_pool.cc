#include "base/frame_pool.h"

#include <array>
#include <new>

namespace kyanite {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)

// Sanitizers see the end of a frame's life only when it is really freed.
void* take_frame(size_t bytes) { return ::operator new(bytes); }
void give_frame(void* frame, size_t) noexcept { ::operator delete(frame); }

#else

namespace {
constexpr size_t kStep = 256;
constexpr size_t kClasses = 32;  // Frames of 8 KiB and more are too rare to keep.
constexpr unsigned kMostKept =
    64;  // of each class: at most 16 MiB a thread, a fraction in practice

struct Kept {
  Kept* next;
};

// Frames may be freed while a thread ends, after its pool.
thread_local bool ended = false;

struct Pool {
  struct Shelf {
    Kept* first = nullptr;
    unsigned count = 0;
  };
  std::array<Shelf, kClasses> shelves;

  ~Pool() {
    ended = true;
    for (auto& shelf : shelves) {
      while (shelf.first != nullptr) {
        Kept* frame = shelf.first;
        shelf.first = frame->next;
        ::operator delete(frame);
      }
    }
  }
};
thread_local Pool pool;

size_t class_of(size_t bytes) { return (bytes + kStep - 1) / kStep; }
}  // namespace

void* take_frame(size_t bytes) {
  const size_t index = class_of(bytes);
  if (index >= kClasses || ended) return ::operator new(bytes);
  auto& shelf = pool.shelves[index];
  if (shelf.first == nullptr) return ::operator new(index* kStep);
  Kept* frame = shelf.first;
  shelf.first = frame->next;
  --shelf.count;
  return frame;
}

void give_frame(void* frame, size_t bytes) noexcept {
  const size_t index = class_of(bytes);
  if (index >= kClasses || ended || pool.shelves[index].count == kMostKept) {
    ::operator delete(frame);
    return;
  }
  auto& shelf = pool.shelves[index];
  shelf.first = new (frame) Kept{shelf.first};
  ++shelf.count;
}

#endif

}  // namespace kyanite
