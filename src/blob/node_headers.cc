#include "blob/node_headers.h"

#include "base/bytes.h"
#include "wire/version.h"

namespace kyanite::blob {

void encode_access(http::Reply& reply, const auth::posix::AccessControl& control) {
  reply.header("x-ms-owner", control.owner);
  reply.header("x-ms-group", control.group);
  reply.header("x-ms-permissions", auth::posix::print_permissions(control));
}

void encode_folder_mark(http::Reply& reply, const Blob& blob) {
  if (blob.is_directory()) reply.header("x-ms-meta-" + std::string(kFolderMark), "true");
}

void encode_node(http::Reply& reply, const service::Call& call, const Blob& blob) {
  if (call.version >= wire::kOwnersOfBlobs) encode_access(reply, blob.node->access);
  if (call.version >= wire::kAclsOfBlobs)
    reply.header("x-ms-acl", auth::posix::print_acl(blob.node->access));
  if (call.version >= wire::kResourceTypes) reply.header("x-ms-resource-type", resource_type(blob));
  if (!blob.node->encryption_context.empty())
    reply.header("x-ms-encryption-context", blob.node->encryption_context);
  encode_folder_mark(reply, blob);
}

void drop_folder_mark(headers::Metadata& metadata) {
  std::erase_if(metadata,
                [](const auto& pair) { return equals_ignoring_case(pair.first, kFolderMark); });
}

}  // namespace kyanite::blob
