// What replies say of files and directories beyond what they say of blobs.
#pragma once

#include "blob/records.h"
#include "http/message.h"
#include "service/call.h"

namespace kyanite::blob {

// x-ms-owner, x-ms-group, x-ms-permissions.
void encode_access(http::Reply& reply, const auth::posix::AccessControl& control);

// In replies of the Blob API: access control, kind and encryption context, and the metadata that
// marks a directory, which is not stored.
void encode_node(http::Reply& reply, const service::Call& call, const Blob& blob);
// That metadata alone.
void encode_folder_mark(http::Reply& reply, const Blob& blob);

// Metadata as it is stored: a directory is one whatever it says.
void drop_folder_mark(headers::Metadata& metadata);

}  // namespace kyanite::blob
