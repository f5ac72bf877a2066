#pragma once

#include <cstdint>

namespace kyanite::auth {

// How far a client's clock may be off.
inline constexpr int64_t kAllowedSkewSeconds = 15 * 60;

}  // namespace kyanite::auth
