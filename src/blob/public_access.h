// x-ms-blob-public-access.
#pragma once

#include "auth/caller.h"
#include "service/call.h"
#include "wire/error.h"

namespace kyanite::blob {

inline wire::Result<auth::PublicAccess> decode_public_access(const service::Call& call) {
  const auto text = call.headers().find("x-ms-blob-public-access");
  if (!text || text->empty()) return auth::PublicAccess::kNone;
  if (*text == "blob") return auth::PublicAccess::kBlob;
  // The oldest clients say "true" for what was later called "container".
  if (*text == "container" || *text == "true") return auth::PublicAccess::kContainer;
  return wire::invalid_header("x-ms-blob-public-access", *text);
}

}  // namespace kyanite::blob
