// Filesystem - Get Properties: HEAD /{filesystem}?resource=filesystem
#include "blob/container.h"
#include "datalake/handlers.h"
#include "datalake/namespace_header.h"
#include "datalake/properties.h"

namespace kyanite::datalake {

Outcome get_filesystem_properties(service::Call& call) {
  auto container = co_await blob::read_container(call);
  if (!container) co_return container.error();
  http::Reply reply(200);
  blob::encode_changed(reply, container->changed);
  reply.header("x-ms-properties", encode_properties(container->metadata));
  encode_namespace(reply, *container);
  co_return reply;
}

}  // namespace kyanite::datalake
