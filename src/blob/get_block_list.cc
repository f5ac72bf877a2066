// Get Block List: GET /{container}/{blob}?comp=blocklist
#include "base/bytes.h"
#include "blob/admission.h"
#include "blob/blob.h"
#include "blob/blocks.h"
#include "blob/handlers.h"
#include "wire/xml.h"

namespace kyanite::blob {

using service::Call;
using wire::Code;

namespace {

struct Lists {
  bool committed = true;
  bool uncommitted = false;
};

wire::Result<Lists> decode_lists(const Call& call) {
  const std::string type = ascii_lower(call.query.get("blocklisttype"));
  if (type.empty() || type == "committed") return Lists{true, false};
  if (type == "uncommitted") return Lists{false, true};
  if (type == "all") return Lists{true, true};
  return wire::invalid_query("blocklisttype", call.query.get("blocklisttype"));
}

void write_block(wire::XmlWriter& xml, std::string_view id, uint64_t size) {
  xml.open("Block").element("Name", base64(id)).element("Size", size).close("Block");
}

// True when there is any.
Task<wire::Result<bool>> write_uncommitted(Call& call, const Place& place, wire::XmlWriter& xml) {
  bool any = false;
  xml.open("UncommittedBlocks");
  const store::See see = [&](const store::View::Cursor& cursor) -> store::Result<bool> {
    const auto key = store::Key::from_bytes(std::string(cursor.key()));
    if (key.row() == kBlocksMark) return true;
    auto value = cursor.value();
    if (!value) return value.error();
    const auto block = store::decode<Block>(*value);
    if (!block) return store::Error::kCorrupt;
    write_block(xml, key.row(), block->size);
    any = true;
    return true;
  };
  auto listed = co_await store::scan(call.store(), block_rows(place), see, call.deadline);
  if (!listed) co_return service::storage_error(listed.error());
  xml.close("UncommittedBlocks");
  co_return any;
}

Task<wire::Result<void>> write_committed(Call& call, const Place& place, const Blob& blob,
                                         wire::XmlWriter& xml) {
  BlockList list;
  if (blob.committed_blocks > 0) {
    auto loaded =
        co_await service::load<BlockList>(call, block_list_key(place.content(), blob.content.id));
    if (!loaded) co_return loaded.error();
    list = loaded->value.value_or(BlockList());
  }
  xml.open("CommittedBlocks");
  for (const auto& [id, size] : list.blocks) write_block(xml, id, size);
  xml.close("CommittedBlocks");
  co_return wire::Result<void>();
}

}  // namespace

Outcome get_block_list(Call& call) {
  auto lists = decode_lists(call);
  if (!lists) co_return lists.error();
  auto place = co_await find_place(call);
  if (!place) co_return place.error();
  auto found = co_await read_blob(call, concurrency::kAcceptsTags);
  // A blob that has only uncommitted blocks has no head, and no conditions or leases to be checked.
  // Snapshots and versions have none.
  const bool is_base = require_base(call).ok();
  if (!found && (!is_base || found.error().code != Code::kBlobNotFound)) co_return found.error();
  if (!found && place->way() != nullptr) {
    if (auto admitted = admit_uncommitted(call, *place->way()); !admitted)
      co_return admitted.error();
  }
  if (found && found->blob->type != BlobType::kBlock) co_return wire::Error(Code::kInvalidBlobType);

  wire::XmlWriter xml;
  xml.open("BlockList");
  if (lists->committed) {
    const Blob blob = found ? *found->blob : Blob();
    if (auto written = co_await write_committed(call, found ? found->place : *place, blob, xml);
        !written)
      co_return written.error();
  }
  bool any_uncommitted = false;
  if (lists->uncommitted || !found) {
    wire::XmlWriter unshown;
    if (is_base) {
      auto any = co_await write_uncommitted(call, *place, lists->uncommitted ? xml : unshown);
      if (!any) co_return any.error();
      any_uncommitted = *any;
    } else {
      xml.open("UncommittedBlocks").close("UncommittedBlocks");
    }
  }
  if (!found && !any_uncommitted) co_return found.error();
  xml.close("BlockList");
  http::Reply reply(200);
  if (found) {
    encode_changed(reply, found->blob->changed);
    reply.header("x-ms-blob-content-length", found->blob->content.length);
  }
  reply.header("Content-Type", "application/xml");
  reply.body = xml.take();
  co_return reply;
}

}  // namespace kyanite::blob
