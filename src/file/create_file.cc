// Create File: PUT /{share}/{path} with x-ms-type: file
#include "base/bytes.h"
#include "file/create.h"
#include "file/permissions.h"
#include "file/ranges.h"
#include "headers/conditions.h"
#include "headers/http_properties.h"
#include "transfer/upload.h"

namespace kyanite::file {

using service::Call;
using wire::Code;

Outcome create_file(Call& call) {
  auto path = decode_path(call);
  if (!path) co_return path.error();
  auto size = decode_file_size(call);
  if (!size) co_return size.error();
  if (!*size) co_return wire::missing_header(kFileSizeHeader);
  auto order = decode_creation(call);
  if (!order) co_return order.error();
  auto http = headers::decode_http_properties(call, headers::kFilePropertyHeaders);
  if (!http) co_return http.error();
  if (http->content_type.empty()) http->content_type = kDefaultContentType;
  auto creation = decode_replacement(call);
  if (!creation) co_return creation.error();
  auto tree = co_await find_live_tree(call);
  if (!tree) co_return tree.error();
  auto permission = co_await settle_permission(call, tree->space, PermissionUse::kCreate);
  if (!permission) co_return permission.error();
  auto uploaded = co_await transfer::receive_body(call, kMaxRangeWrite, transfer::Md5::kWhenSent);
  if (!uploaded) co_return uploaded.error();
  if (uploaded->length > **size)
    co_return wire::invalid_header(kFileSizeHeader, call.headers().get(kFileSizeHeader));

  const Fill fill = [&](Entry& file, const Way&,
                        store::Commit& commit) -> Task<wire::Result<void>> {
    apply_creation(call, *order, file);
    file.smb.permission_key = *permission;
    file.http = *http;
    file.content.sparse = true;
    file.content.length = **size;
    if (uploaded->length == 0) co_return wire::Result<void>();
    auto written = co_await content::overwrite(call.store(), commit, tree->content_place(),
                                               file.content, 0, uploaded->length, uploaded->pieces);
    if (!written) co_return service::storage_error(written.error());
    co_return wire::Result<void>();
  };
  auto created = co_await create_entry(call, *tree, *path, *creation, fill);
  if (!created) co_return created.error();
  http::Reply reply = changed_reply(call, 201, *created);
  if (uploaded->length > 0) transfer::encode_hash(reply, *uploaded);
  transfer::encode_structured(reply, *uploaded);
  co_return reply;
}

}  // namespace kyanite::file
