// Errors as replies.
#pragma once

#include "auth/authenticate.h"
#include "http/message.h"
#include "service/call.h"
#include "service/service.h"
#include "wire/error.h"

namespace kyanite::front {

// The error as `service` writes it.
http::Reply refuse(const service::Service& service, const service::Call& call,
                   const wire::Error& error, const auth::Settings& settings);

// Whether a x-ms-client-request-id is echoed: at most 1 KiB of visible ASCII.
bool is_echoed(std::string_view client_request_id);

}  // namespace kyanite::front
