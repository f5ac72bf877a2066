// Putting a new file or directory into a share, perhaps in the place of a file.
#pragma once

#include <functional>
#include <string>

#include "file/entry.h"
#include "headers/metadata.h"

namespace kyanite::file {

// What requests say of an entry to be created.
struct CreationOrder {
  headers::Metadata metadata;
  SmbOrder smb;
};
wire::Result<CreationOrder> decode_creation(const service::Call& call);

// The same in the entry.
void apply_creation(const service::Call& call, const CreationOrder& order, Entry& entry);

// How a file takes the place of another one: with the lease id that the request carries, and not
// where the caller's SAS only lets create.
wire::Result<tree::Creation> decode_replacement(const service::Call& call);

// tree::create_entry() with a `fill` that refuses in the words of REST.
using Fill =
    std::function<Task<wire::Result<void>>(Entry& entry, const Way& way, store::Commit& commit)>;
Task<wire::Result<Changed>> create_entry(service::Call& call, const Tree& tree, const Path& path,
                                         const tree::Creation& creation, const Fill& fill);

}  // namespace kyanite::file
