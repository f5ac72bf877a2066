// Set File Metadata: PUT /{share}/{path}?comp=metadata; Set Directory Metadata: the same with
// restype=directory
#include "file/entry.h"
#include "file/handlers.h"

namespace kyanite::file {

using service::Call;

namespace {

Outcome set_metadata(Call& call, Kind kind) {
  auto metadata = headers::decode_metadata(call.headers());
  if (!metadata) co_return metadata.error();
  auto edit = [&](Entry& entry, store::Commit&, const Located&) -> wire::Result<http::Reply> {
    entry.metadata = *metadata;
    entry.smb.changed = call.now;
    touch(call, entry);
    http::Reply reply(200);
    headers::encode_changed(reply, entry.changed);
    reply.header("x-ms-request-server-encrypted", "true");
    return reply;
  };
  const Rules rules{kind, concurrency::FileOperation::kSetFileMetadata,
                    concurrency::LeaseUse::kExclusive, true, kind == Kind::kDirectory};
  co_return co_await change_entry(call, rules, edit);
}

}  // namespace

Outcome set_file_metadata(Call& call) { return set_metadata(call, Kind::kFile); }
Outcome set_directory_metadata(Call& call) { return set_metadata(call, Kind::kDirectory); }

}  // namespace kyanite::file
