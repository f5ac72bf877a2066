// Abort Copy File: PUT /{share}/{path}?comp=copy&copyid={id} with x-ms-copy-action: abort
#include "file/entry.h"
#include "file/handlers.h"
#include "transfer/abort_copy.h"

namespace kyanite::file {

using service::Call;

Outcome abort_copy_file(Call& call) {
  const auto id = transfer::decode_abort(call);
  if (!id) co_return id.error();
  const Edit edit = [&](Entry& file, store::Commit&, const Located&) -> Task<wire::Result<void>> {
    if (auto aborted = transfer::abort(call, *id, file.copy); !aborted) co_return aborted.error();
    file.content.length = 0;
    touch(file, call.now);
    co_return wire::Result<void>();
  };
  const Rules rules{Kind::kFile, concurrency::FileOperation::kSetFileProperties,
                    concurrency::LeaseUse::kCopyAbort, false};
  auto changed = co_await change_entry(call, rules, edit);
  if (!changed) co_return changed.error();
  co_return http::Reply(204);
}

}  // namespace kyanite::file
