// Restore Share: PUT /{share}?restype=share&comp=undelete
#include "concurrency/etag.h"
#include "file/handlers.h"
#include "file/share.h"
#include "headers/changed.h"
#include "lifetime/deleted.h"

namespace kyanite::file {

using wire::Code;

Outcome restore_share(service::Call& call) {
  if (auto meant = require_share(call); !meant) co_return meant.error();
  constexpr std::string_view kName = "x-ms-deleted-share-name";
  constexpr std::string_view kVersion = "x-ms-deleted-share-version";
  const auto name = call.headers().find(kName);
  if (!name) co_return wire::missing_header(kName);
  const auto version = call.headers().find(kVersion);
  if (!version) co_return wire::missing_header(kVersion);
  // A share comes back under the name it had.
  if (*name != call.target.container) co_return wire::invalid_header(kName, *name);
  auto touch = [&](Share& share) {
    return share.changed = concurrency::next_modified(call.now, share.changed);
  };
  auto changed =
      co_await lifetime::restore<Share>(call, lifetime::kShareGraves, share_key(call), *version,
                                        Code::kShareNotFound, Code::kShareAlreadyExists, touch);
  if (!changed) co_return changed.error();
  http::Reply reply(201);
  headers::encode_changed(reply, *changed);
  co_return reply;
}

}  // namespace kyanite::file
