// Filesystem - Set Properties: PATCH /{filesystem}?resource=filesystem
#include "blob/container.h"
#include "datalake/handlers.h"
#include "datalake/properties.h"

namespace kyanite::datalake {

Outcome set_filesystem_properties(service::Call& call) {
  auto properties = decode_properties(call);
  if (!properties) co_return properties.error();
  auto edit = [&](blob::Container& container) {
    container.metadata = properties->value_or(headers::Metadata());
  };
  auto changed = co_await blob::update_container(call, concurrency::kAcceptsDates, edit);
  if (!changed) co_return changed.error();
  http::Reply reply(200);
  blob::encode_changed(reply, *changed);
  co_return reply;
}

}  // namespace kyanite::datalake
