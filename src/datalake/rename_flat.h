// Renaming where there are no directories.
#pragma once

#include "base/task.h"
#include "blob/blob.h"
#include "service/call.h"
#include "wire/error.h"

namespace kyanite::datalake {

// Adds to the commit that the blob `from` addresses moves to where `call` addresses, within one
// container and under the checks of both. It keeps its ETag, as it does where there are
// directories. What the service does in portions, or what leaves former states behind, is refused:
// directories, blobs with snapshots, accounts with versioning.
Task<wire::Result<blob::Blob>> rename_flat(service::Call& call, const blob::Checks& checks,
                                           service::Call& from, const blob::Checks& source_checks,
                                           const std::optional<headers::Metadata>& properties,
                                           store::SpaceId space, store::Commit& commit);

}  // namespace kyanite::datalake
