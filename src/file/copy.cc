#include "file/copy.h"

#include "base/random.h"
#include "headers/changed.h"
#include "headers/copy_state.h"

namespace kyanite::file {

using service::Call;

wire::Result<CopyOrder> decode_copy_order(const Call& call) {
  CopyOrder order;
  auto creation = decode_creation(call);
  if (!creation) return creation.error();
  order.creation = std::move(*creation);
  auto replacement = decode_replacement(call);
  if (!replacement) return replacement.error();
  order.replacement = std::move(*replacement);
  auto ignore = decode_flag(call, "x-ms-file-copy-ignore-readonly");
  if (!ignore) return ignore.error();
  order.replacement.ignores_read_only = *ignore;
  if (call.headers().has("x-ms-file-copy-set-archive")) {
    auto archive = decode_flag(call, "x-ms-file-copy-set-archive");
    if (!archive) return archive.error();
    order.archive = *archive;
  }
  return order;
}

void begin_copy(const Call& call, const CopyOrder& order, Entry& copy) {
  apply_creation(call, order.creation, copy);
  if (order.archive && !*order.archive) copy.smb.attributes &= ~tree::kArchiveAttribute;
  copy.copy.id = random_uuid();
}

void mark_for_archive(const CopyOrder& order, Entry& copy) {
  if (order.archive.value_or(false)) copy.smb.attributes |= tree::kArchiveAttribute;
}

http::Reply copy_reply(const Entry& copy) {
  http::Reply reply(202);
  headers::encode_changed(reply, copy.changed);
  headers::encode_copy_started(reply, copy.copy);
  return reply;
}

}  // namespace kyanite::file
