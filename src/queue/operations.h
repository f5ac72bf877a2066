#pragma once

#include <span>

#include "service/operation.h"

namespace kyanite::queue {

// Every operation of the Queue service.
std::span<const service::Operation> operations();

}  // namespace kyanite::queue
