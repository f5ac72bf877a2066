#include "file/copy.h"

#include "base/random.h"
#include "file/permissions.h"
#include "file/ranges.h"
#include "headers/conditions.h"

namespace kyanite::file {

using service::Call;

wire::Result<CopyOrder> decode_copy_order(const Call& call) {
  CopyOrder order;
  auto creation = decode_creation(call);
  if (!creation) return creation.error();
  order.creation = std::move(*creation);
  auto lease_id = headers::decode_lease_id(call);
  if (!lease_id) return lease_id.error();
  order.lease_id = std::move(*lease_id);
  auto ignore = decode_flag(call, "x-ms-file-copy-ignore-readonly");
  if (!ignore) return ignore.error();
  order.ignore_read_only = *ignore;
  if (call.headers().has("x-ms-file-copy-set-archive")) {
    auto archive = decode_flag(call, "x-ms-file-copy-set-archive");
    if (!archive) return archive.error();
    order.archive = *archive;
  }
  return order;
}

wire::Result<Creation> make_copy(const Call& call, const CopyOrder& order, const Way& way,
                                 const Found* before) {
  auto passed = check_replaced(call, order.lease_id, before, order.ignore_read_only);
  if (!passed) return passed.error();
  Creation creation;
  Entry& copy = creation.entry;
  copy = new_entry(call, order.creation, way.name, false);
  if (before != nullptr) take_place_of(call, *before->entry, copy);
  if (order.archive && !*order.archive) copy.smb.attributes &= ~kArchiveAttribute;
  copy.copy.id = random_uuid();
  return creation;
}

http::Reply copy_reply(const Entry& copy) {
  http::Reply reply(202);
  headers::encode_changed(reply, copy.changed);
  headers::encode_copy_started(reply, copy.copy);
  return reply;
}

}  // namespace kyanite::file
