// Path - Update (setAccessControl): PATCH /{filesystem}/{path}?action=setAccessControl
//
// It is no change of the path itself: ETag and Last-Modified stay.
#include "datalake/access.h"
#include "datalake/access_headers.h"
#include "datalake/handlers.h"
#include "datalake/path_reply.h"

namespace kyanite::datalake {

Outcome set_access_control(service::Call& call) {
  auto order = decode_access(call);
  if (!order) co_return order.error();
  if (auto has = co_await require_hierarchy(call); !has) co_return has.error();
  blob::Rules rules = blob::kChanges;
  rules.takes_directories = true;
  rules.changes_data = false;
  auto checks = blob::decode_checks(call, rules);
  if (!checks) co_return checks.error();
  auto edit = [&](blob::Change& change) -> wire::Result<void> {
    blob::Blob& blob = *change.blob;
    if (auto allowed = may_set(call, *order, blob); !allowed) return allowed.error();
    return apply_access(*order, blob.is_directory(), blob.node->access);
  };
  auto changed = co_await blob::change_blob(call, *checks, edit);
  if (!changed) co_return changed.error();
  http::Reply reply(200);
  blob::encode_changed(reply, changed->changed);
  reply.header("x-ms-namespace-enabled", "true");
  co_return reply;
}

}  // namespace kyanite::datalake
