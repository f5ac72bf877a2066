// Filesystem - Create: PUT /{filesystem}?resource=filesystem
#include "blob/container.h"
#include "datalake/handlers.h"
#include "datalake/namespace_header.h"
#include "datalake/properties.h"

namespace kyanite::datalake {

Outcome create_filesystem(service::Call& call) {
  auto properties = decode_properties(call);
  if (!properties) co_return properties.error();
  if (auto none = headers::refuse_conditions(call); !none) co_return none.error();
  auto created = co_await blob::make_container(call, properties->value_or(headers::Metadata()));
  if (!created) co_return created.error();
  http::Reply reply(201);
  blob::encode_changed(reply, created->changed);
  encode_namespace(reply, *created);
  co_return reply;
}

}  // namespace kyanite::datalake
