// Delete Container: DELETE /{container}?restype=container
//
// The record moves from the live to the dead family in one commit: the name is free at once, the
// blobs are unreachable at once, and their space is cleaned in the background (blob/cleaner.h).
#include "base/bytes.h"
#include "blob/container.h"
#include "blob/handlers.h"
#include "service/directory.h"

namespace kyanite::blob {

namespace {
store::Key dead_key(const service::Call& call, store::SpaceId space) {
  std::string row;
  append_be64(row, space);
  return store::Key(service::directory_space(call.target.account), service::kDeadContainersFamily,
                    call.target.container, row);
}
}  // namespace

Outcome delete_container(service::Call& call) {
  auto lease_id = service::decode_lease_id(call);
  if (!lease_id) co_return lease_id.error();
  auto asked =
      service::decode_conditions(call, concurrency::Operation::kUpdate, concurrency::kAcceptsDates);
  if (!asked) co_return asked.error();
  const auto key = container_key(call);
  auto turn = co_await call.context.locks.lock(key.bytes());
  for (int tries = 0; tries < service::kMaxTries; ++tries) {
    auto loaded = co_await service::load<Container>(call, key);
    if (!loaded) co_return loaded.error();
    if (!loaded->value) co_return wire::Error(wire::Code::kContainerNotFound);
    const auto& container = *loaded->value;
    auto use = concurrency::check_lease_use(container.lease, *lease_id,
                                            concurrency::LeaseUse::kExclusive, call.now);
    if (!use) co_return service::lease_use_error(use.error(), service::Leased::kContainer);
    auto met = service::check_conditions(*asked, {.exists = true, .changed = container.changed});
    if (!met) co_return met.error();
    store::Commit commit;
    commit.guards.push_back({key, loaded->record});
    commit.writes.push_back({key, nullptr});
    commit.writes.push_back({dead_key(call, container.space),
                             service::to_record(DeadContainer{container.space, call.now})});
    auto done = co_await call.store().commit(std::move(commit));
    if (done) co_return http::Reply(202);
    if (done.error() != store::Error::kConflict) co_return service::storage_error(done.error());
  }
  co_return wire::Error(wire::Code::kServerBusy);
}

}  // namespace kyanite::blob
