// Memory for the frames of coroutines. A request makes a dozen of them, most larger than what
// malloc keeps at hand per thread, so each thread keeps the frames it freed for the next request.
#pragma once

#include <cstddef>

namespace kyanite {

void* take_frame(size_t bytes);
// `bytes` as it was taken; on any thread.
void give_frame(void* frame, size_t bytes) noexcept;

}  // namespace kyanite
