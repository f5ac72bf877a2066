// How many files and sockets the process may have open at a time.
#pragma once

#include <cstdint>

namespace kyanite::os {

// Raises the limit as far as the system lets the process and tells what it is then.
uint64_t raise_descriptor_limit();

}  // namespace kyanite::os
