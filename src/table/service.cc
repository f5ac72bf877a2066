#include "table/service.h"

#include "lifetime/dead_spaces.h"
#include "lifetime/directory.h"
#include "table/address.h"
#include "table/operations.h"
#include "table/payload.h"
#include "table/table.h"
#include "wire/date.h"
#include "wire/readable.h"
#include "wire/xml.h"

namespace kyanite::table {

using service::Call;

std::span<const service::Operation> TableService::operations() const { return table::operations(); }

wire::Result<void> TableService::address(Call& call, std::string_view path) const {
  return table::address(call, path);
}

void TableService::render(const Call& call, const wire::Error& error, http::Reply& reply) const {
  if (!speaks_xml(call)) {
    render_json_error(call, error, reply);
    return;
  }
  reply.header("x-ms-error-code", wire::name(error.code));
  if (call.request.method == "HEAD") return;
  wire::XmlWriter xml;
  xml.open("m:error").attribute("xmlns:m",
                                "http://schemas.microsoft.com/ado/2007/08/dataservices/metadata");
  xml.element("m:code", wire::name(error.code));
  xml.open("m:message").attribute("xml:lang", "en-US");
  xml.text(wire::readable(error.message) + "\nRequestId:" + call.request_id +
           "\nTime:" + wire::iso_date(call.now).str());
  xml.close("m:message").close("m:error");
  reply.header("Content-Type", "application/xml");
  reply.body = xml.take();
}

Task<wire::Result<auth::Acl>> TableService::acl(Call& call) const {
  // A batch names no table in its path; the one that its token names is the one that counts.
  const std::string& name =
      call.target.container.empty() ? call.caller.container : call.target.container;
  auth::Acl acl;
  if (name.empty()) co_return acl;
  auto loaded = co_await service::load<Table>(call, table_key(call, name));
  if (!loaded) co_return loaded.error();
  if (!loaded->value) co_return acl;
  acl.policies.assign(loaded->value->policies.begin(), loaded->value->policies.end());
  co_return acl;
}

std::vector<jobs::Job> TableService::make_jobs(service::Context&) const {
  std::vector<jobs::Job> jobs;
  jobs.push_back(lifetime::clean_spaces_job("dead-tables", lifetime::kDeadTablesFamily));
  return jobs;
}

}  // namespace kyanite::table
