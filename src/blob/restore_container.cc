// Restore Container: PUT /{container}?restype=container&comp=undelete
#include "blob/container.h"
#include "blob/deleted_containers.h"
#include "blob/handlers.h"
#include "blob/names.h"

namespace kyanite::blob {

using service::Call;
using wire::Code;

Outcome restore_container(Call& call) {
  if (auto none = service::refuse_conditions(call); !none) co_return none.error();
  constexpr std::string_view kName = "x-ms-deleted-container-name";
  constexpr std::string_view kVersion = "x-ms-deleted-container-version";
  const auto name = call.headers().find(kName);
  if (!name) co_return wire::missing_header(kName);
  const auto version = call.headers().find(kVersion);
  if (!version) co_return wire::missing_header(kVersion);
  // A container comes back under the name it had.
  if (*name != call.target.container) co_return wire::invalid_header(kName, *name);
  const auto key = container_key(call);
  auto turn = co_await call.context.locks.lock(key.bytes());
  for (int tries = 0; tries < service::kMaxTries; ++tries) {
    auto current = co_await service::load<Container>(call, key);
    if (!current) co_return current.error();
    if (current->value) co_return wire::Error(Code::kContainerAlreadyExists);
    auto deletions = co_await list_deletions(call.store(), call.target.account, *name);
    if (!deletions) co_return service::storage_error(deletions.error());
    const DeletedEntry* chosen = nullptr;
    for (const auto& entry : *deletions) {
      if (deletion_version(entry.value) == *version && call.now < entry.value.removal)
        chosen = &entry;
    }
    if (chosen == nullptr) co_return wire::Error(Code::kContainerNotFound);
    store::Commit commit;
    commit.guards.push_back({key, nullptr});
    commit.guards.push_back({chosen->key, chosen->record});
    commit.writes.push_back({key, service::to_record(chosen->value.container)});
    commit.writes.push_back({chosen->key, nullptr});
    auto done = co_await call.store().commit(std::move(commit));
    if (done) co_return http::Reply(201);
    if (done.error() != store::Error::kConflict) co_return service::storage_error(done.error());
  }
  co_return wire::Error(Code::kServerBusy);
}

}  // namespace kyanite::blob
