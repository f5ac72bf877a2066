#include "service/service.h"

#include "jobs/job.h"
#include "wire/date.h"
#include "wire/readable.h"
#include "wire/version.h"
#include "wire/xml.h"

namespace kyanite::service {

void Service::render(const Call& call, const wire::Error& error, http::Reply& reply) const {
  // Requests too broken to have a version are answered like those of today.
  if (error.names != wire::Error::Names::kNeither &&
      (call.version >= wire::kErrorCodeHeader || call.version == wire::Version{}))
    reply.header("x-ms-error-code", wire::name(error.code));
  reply.because(error.message);
  if (call.request.method == "HEAD" || error.status == 304) return;
  wire::XmlWriter xml;
  xml.open("Error").element("Code", wire::name(error.code));
  xml.element("Message", wire::readable(error.message) + "\nRequestId:" + call.request_id +
                             "\nTime:" + wire::iso_date(call.now).str());
  for (const auto& [element, value] : error.details) xml.element(element, wire::readable(value));
  xml.close("Error");
  reply.header("Content-Type", "application/xml");
  reply.body = xml.take();
}

Task<wire::Result<void>> Service::require_paths(Call&) const {
  co_return wire::Error(wire::Code::kAuthorizationPermissionMismatch);
}

std::vector<jobs::Job> Service::make_jobs(Context&) const { return {}; }

}  // namespace kyanite::service
