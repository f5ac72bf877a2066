// Name rules of the Blob service.
#pragma once

#include <string_view>

#include "wire/error.h"

namespace kyanite::blob {

inline constexpr size_t kMinContainerName = 3;
inline constexpr size_t kMaxContainerName = 63;
inline constexpr size_t kMaxBlobName = 1024;  // characters
inline constexpr size_t kMaxPathSegments = 254;

inline constexpr std::string_view kRootContainer = "$root";

wire::Result<void> check_container_name(std::string_view name);
wire::Result<void> check_blob_name(std::string_view name);

}  // namespace kyanite::blob
