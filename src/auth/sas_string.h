// The strings that the signatures of SAS tokens cover. Their layout depends on the kind of token,
// the service and the token's own version (sv), never on the version of the request.
#pragma once

#include <string>
#include <string_view>

#include "auth/target.h"
#include "http/message.h"
#include "wire/query.h"
#include "wire/version.h"

namespace kyanite::auth {

// Versions at which the layout of the signed string changed; the names say what is signed from
// there on.
inline constexpr wire::Version kSignsOverrides{20130815};
inline constexpr wire::Version kSignsAddressAndProtocol{20150405};
inline constexpr wire::Version kSignsResourceAndSnapshot{20181109};
inline constexpr wire::Version kSignsAgents{20200210};
inline constexpr wire::Version kSignsEncryptionScope{20201206};
inline constexpr wire::Version kSignsDelegatedUser{20250705};
inline constexpr wire::Version kSignsRequestParts{20260406};

// "/blob/account/container/path"; without the service in front in the oldest tokens.
std::string canonical_resource(const Target& target, std::string_view container,
                               std::string_view path, bool with_service);

std::string account_string_to_sign(const wire::Query& query, std::string_view account,
                                   wire::Version version);

// `snapshot` is the snapshot or version id of the target when the token is for exactly that one,
// else "".
std::string service_string_to_sign(const wire::Query& query, wire::Service service,
                                   std::string_view resource, std::string_view snapshot,
                                   wire::Version version);

// The headers and parameters named in srh and srq are taken from the request.
std::string delegation_string_to_sign(const http::Request& request, const wire::Query& query,
                                      wire::Service service, std::string_view resource,
                                      std::string_view snapshot, wire::Version version);

}  // namespace kyanite::auth
