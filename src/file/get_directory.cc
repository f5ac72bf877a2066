// Get Directory Properties: GET or HEAD /{share}/{path}?restype=directory; Get Directory Metadata:
// &comp=metadata
#include "file/entry.h"
#include "file/handlers.h"

namespace kyanite::file {

using service::Call;

Outcome get_directory_properties(Call& call) {
  auto located = co_await read_directory(call);
  if (!located) co_return located.error();
  const Entry& directory = *located->found.entry;
  http::Reply reply(200);
  headers::encode_changed(reply, directory.changed);
  // There is nothing to encrypt of a root of which nothing was set.
  reply.header("x-ms-server-encrypted", located->found.record == nullptr ? "false" : "true");
  encode_smb(reply, call, directory, located->found.parent);
  headers::encode_metadata(reply, directory.metadata);
  co_return reply;
}

Outcome get_directory_metadata(Call& call) {
  auto located = co_await read_directory(call);
  if (!located) co_return located.error();
  http::Reply reply(200);
  headers::encode_changed(reply, located->found.entry->changed);
  headers::encode_metadata(reply, located->found.entry->metadata);
  co_return reply;
}

}  // namespace kyanite::file
