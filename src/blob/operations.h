#pragma once

#include <span>

#include "service/operation.h"

namespace kyanite::blob {

// Every operation of the Blob service; those without a handler are not offered yet.
std::span<const service::Operation> operations();

}  // namespace kyanite::blob
