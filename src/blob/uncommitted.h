// A blob of which there are only blocks so far. It has no properties and cannot be read, but it can
// be leased and deleted, and conditions on dates see it: it was last modified in 1601.
#pragma once

#include <optional>
#include <string>

#include "base/task.h"
#include "blob/place.h"
#include "blob/records.h"
#include "headers/lease.h"
#include "service/call.h"
#include "store/store.h"
#include "wire/error.h"

namespace kyanite::blob {

struct Uncommitted {
  uint64_t id_bytes = 0;  // of the ids of its blocks
  headers::StoredLease lease;

  // As what Lease Blob and Delete Blob take it for.
  Blob as_blob() const;
};

// The addressed blob's uncommitted blocks as such a blob; nothing where there are none. The commit
// is guarded by what was found: blocks that are staged and leased meanwhile keep their lease.
Task<wire::Result<std::optional<Uncommitted>>> find_uncommitted(service::Call& call,
                                                                const Place& place,
                                                                store::Commit& commit);

// Adds to the commit what became of it: another lease, or its deletion.
Task<wire::Result<void>> settle_uncommitted(service::Call& call, const Place& place,
                                            const Uncommitted& before,
                                            const std::optional<Blob>& after,
                                            store::Commit& commit);

// Whether there are any, whatever their mark says.
Task<wire::Result<bool>> has_blocks(service::Call& call, const Place& place);

// Adds the removal of all uncommitted blocks to the commit. They were looked for before. A block
// that is staged before the commit stays, as if it had come after it.
Task<wire::Result<void>> drop_blocks(service::Call& call, const Place& place,
                                     store::Commit& commit);

}  // namespace kyanite::blob
