// Lease Container: PUT /{container}?restype=container&comp=lease
#include "blob/container.h"
#include "blob/handlers.h"
#include "headers/lease.h"

namespace kyanite::blob {

Outcome lease_container(service::Call& call) {
  auto action = headers::decode_lease_action(call, concurrency::kContainerLeaseRules);
  if (!action) co_return action.error();
  auto asked =
      headers::decode_conditions(call, concurrency::Operation::kUpdate, concurrency::kAcceptsDates);
  if (!asked) co_return asked.error();
  auto decide = [&](std::optional<Container>& container) -> wire::Result<http::Reply> {
    if (!container) return wire::Error(wire::Code::kContainerNotFound);
    auto met = headers::check_conditions(*asked, {.exists = true, .changed = container->changed});
    if (!met) return met.error();
    auto reply = headers::apply_lease_action(*action, container->lease,
                                             concurrency::kContainerLeaseRules, call.now);
    if (reply) encode_changed(*reply, container->changed);
    return reply;
  };
  co_return co_await service::update<Container>(call, container_key(call), decide);
}

}  // namespace kyanite::blob
