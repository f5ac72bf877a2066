// What Abort Copy Blob and Abort Copy File ask for.
#pragma once

#include <string>

#include "headers/copy_state.h"
#include "service/call.h"
#include "wire/error.h"

namespace kyanite::transfer {

// The id of the copy to abort: x-ms-copy-action must say so, and copyid be there and well formed.
wire::Result<std::string> decode_abort(const service::Call& call);

// Ends the pending copy of that id. Whoever fetches its bytes finds it no longer pending and stops.
wire::Result<void> abort(const service::Call& call, const std::string& id, headers::Copy& copy);

}  // namespace kyanite::transfer
