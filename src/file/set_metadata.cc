// Set File Metadata: PUT /{share}/{path}?comp=metadata; Set Directory Metadata: the same with
// restype=directory
#include "file/entry.h"
#include "file/handlers.h"
#include "headers/metadata.h"

namespace kyanite::file {

using service::Call;

namespace {

Outcome set_metadata(Call& call, Kind kind) {
  auto metadata = headers::decode_metadata(call.headers());
  if (!metadata) co_return metadata.error();
  const Edit edit = [&](Entry& entry, store::Commit&, const Located&) -> Task<wire::Result<void>> {
    entry.metadata = *metadata;
    entry.smb.changed = call.now;
    touch(entry, call.now);
    co_return wire::Result<void>();
  };
  const Rules rules{kind, concurrency::FileOperation::kSetFileMetadata,
                    concurrency::LeaseUse::kExclusive, true, kind == Kind::kDirectory};
  auto changed = co_await change_entry(call, rules, edit);
  if (!changed) co_return changed.error();
  http::Reply reply(200);
  headers::encode_changed(reply, changed->entry->changed);
  reply.header("x-ms-request-server-encrypted", "true");
  co_return reply;
}

}  // namespace

Outcome set_file_metadata(Call& call) { return set_metadata(call, Kind::kFile); }
Outcome set_directory_metadata(Call& call) { return set_metadata(call, Kind::kDirectory); }

}  // namespace kyanite::file
