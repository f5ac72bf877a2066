// The rule for names of containers, queues and shares.
#pragma once

#include <string_view>

#include "wire/error.h"

namespace kyanite::service {

inline constexpr size_t kMinResourceName = 3;
inline constexpr size_t kMaxResourceName = 63;

// Lower-case letters, digits and single dashes between them. 400 OutOfRangeInput for a wrong
// length, InvalidResourceName for the rest.
wire::Result<void> check_resource_name(std::string_view name);

}  // namespace kyanite::service
