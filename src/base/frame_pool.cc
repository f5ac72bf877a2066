#include "base/frame_pool.h"

#include "base/shelves.h"

namespace kyanite {

namespace {
// Frames of 8 KiB and more are too rare to keep.
thread_local Shelves<256, 32, 64, alignof(std::max_align_t)> frames;
}  // namespace

void* take_frame(size_t bytes) { return frames.take(bytes); }
void give_frame(void* frame, size_t bytes) noexcept { frames.give(frame, bytes); }

}  // namespace kyanite
