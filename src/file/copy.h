// What Copy File decodes and sets alike, wherever the source is.
#pragma once

#include <optional>
#include <string>

#include "file/create.h"
#include "file/source.h"

namespace kyanite::file {

struct CopyOrder {
  CreationOrder creation;
  std::optional<std::string> lease_id;
  bool ignore_read_only = false;
  std::optional<bool> archive;  // x-ms-file-copy-set-archive
};
wire::Result<CopyOrder> decode_copy_order(const service::Call& call);

// The copy with a copy id, still without content, where `before` can be replaced.
wire::Result<Creation> make_copy(const service::Call& call, const CopyOrder& order, const Way& way,
                                 const Found* before);

http::Reply copy_reply(const Entry& copy);

// From another server, whose reply has begun: the copy is pending.
Outcome copy_foreign(service::Call& call, const CopyOrder& order, const Tree& tree,
                     const Path& path, const Source& source);

}  // namespace kyanite::file
