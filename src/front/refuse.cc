#include "front/refuse.h"

namespace kyanite::front {

http::Reply refuse(const service::Service& service, const service::Call& call,
                   const wire::Error& error, const auth::Settings& settings) {
  http::Reply reply(error.status);
  reply.error_code = wire::name(error.code);
  service.render(call, error, reply);
  for (const auto& [header, value] : error.headers) reply.header(header, value);
  // A 401 of the source of a copy is no question to the client.
  if (error.status == 401 && error.code != wire::Code::kCannotVerifyCopySource)
    reply.header("WWW-Authenticate", auth::challenge(settings));
  return reply;
}

bool is_echoed(std::string_view client_request_id) {
  if (client_request_id.empty() || client_request_id.size() > 1024) return false;
  for (char c : client_request_id) {
    if (c < 0x20 || c > 0x7e) return false;
  }
  return true;
}

}  // namespace kyanite::front
