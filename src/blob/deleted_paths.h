// Paths that were deleted and can be restored, where there are directories and the account keeps
// what is deleted. Each is the head as it was, under the path it had and the instant of its
// deletion; a directory stands for all that lies in it, which hangs on its id and stays where it
// is.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/task.h"
#include "blob/blob.h"
#include "blob/list_entry.h"
#include "transfer/document.h"

namespace kyanite::blob {

// For a change that deletes: adds to the commit that the path can be restored. False where the
// account keeps nothing.
Task<wire::Result<bool>> keep_deleted_path(service::Call& call, Change& change);

// What clients call a deletion: the instant as 100 ns since 1601.
uint64_t deletion_id(Time deleted);
std::optional<Time> parse_deletion_id(std::string_view text);

// x-ms-delete-type-permanent and, where what was deleted is kept, x-ms-deletion-id.
void encode_deletion(http::Reply& reply, bool permanent, Time kept);

// Of a path of the container whose root has this id; `deleted` is an instant.
store::Key deleted_path_key(store::SpaceId space, uint64_t root, std::string_view path,
                            Time deleted);

// Undelete Blob in a container with directories.
Task<wire::Result<http::Reply>> undelete_path(service::Call& call, const Container& container);

// List Blobs with showonly=deleted.
std::unique_ptr<const transfer::Document> deleted_paths_document(Listing listing,
                                                                 store::SpaceId space,
                                                                 uint64_t root);

}  // namespace kyanite::blob
