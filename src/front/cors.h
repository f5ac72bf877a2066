// Cross-origin requests of browsers, judged by the rules in a service's properties. Pure. CORS is
// no authorization: a request that no rule matches is still served, only the browser withholds the
// reply from the page.
#pragma once

#include <vector>

#include "account/properties.h"
#include "http/message.h"
#include "wire/error.h"

namespace kyanite::front {

// Answers OPTIONS, by which a browser asks before the actual request. The first rule that allows
// origin, method and all headers decides; none: 403 CorsPreflightFailure.
wire::Result<http::Reply> preflight(const http::Request& request,
                                    const std::vector<account::CorsRule>& rules);

// Adds what the first rule that allows origin and method grants to the reply of an actual request.
// To be called once the reply has all its other headers, because the names of those are listed.
//
// Caches must not hand a reply made for one origin to another, so replies to GET and HEAD vary by
// origin unless every origin gets the same.
void add_cors_headers(http::Reply& reply, const http::Request& request,
                      const std::vector<account::CorsRule>& rules);

}  // namespace kyanite::front
