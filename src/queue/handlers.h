// The handlers of the operation table, one file each, named after the operation.
#pragma once

#include "base/task.h"
#include "http/message.h"
#include "service/call.h"
#include "wire/error.h"

namespace kyanite::queue {

using Outcome = Task<wire::Result<http::Reply>>;

Outcome list_queues(service::Call& call);
Outcome get_queue_service_properties(service::Call& call);
Outcome get_queue_service_stats(service::Call& call);

Outcome create_queue(service::Call& call);
Outcome delete_queue(service::Call& call);
Outcome get_queue_metadata(service::Call& call);
Outcome set_queue_metadata(service::Call& call);
Outcome get_queue_acl(service::Call& call);
Outcome set_queue_acl(service::Call& call);

Outcome put_message(service::Call& call);
Outcome get_messages(service::Call& call);
Outcome peek_messages(service::Call& call);
Outcome update_message(service::Call& call);
Outcome delete_message(service::Call& call);
Outcome clear_messages(service::Call& call);

}  // namespace kyanite::queue
