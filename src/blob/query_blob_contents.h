// The handler of Query Blob Contents.
#pragma once

#include "blob/handlers.h"

namespace kyanite::blob {

Outcome query_blob_contents(service::Call& call);

}  // namespace kyanite::blob
