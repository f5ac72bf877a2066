// Abort Copy Blob: PUT /{container}/{blob}?comp=copy&copyid={id} with x-ms-copy-action: abort
#include "base/bytes.h"
#include "blob/blob.h"
#include "blob/handlers.h"
#include "concurrency/guid.h"

namespace kyanite::blob {

using service::Call;
using wire::Code;

namespace {
constexpr Rules kAborts{concurrency::LeaseUse::kCopyAbort, concurrency::Operation::kUpdate,
                        concurrency::kAcceptsNone, Keep::kNothing, false};
}

Outcome abort_copy_blob(Call& call) {
  constexpr std::string_view kAction = "x-ms-copy-action";
  const auto action = call.headers().find(kAction);
  if (!action) co_return wire::missing_header(kAction);
  if (!equals_ignoring_case(*action, "abort")) co_return wire::invalid_header(kAction, *action);
  const auto text = call.query.find("copyid");
  if (!text) {
    co_return wire::Error(Code::kMissingRequiredQueryParameter)
        .with("QueryParameterName", "copyid");
  }
  const auto id = concurrency::parse_guid(*text);
  if (!id) co_return wire::invalid_query("copyid", *text);
  auto checks = decode_checks(call, kAborts);
  if (!checks) co_return checks.error();
  auto edit = [&](std::optional<Blob>& blob, store::SpaceId,
                  store::Commit&) -> wire::Result<http::Reply> {
    if (blob->copy.status != CopyStatus::kPending)
      return wire::Error(Code::kNoPendingCopyOperation);
    if (blob->copy.id != *id) return wire::Error(Code::kCopyIdMismatch);
    // Whoever fetches the bytes finds the copy no longer pending and stops.
    blob->copy.status = CopyStatus::kAborted;
    blob->copy.completed = call.now;
    touch(call, *blob);
    return http::Reply(204);
  };
  co_return co_await change_blob(call, *checks, edit);
}

}  // namespace kyanite::blob
