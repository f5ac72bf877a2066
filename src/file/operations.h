// The operation table of the File service.
#pragma once

#include <span>

#include "service/operation.h"

namespace kyanite::file {

std::span<const service::Operation> operations();

}  // namespace kyanite::file
