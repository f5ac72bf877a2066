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
  struct Done {
    Container container;
    int32_t seconds;  // until a broken lease is over
  };
  auto decide = [&](std::optional<Container>& container) -> wire::Result<Done> {
    if (!container) return wire::Error(wire::Code::kContainerNotFound);
    auto met = headers::check_conditions(*asked, {.exists = true, .changed = container->changed});
    if (!met) return met.error();
    auto seconds = headers::apply_lease(*action, container->lease,
                                        concurrency::kContainerLeaseRules, call.now);
    if (!seconds) return seconds.error();
    return Done{*container, *seconds};
  };
  auto done = co_await service::update<Container>(call, container_key(call), decide);
  if (!done) co_return done.error();
  http::Reply reply = headers::leased_reply(*action, done->container.lease, done->seconds);
  encode_changed(reply, done->container.changed);
  co_return reply;
}

}  // namespace kyanite::blob
