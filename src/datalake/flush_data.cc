// Path - Update (flush): PATCH /{filesystem}/{path}?action=flush&position=...
#include "datalake/drafts.h"
#include "datalake/handlers.h"

namespace kyanite::datalake {

using service::Call;
using wire::Code;

Outcome flush_data(Call& call) {
  auto position = decode_position(call);
  if (!position) co_return position.error();
  auto retain = decode_flag(call, "retainUncommittedData");
  if (!retain) co_return retain.error();
  if (auto close = decode_flag(call, "close"); !close) co_return close.error();
  auto http = headers::decode_http_properties(call, headers::kFilePropertyHeaders);
  if (!http) co_return http.error();
  auto lease = decode_lease_order(call);
  if (!lease) co_return lease.error();
  auto checks = blob::decode_checks(call, kWritesFile);
  if (!checks) co_return checks.error();
  ease_lease_check(*lease, *checks);
  auto edit = [&](blob::Change& change) -> Task<wire::Result<void>> {
    if (auto writable = check_writable(*change.blob, Code::kInvalidFlushOperation); !writable)
      co_return writable.error();
    if (auto leased = begin_lease_order(*lease, call.now, *change.blob); !leased)
      co_return leased.error();
    auto flushed = co_await flush(call, change, *position, *retain, {});
    if (!flushed) co_return flushed.error();
    // As recorded, those that are not named go, as by Put Block List.
    replace_properties(*http, *change.blob);
    co_return end_lease_order(*lease, call.now, *change.blob);
  };
  auto changed = co_await blob::change_blob(call, *checks, edit);
  if (!changed) co_return changed.error();
  http::Reply reply(200);
  blob::encode_changed(reply, changed->changed);
  if (checks->key) {
    blob::encode_encrypted(reply, checks->key);
  } else {
    reply.header("x-ms-request-server-encrypted", "false");  // There was nothing to encrypt.
  }
  encode_lease_order(reply, *lease);
  co_return reply;
}

}  // namespace kyanite::datalake
