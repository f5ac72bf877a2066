// Abort Copy File: PUT /{share}/{path}?comp=copy&copyid={id} with x-ms-copy-action: abort
#include "file/entry.h"
#include "file/handlers.h"
#include "transfer/abort_copy.h"

namespace kyanite::file {

using service::Call;

Outcome abort_copy_file(Call& call) {
  const auto id = transfer::decode_abort(call);
  if (!id) co_return id.error();
  auto edit = [&](Entry& file, store::Commit&, const Located&) -> wire::Result<http::Reply> {
    if (auto aborted = transfer::abort(call, *id, file.copy); !aborted) return aborted.error();
    file.content.length = 0;
    touch(call, file);
    return http::Reply(204);
  };
  const Rules rules{Kind::kFile, concurrency::FileOperation::kSetFileProperties,
                    concurrency::LeaseUse::kCopyAbort, false};
  co_return co_await change_entry(call, rules, edit);
}

}  // namespace kyanite::file
