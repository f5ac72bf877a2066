// Who may do what, in headers: x-ms-owner, x-ms-group, x-ms-permissions, x-ms-umask, x-ms-acl.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "auth/posix_acl.h"
#include "blob/node_headers.h"
#include "http/message.h"
#include "service/call.h"
#include "wire/error.h"

namespace kyanite::datalake {

using blob::encode_access;

// What a request says of it.
struct AccessOrder {
  std::optional<std::string> owner;
  std::optional<std::string> group;
  std::optional<auth::posix::Permissions> permissions;
  std::optional<auth::posix::Permissions> umask;
  std::optional<std::vector<auth::posix::Entry>> entries;

  bool any() const { return owner || group || permissions || umask || entries; }
};
wire::Result<AccessOrder> decode_access(const service::Call& call);

// Everything but the umask, which matters at birth alone.
wire::Result<void> apply_access(const AccessOrder& order, bool is_directory,
                                auth::posix::AccessControl& control);

wire::Error acl_error(auth::posix::AclFault fault);

}  // namespace kyanite::datalake
