#include "account/stats.h"

#include "wire/date.h"
#include "wire/xml.h"

namespace kyanite::account {

Task<wire::Result<http::Reply>> get_service_stats(service::Call& call) {
  if (!call.target.secondary) co_return wire::invalid_query("comp", "stats").with("Reason", "");
  wire::XmlWriter xml;
  xml.open("StorageServiceStats").open("GeoReplication");
  xml.element("Status", "live").element("LastSyncTime", wire::http_date(call.now));
  xml.close("GeoReplication").close("StorageServiceStats");
  http::Reply reply(200);
  reply.header("Content-Type", "application/xml");
  reply.body = xml.take();
  co_return reply;
}

}  // namespace kyanite::account
