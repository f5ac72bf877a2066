#include "front/refuse.h"

#include "wire/date.h"
#include "wire/version.h"
#include "wire/xml.h"

namespace kyanite::front {

namespace {
std::string error_document(const service::Call& call, const wire::Error& error) {
  wire::XmlWriter xml;
  xml.open("Error").element("Code", wire::name(error.code));
  xml.element("Message", error.message + "\nRequestId:" + call.request_id +
                             "\nTime:" + wire::iso_date(call.now));
  for (const auto& [element, value] : error.details) xml.element(element, value);
  xml.close("Error");
  return xml.take();
}
}  // namespace

http::Reply refuse(const service::Call& call, const wire::Error& error,
                   const auth::Settings& settings) {
  http::Reply reply(error.status);
  reply.error_code = wire::name(error.code);
  // Requests too broken to have a version are answered like those of today.
  if (call.version >= wire::kErrorCodeHeader || call.version == wire::Version{}) {
    reply.header("x-ms-error-code", reply.error_code);
  }
  for (const auto& [header, value] : error.headers) reply.header(header, value);
  if (error.status == 401) reply.header("WWW-Authenticate", auth::challenge(settings));
  if (call.request.method == "HEAD" || error.status == 304) return reply;
  reply.header("Content-Type", "application/xml");
  reply.body = error_document(call, error);
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
