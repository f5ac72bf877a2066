// The handlers of the operation table, one file each, named after the operation.
#pragma once

#include "base/task.h"
#include "http/message.h"
#include "service/call.h"
#include "wire/error.h"

namespace kyanite::datalake {

using Outcome = Task<wire::Result<http::Reply>>;

Outcome list_filesystems(service::Call& call);
Outcome create_filesystem(service::Call& call);
Outcome set_filesystem_properties(service::Call& call);
Outcome get_filesystem_properties(service::Call& call);
Outcome delete_filesystem(service::Call& call);
Outcome list_paths(service::Call& call);

Outcome create_path(service::Call& call);
Outcome rename_path(service::Call& call);
Outcome read_path(service::Call& call);
Outcome get_path_properties(service::Call& call);  // and Get Status
Outcome get_access_control(service::Call& call);
Outcome check_access(service::Call& call);
Outcome append_data(service::Call& call);
Outcome flush_data(service::Call& call);
Outcome set_path_properties(service::Call& call);
Outcome set_access_control(service::Call& call);
Outcome set_access_control_recursive(service::Call& call);
Outcome lease_path(service::Call& call);
Outcome delete_path(service::Call& call);

}  // namespace kyanite::datalake
