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
Outcome find_blobs_by_tags(service::Call& call);  // also within a container
Outcome blob_batch(service::Call& call);          // also within a container

Outcome create_container(service::Call& call);
Outcome get_container_properties(service::Call& call);  // and Get Container Metadata
Outcome set_container_metadata(service::Call& call);
Outcome get_container_acl(service::Call& call);
Outcome set_container_acl(service::Call& call);
Outcome lease_container(service::Call& call);
Outcome delete_container(service::Call& call);
Outcome list_blobs(service::Call& call);
Outcome restore_container(service::Call& call);

Outcome put_blob(service::Call& call);
Outcome put_page_blob(service::Call& call);
Outcome put_append_blob(service::Call& call);
Outcome get_blob(service::Call& call);
Outcome get_blob_properties(service::Call& call);
Outcome get_blob_metadata(service::Call& call);
Outcome set_blob_properties(service::Call& call);
Outcome set_blob_metadata(service::Call& call);
Outcome lease_blob(service::Call& call);
Outcome delete_blob(service::Call& call);
Outcome undelete_blob(service::Call& call);
Outcome snapshot_blob(service::Call& call);
Outcome set_blob_tier(service::Call& call);
Outcome set_blob_expiry(service::Call& call);
Outcome set_blob_immutability_policy(service::Call& call);
Outcome delete_blob_immutability_policy(service::Call& call);
Outcome set_blob_legal_hold(service::Call& call);
Outcome get_blob_tags(service::Call& call);
Outcome set_blob_tags(service::Call& call);
Outcome query_blob_contents(service::Call& call);

Outcome copy_blob(service::Call& call);
Outcome copy_blob_from_url(service::Call& call);
Outcome abort_copy_blob(service::Call& call);
Outcome incremental_copy_blob(service::Call& call);

Outcome put_blob_from_url(service::Call& call);
Outcome put_block_from_url(service::Call& call);
Outcome append_block_from_url(service::Call& call);
Outcome put_page_from_url(service::Call& call);

Outcome put_block(service::Call& call);
Outcome put_block_list(service::Call& call);
Outcome get_block_list(service::Call& call);

Outcome append_block(service::Call& call);
Outcome append_blob_seal(service::Call& call);

Outcome put_page(service::Call& call);
Outcome clear_pages(service::Call& call);
Outcome get_page_ranges(service::Call& call);

}  // namespace kyanite::blob
