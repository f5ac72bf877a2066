// Reading and changing containers.
#pragma once

#include <memory>

#include "base/task.h"
#include "blob/records.h"
#include "concurrency/etag.h"
#include "concurrency/lease.h"
#include "headers/changed.h"
#include "headers/conditions.h"
#include "service/call.h"
#include "service/storage.h"
#include "wire/error.h"

namespace kyanite::blob {

using headers::encode_changed;

store::Key container_key(const service::Call& call);

// The addressed container; 404 ContainerNotFound when there is none.
Task<wire::Result<Container>> load_container(service::Call& call);
// The same, shared with the store's cache.
Task<wire::Result<std::shared_ptr<const Container>>> find_container(service::Call& call);

// Makes the addressed container; 409 where there is one, or its name is still taken.
Task<wire::Result<Container>> make_container(service::Call& call, headers::Metadata metadata,
                                             auth::PublicAccess access = auth::PublicAccess::kNone);

// The same for operations on the container itself that may carry a lease id, which must then be
// right.
Task<wire::Result<Container>> read_container(service::Call& call);

// Read, decide, commit for operations that change an existing container. Checks the lease id and
// the conditions, then runs `edit(Container&)`, which may be called again after a conflict. Returns
// when the container was changed: its ETag and Last-Modified.
template <class Edit>
Task<wire::Result<Time>> update_container(service::Call& call, concurrency::ConditionSet accepts,
                                          Edit edit) {
  auto lease_id = headers::decode_lease_id(call);
  if (!lease_id) co_return lease_id.error();
  auto asked = headers::decode_conditions(call, concurrency::Operation::kUpdate, accepts);
  if (!asked) co_return asked.error();
  auto decide = [&](std::optional<Container>& container) -> wire::Result<Time> {
    if (!container) return wire::Error(wire::Code::kContainerNotFound);
    auto use = concurrency::check_lease_use(container->lease, *lease_id,
                                            concurrency::LeaseUse::kShared, call.now);
    if (!use) return headers::lease_use_error(use.error(), headers::Leased::kContainer);
    auto met = headers::check_conditions(*asked, {.exists = true, .changed = container->changed});
    if (!met) return met.error();
    edit(*container);
    container->changed = concurrency::next_modified(call.now, container->changed);
    return container->changed;
  };
  co_return co_await service::update<Container>(call, container_key(call), decide);
}

}  // namespace kyanite::blob
