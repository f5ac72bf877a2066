// Create File: PUT /{share}/{path} with x-ms-type: file
#include "base/bytes.h"
#include "file/create.h"
#include "file/permissions.h"
#include "file/ranges.h"
#include "headers/conditions.h"
#include "transfer/upload.h"

namespace kyanite::file {

using service::Call;
using wire::Code;

namespace {

// Writes the body, if there is one, to the beginning of the new file.
Task<wire::Result<void>> write_body(Call& call, const Tree& tree,
                                    const transfer::Uploaded& uploaded, Entry& file,
                                    TreeCommit& commit) {
  if (uploaded.length == 0) co_return wire::Result<void>();
  auto written = co_await content::overwrite(call.store(), commit.commit(), content_place(tree),
                                             file.content, 0, uploaded.length, uploaded.pieces);
  if (!written) co_return service::storage_error(written.error());
  co_return wire::Result<void>();
}

}  // namespace

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
  auto lease_id = headers::decode_lease_id(call);
  if (!lease_id) co_return lease_id.error();
  auto tree = co_await find_live_tree(call);
  if (!tree) co_return tree.error();
  auto permission = co_await settle_permission(call, tree->space(), PermissionUse::kCreate);
  if (!permission) co_return permission.error();
  auto uploaded = co_await transfer::receive_body(call, kMaxRangeWrite, transfer::Md5::kWhenSent);
  if (!uploaded) co_return uploaded.error();
  if (uploaded->length > **size)
    co_return wire::invalid_header(kFileSizeHeader, call.headers().get(kFileSizeHeader));

  auto make = [&](const Way& way, const Found* before,
                  TreeCommit& commit) -> Task<wire::Result<Creation>> {
    if (auto passed = check_replaced(call, *lease_id, before); !passed) co_return passed.error();
    Creation creation;
    Entry& file = creation.entry;
    file = new_entry(call, *order, way.name, false);
    if (before != nullptr) take_place_of(call, *before->entry, file);
    file.smb.permission_key = *permission;
    file.http = *http;
    file.content.sparse = true;
    file.content.length = **size;
    auto written = co_await write_body(call, *tree, *uploaded, file, commit);
    if (!written) co_return written.error();
    creation.reply = changed_reply(call, 201, file, way.parent());
    if (uploaded->length > 0) transfer::encode_hash(creation.reply, *uploaded);
    transfer::encode_structured(creation.reply, *uploaded);
    co_return creation;
  };
  co_return co_await create_entry(call, *tree, *path, make);
}

}  // namespace kyanite::file
