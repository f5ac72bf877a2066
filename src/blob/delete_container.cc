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
  auto decide = [&](store::Attempt& attempt) -> Task<wire::Result<void>> {
    auto loaded = co_await service::load<Container>(call, key);
    if (!loaded) co_return loaded.error();
    if (!loaded->value) co_return wire::Error(wire::Code::kContainerNotFound);
    const auto& container = *loaded->value;
    auto use = concurrency::check_lease_use(container.lease, *lease_id,
                                            concurrency::LeaseUse::kExclusive, call.now);
    if (!use) co_return headers::lease_use_error(use.error(), headers::Leased::kContainer);
    auto met = headers::check_conditions(*asked, {.exists = true, .changed = container.changed});
    if (!met) co_return met.error();
    store::Commit& commit = attempt.commit;
    commit.expect(key, loaded->record);
    commit.remove(key);
    lifetime::leave_remains(call, lifetime::kContainerGraves, container,
                            call.settings().container_retention_days, commit);
    co_return wire::Result<void>();
  };
  if (auto deleted = co_await store::transact(call, key, decide); !deleted)
    co_return deleted.error();
  co_return http::Reply(202);
}

}  // namespace kyanite::blob
