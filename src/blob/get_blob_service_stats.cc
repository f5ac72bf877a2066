// Get Blob Service Stats: GET /?restype=service&comp=stats, on the secondary endpoint
//
// Primary and secondary are the same server, so the secondary is always up to date.
#include "blob/handlers.h"
#include "wire/date.h"
#include "wire/xml.h"

namespace kyanite::blob {

Outcome get_blob_service_stats(service::Call& call) {
  if (!call.target.secondary) co_return wire::invalid_query("comp", "stats");
  wire::XmlWriter xml;
  xml.open("StorageServiceStats").open("GeoReplication");
  xml.element("Status", "live").element("LastSyncTime", wire::http_date(call.now));
  xml.close("GeoReplication").close("StorageServiceStats");
  http::Reply reply(200);
  reply.header("Content-Type", "application/xml");
  reply.body = xml.take();
  co_return reply;
}

}  // namespace kyanite::blob
