// Delete Container: DELETE /{container}?restype=container
//
// The record leaves the live family in one commit: the blobs are unreachable at once. Where the
// account keeps deleted containers, or their names for a while, it moves to the deleted ones; else
// its space is dead and cleaned in the background.
#include "blob/container.h"
#include "blob/handlers.h"
#include "lifetime/deleted.h"

namespace kyanite::blob {

Outcome delete_container(service::Call& call) {
  auto lease_id = headers::decode_lease_id(call);
  if (!lease_id) co_return lease_id.error();
  auto asked =
      headers::decode_conditions(call, concurrency::Operation::kUpdate, concurrency::kAcceptsDates);
  if (!asked) co_return asked.error();
  const auto key = container_key(call);
  auto turn = co_await call.context.locks.lock(key.bytes());
  service::Tries tries(call);
  while (tries.another()) {
    auto loaded = co_await service::load<Container>(call, key);
    if (!loaded) co_return loaded.error();
    if (!loaded->value) co_return wire::Error(wire::Code::kContainerNotFound);
    const auto& container = *loaded->value;
    auto use = concurrency::check_lease_use(container.lease, *lease_id,
                                            concurrency::LeaseUse::kExclusive, call.now);
    if (!use) co_return headers::lease_use_error(use.error(), headers::Leased::kContainer);
    auto met = headers::check_conditions(*asked, {.exists = true, .changed = container.changed});
    if (!met) co_return met.error();
    store::Commit commit;
    commit.guards.push_back({key, loaded->record});
    commit.writes.push_back({key, nullptr});
    lifetime::leave_remains(call, lifetime::kContainerGraves, container,
                            call.settings().container_retention_days, commit);
    auto done = co_await call.store().commit(std::move(commit));
    if (done) co_return http::Reply(202);
    if (done.error() != store::Error::kConflict) co_return service::storage_error(done.error());
  }
  co_return tries.error();
}

}  // namespace kyanite::blob
