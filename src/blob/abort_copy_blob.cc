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
  auto edit = [&](std::optional<Blob>& blob, store::SpaceId,
                  store::Commit&) -> wire::Result<http::Reply> {
    if (auto aborted = transfer::abort(call, *id, blob->copy); !aborted) return aborted.error();
    touch(call, *blob);
    return http::Reply(204);
  };
  co_return co_await change_blob(call, *checks, edit);
}

}  // namespace kyanite::blob
