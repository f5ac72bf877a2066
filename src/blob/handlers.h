// The handlers of the operation table, one file each, named after the operation.
#pragma once

#include "base/task.h"
#include "http/message.h"
#include "service/call.h"
#include "wire/error.h"

namespace kyanite::blob {

using Outcome = Task<wire::Result<http::Reply>>;

Outcome list_containers(service::Call& call);
Outcome get_account_information(service::Call& call);

Outcome create_container(service::Call& call);
Outcome get_container_properties(service::Call& call);  // and Get Container Metadata
Outcome set_container_metadata(service::Call& call);
Outcome get_container_acl(service::Call& call);
Outcome set_container_acl(service::Call& call);
Outcome lease_container(service::Call& call);
Outcome delete_container(service::Call& call);
Outcome list_blobs(service::Call& call);

Outcome put_blob(service::Call& call);
Outcome get_blob(service::Call& call);
Outcome get_blob_properties(service::Call& call);
Outcome get_blob_metadata(service::Call& call);
Outcome set_blob_properties(service::Call& call);
Outcome set_blob_metadata(service::Call& call);
Outcome lease_blob(service::Call& call);
Outcome delete_blob(service::Call& call);

}  // namespace kyanite::blob
