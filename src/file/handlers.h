// The handlers of the operation table, one file each, named after the operation.
#pragma once

#include "base/task.h"
#include "http/message.h"
#include "service/call.h"
#include "wire/error.h"

namespace kyanite::file {

using Outcome = Task<wire::Result<http::Reply>>;

Outcome list_shares(service::Call& call);

Outcome create_share(service::Call& call);
Outcome get_share_properties(service::Call& call);  // and Get Share Metadata
Outcome set_share_properties(service::Call& call);
Outcome set_share_metadata(service::Call& call);
Outcome get_share_acl(service::Call& call);
Outcome set_share_acl(service::Call& call);
Outcome get_share_stats(service::Call& call);
Outcome lease_share(service::Call& call);
Outcome snapshot_share(service::Call& call);
Outcome delete_share(service::Call& call);
Outcome restore_share(service::Call& call);
Outcome create_permission(service::Call& call);
Outcome get_permission(service::Call& call);

Outcome create_directory(service::Call& call);
Outcome get_directory_properties(service::Call& call);
Outcome get_directory_metadata(service::Call& call);
Outcome set_directory_properties(service::Call& call);
Outcome set_directory_metadata(service::Call& call);
Outcome delete_directory(service::Call& call);
Outcome list_directory(service::Call& call);
Outcome rename_directory(service::Call& call);

Outcome create_file(service::Call& call);
Outcome get_file(service::Call& call);
Outcome get_file_properties(service::Call& call);
Outcome get_file_metadata(service::Call& call);
Outcome set_file_properties(service::Call& call);
Outcome set_file_metadata(service::Call& call);
Outcome lease_file(service::Call& call);
Outcome delete_file(service::Call& call);
Outcome put_range(service::Call& call);
Outcome clear_range(service::Call& call);
Outcome put_range_from_url(service::Call& call);
Outcome list_ranges(service::Call& call);
Outcome copy_file(service::Call& call);
Outcome abort_copy_file(service::Call& call);
Outcome rename_file(service::Call& call);

Outcome list_handles(service::Call& call);  // of a file, a directory or the root
Outcome force_close_handles(service::Call& call);

}  // namespace kyanite::file
