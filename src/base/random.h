// Randomness for ids and keys, from the kernel through a per-thread pool.
#pragma once

#include <cstdint>
#include <string>

namespace kyanite {

std::string random_bytes(size_t count);
uint64_t random_u64();
// Version 4, lower case, with dashes: the form of request ids, lease ids and copy ids.
std::string random_uuid();

}  // namespace kyanite
