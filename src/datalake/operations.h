// The operation table of Data Lake.
#pragma once

#include <span>

#include "service/operation.h"

namespace kyanite::datalake {

std::span<const service::Operation> operations();

}  // namespace kyanite::datalake
