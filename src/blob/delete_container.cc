// Delete Container: DELETE /{container}?restype=container
//
// The record leaves the live family in one commit: the blobs are unreachable at once. Where the
// account keeps deleted containers, or their names for a while, it moves to the deleted ones; else
// its space is dead and cleaned in the background.
#include <tuple>

#include "blob/container.h"
#include "blob/deleted_containers.h"
#include "blob/handlers.h"
#include "service/dead_spaces.h"
#include "service/directory.h"

namespace kyanite::blob {

namespace {
// What is left of the container: something that can come back, or something to be cleaned.
store::Write remains(const service::Call& call, const Container& container) {
  const auto& settings = call.settings();
  const auto& [account, name] = std::tie(call.target.account, call.target.container);
  if (settings.container_retention_days == 0 && settings.deletion_window_s == 0) {
    return service::bury(account, service::kDeadContainersFamily, name, container.space, call.now);
  }
  DeletedContainer deleted{container, call.now, call.now,
                           after_seconds(call.now, settings.deletion_window_s)};
  deleted.removal = after_seconds(call.now, int64_t{settings.container_retention_days} * 24 * 3600);
  deleted.container.lease = {};
  return {deleted_container_key(account, name, call.now), service::to_record(deleted)};
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
    commit.writes.push_back(remains(call, container));
    auto done = co_await call.store().commit(std::move(commit));
    if (done) co_return http::Reply(202);
    if (done.error() != store::Error::kConflict) co_return service::storage_error(done.error());
  }
  co_return wire::Error(wire::Code::kServerBusy);
}

}  // namespace kyanite::blob
