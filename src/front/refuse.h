// Errors as replies.
#pragma once

#include "auth/authenticate.h"
#include "http/message.h"
#include "service/call.h"
#include "wire/error.h"

namespace kyanite::front {

http::Reply refuse(const service::Call& call, const wire::Error& error,
                   const auth::Settings& settings);

// Whether a x-ms-client-request-id is echoed: at most 1 KiB of visible ASCII.
bool is_echoed(std::string_view client_request_id);

}  // namespace kyanite::front
