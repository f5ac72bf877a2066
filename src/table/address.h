// From a path below the account to what it addresses.
#pragma once

#include <string_view>

#include "service/call.h"
#include "wire/error.h"

namespace kyanite::table {

// Fills level, container and entity of the target from the decoded path, and checks X-HTTP-Method,
// which decides with the path what a request is.
wire::Result<void> address(service::Call& call, std::string_view path);

}  // namespace kyanite::table
