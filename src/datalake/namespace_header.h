// x-ms-namespace-enabled: whether a file system has directories.
#pragma once

#include "blob/records.h"
#include "http/message.h"

namespace kyanite::datalake {

inline void encode_namespace(http::Reply& reply, const blob::Container& container) {
  reply.header("x-ms-namespace-enabled", container.hierarchical ? "true" : "false");
}

}  // namespace kyanite::datalake
