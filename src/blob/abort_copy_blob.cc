// Abort Copy Blob: PUT /{container}/{blob}?comp=copy&copyid={id} with x-ms-copy-action: abort
#include "blob/blob.h"
#include "blob/handlers.h"
#include "transfer/abort_copy.h"

namespace kyanite::blob {

using service::Call;

namespace {
constexpr Rules kAborts{concurrency::LeaseUse::kCopyAbort, concurrency::Operation::kUpdate,
                        concurrency::kAcceptsNone, Keep::kNothing, false};
}

Outcome abort_copy_blob(Call& call) {
  const auto id = transfer::decode_abort(call);
  if (!id) co_return id.error();
  auto checks = decode_checks(call, kAborts);
  if (!checks) co_return checks.error();
  auto edit = [&](Change& change) -> wire::Result<void> {
    auto aborted = transfer::abort(call, *id, change.blob->copy);
    if (!aborted) return aborted.error();
    touch(call, *change.blob);
    return {};
  };
  auto changed = co_await change_blob(call, *checks, edit);
  if (!changed) co_return changed.error();
  co_return http::Reply(204);
}

}  // namespace kyanite::blob
