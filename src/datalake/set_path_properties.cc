// Path - Update (setProperties): PATCH /{filesystem}/{path}?action=setProperties
#include "datalake/flat_tree.h"
#include "datalake/handlers.h"
#include "datalake/path_reply.h"
#include "datalake/properties.h"

namespace kyanite::datalake {

Outcome set_path_properties(service::Call& call) {
  // Those of a root are those of its file system.
  if (call.target.object.empty()) co_return wire::Error(wire::Code::kInvalidUri);
  auto properties = decode_properties(call);
  if (!properties) co_return properties.error();
  auto http = headers::decode_http_properties(call, headers::kFilePropertyHeaders);
  if (!http) co_return http.error();
  blob::Rules rules = blob::kChanges;
  rules.takes_directories = true;
  rules.keep = blob::Keep::kVersion;
  auto checks = blob::decode_checks(call, rules);
  if (!checks) co_return checks.error();
  auto edit = [&](blob::Change& change) -> wire::Result<void> {
    blob::Blob& blob = *change.blob;
    const bool is_marked = !blob.node && blob::is_folder(blob);
    blob.metadata = properties->value_or(headers::Metadata());
    if (is_marked) blob.metadata = marked(std::move(blob.metadata));
    blob.http = *http;
    if (blob.http.content_type.empty()) blob.http.content_type = "application/octet-stream";
    blob::touch_new_version(call, blob);
    return {};
  };
  auto changed = co_await blob::change_blob(call, *checks, edit);
  if (!changed) co_return changed.error();
  http::Reply reply(200);
  blob::encode_changed(reply, changed->changed);
  co_return reply;
}

}  // namespace kyanite::datalake
