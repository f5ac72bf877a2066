// Get Share Properties and Get Share Metadata: GET or HEAD /{share}?restype=share[&comp=metadata],
// of a share or of a snapshot.
#include "file/handlers.h"
#include "file/share.h"
#include "file/share_properties.h"
#include "headers/changed.h"
#include "service/operation.h"

namespace kyanite::file {

Outcome get_share_properties(service::Call& call) {
  const bool only_metadata = call.operation->comp == "metadata";
  http::Reply reply(200);
  if (call.target.snapshot.empty()) {
    auto share = co_await read_share(call);
    if (!share) co_return share.error();
    headers::encode_changed(reply, (*share)->changed);
    headers::encode_metadata(reply, (*share)->properties.metadata);
    if (!only_metadata) encode_share_properties(reply, call, **share);
    co_return reply;
  }
  auto snapshot = co_await read_snapshot(call);
  if (!snapshot) co_return snapshot.error();
  headers::encode_changed(reply, snapshot->changed);
  headers::encode_metadata(reply, snapshot->properties.metadata);
  if (!only_metadata) encode_snapshot_properties(reply, call, *snapshot);
  co_return reply;
}

}  // namespace kyanite::file
