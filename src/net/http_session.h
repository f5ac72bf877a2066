// HTTP/1.1 on one connection: requests one after the other, in the order they came, each with a
// streamed body and reply.
#pragma once

#include "base/task.h"
#include "http/message.h"
#include "net/connection.h"

namespace kyanite::net {

// Serves requests until the peer, a time-out, an error or a stopping server ends the connection.
Task<void> serve_http(Connection& connection, http::Handler& handler);

}  // namespace kyanite::net
