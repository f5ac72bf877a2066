// Create Share: PUT /{share}?restype=share
#include <utility>

#include "file/handlers.h"
#include "file/service.h"
#include "file/share.h"
#include "file/share_properties.h"
#include "headers/changed.h"
#include "lifetime/deleted.h"

namespace kyanite::file {

Outcome create_share(service::Call& call) {
  if (auto meant = require_share(call); !meant) co_return meant.error();
  auto properties = decode_new_share(call);
  if (!properties) co_return properties.error();
  store::SpaceId space = 0;
  auto make = [&](std::optional<Share>& share) -> wire::Result<Time> {
    if (share) return wire::Error(wire::Code::kShareAlreadyExists);
    share.emplace();
    usage(call).forget(std::exchange(space, lifetime::new_space()));
    share->space = space;
    // Before anybody can have something in it.
    usage(call).begin(space);
    share->created = call.now;
    share->changed = call.now;
    share->properties = *properties;
    return share->changed;
  };
  auto changed = co_await lifetime::create_named<Share>(
      call, lifetime::kShareGraves, share_key(call), wire::Code::kShareBeingDeleted, make);
  if (!changed) {
    usage(call).forget(space);
    co_return changed.error();
  }
  http::Reply reply(201);
  headers::encode_changed(reply, *changed);
  co_return reply;
}

}  // namespace kyanite::file
