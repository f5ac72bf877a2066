// Sends one reply: head and short body in one system call, streams piece by piece, files without
// copying.
#pragma once

#include <string>

#include "http/message.h"
#include "http/serialize.h"
#include "net/connection.h"

namespace kyanite::net {

// `head` is the serialised head; its memory is used on. False when the reply could not be sent
// whole, because the peer is gone or too slow or because the stream failed: the connection is of no
// more use then.
Task<bool> send_reply(Connection& connection, http::Reply& reply, const http::BodyPlan& plan,
                      std::string& head);

}  // namespace kyanite::net
