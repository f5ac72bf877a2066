// What Copy File decodes and sets alike, wherever the source is.
#pragma once

#include <optional>

#include "file/create.h"
#include "file/source.h"

namespace kyanite::file {

struct CopyOrder {
  CreationOrder creation;
  tree::Creation replacement;
  std::optional<bool> archive;  // x-ms-file-copy-set-archive
};
wire::Result<CopyOrder> decode_copy_order(const service::Call& call);

// What the order says of the copy, and a copy id; still without content.
void begin_copy(const service::Call& call, const CopyOrder& order, Entry& copy);

// If the order says so, whatever attributes the copy has taken over.
void mark_for_archive(const CopyOrder& order, Entry& copy);

http::Reply copy_reply(const Entry& copy);

// From another server, whose reply has begun: the copy is pending.
Outcome copy_foreign(service::Call& call, const CopyOrder& order, const Tree& tree,
                     const Path& path, const Source& source);

}  // namespace kyanite::file
