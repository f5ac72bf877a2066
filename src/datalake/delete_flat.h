// Deleting directories where there are none: what lies below the name goes in portions, the
// directory's own blob last.
#pragma once

#include <optional>

#include "account/properties.h"
#include "base/task.h"
#include "blob/blob.h"
#include "http/message.h"
#include "service/call.h"
#include "wire/error.h"

namespace kyanite::datalake {

// Deletes the addressed path if it is a directory; nothing if it is none. One request does as much
// as it should and says how to go on; what is asked again goes on as well.
Task<wire::Result<std::optional<http::Reply>>> delete_flat_directory(service::Call& call,
                                                                     store::SpaceId space,
                                                                     const blob::Checks& checks);

// For an edit of what is deleted: it goes with its snapshots, or is kept as the account says.
Task<wire::Result<void>> take_away(service::Call& call, blob::Change& change,
                                   const account::RetentionPolicy& retention);

}  // namespace kyanite::datalake
