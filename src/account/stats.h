// GET /?restype=service&comp=stats: the state of geo-replication, the same for every service and
// asked of its secondary endpoint. One data directory is both endpoints, so the secondary is always
// live and up to date.
#pragma once

#include "base/task.h"
#include "http/message.h"
#include "service/call.h"
#include "wire/error.h"

namespace kyanite::account {

Task<wire::Result<http::Reply>> get_service_stats(service::Call& call);

}  // namespace kyanite::account
