// Create Container: PUT /{container}?restype=container
#include "blob/container.h"
#include "blob/customer_key.h"
#include "blob/handlers.h"
#include "blob/public_access.h"
#include "headers/conditions.h"
#include "lifetime/deleted.h"
#include "lifetime/directory.h"

namespace kyanite::blob {

Task<wire::Result<Container>> make_container(service::Call& call, headers::Metadata metadata,
                                             auth::PublicAccess access) {
  auto make = [&](std::optional<Container>& container) -> wire::Result<Container> {
    if (container) return wire::Error(wire::Code::kContainerAlreadyExists);
    container.emplace();
    container->space = lifetime::new_space();
    container->hierarchical = call.settings().hierarchical_namespace;
    container->root_owner = call.caller.object_id;
    container->created = call.now;
    container->changed = call.now;
    container->metadata = metadata;
    container->public_access = access;
    return *container;
  };
  co_return co_await lifetime::create_named<Container>(call, lifetime::kContainerGraves,
                                                       container_key(call),
                                                       wire::Code::kContainerBeingDeleted, make);
}

Outcome create_container(service::Call& call) {
  auto metadata = headers::decode_metadata(call.headers());
  if (!metadata) co_return metadata.error();
  if (auto none = refuse_encryption_scope(call, "x-ms-default-encryption-scope"); !none)
    co_return none.error();
  if (auto none = headers::refuse_conditions(call); !none) co_return none.error();
  auto access = decode_public_access(call);
  if (!access) co_return access.error();
  auto created = co_await make_container(call, std::move(*metadata), *access);
  if (!created) co_return created.error();
  http::Reply reply(201);
  encode_changed(reply, created->changed);
  co_return reply;
}

}  // namespace kyanite::blob
