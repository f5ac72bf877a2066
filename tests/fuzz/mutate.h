// Changes to inputs as fuzzers make them, but the same ones in every run.
#pragma once

#include <cstddef>
#include <random>
#include <string>
#include <vector>

namespace kyanite::fuzz {

inline constexpr size_t kMostInputBytes = 16 * 1024;

// One of the seeds (of which there is at least one) with up to four changes: bytes flipped,
// replaced, inserted, removed or repeated, and parts of other seeds in the place of its own.
std::string mutate(const std::vector<std::string>& seeds, std::mt19937_64& random);

}  // namespace kyanite::fuzz
