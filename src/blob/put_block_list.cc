// Put Block List: PUT /{container}/{blob}?comp=blocklist
#include <pugixml.hpp>

#include <map>

#include "base/bytes.h"
#include "blob/blob.h"
#include "blob/blocks.h"
#include "blob/handlers.h"
#include "blob/new_blob.h"
#include "blob/tag_index.h"
#include "service/body.h"
#include "wire/crc64.h"
#include "wire/version.h"

namespace kyanite::blob {

using service::Call;
using wire::Code;

namespace {

enum class From { kLatest, kCommitted, kUncommitted };
struct Wanted {
  From from = From::kLatest;
  std::string id;  // decoded
};

wire::Result<std::vector<Wanted>> parse_block_list(std::string_view body) {
  pugi::xml_document document;
  if (!document.load_buffer(body.data(), body.size()))
    return wire::Error(Code::kInvalidXmlDocument);
  const auto root = document.child("BlockList");
  if (!root) return wire::Error(Code::kInvalidXmlDocument);
  std::vector<Wanted> list;
  for (const auto& node : root.children()) {
    const std::string_view tag = node.name();
    Wanted wanted;
    if (tag == "Committed") {
      wanted.from = From::kCommitted;
    } else if (tag == "Uncommitted") {
      wanted.from = From::kUncommitted;
    } else if (tag != "Latest") {
      return wire::Error(Code::kInvalidXmlDocument);
    }
    auto id = unbase64(trim(node.child_value()));
    if (!id || id->empty() || id->size() > kMaxBlockIdBytes)
      return wire::Error(Code::kInvalidBlockId);
    wanted.id = std::move(*id);
    list.push_back(std::move(wanted));
    if (list.size() > kMaxCommittedBlocks) return wire::Error(Code::kBlockListTooLong);
  }
  return list;
}

struct Part {
  uint64_t size = 0;
  content::Pieces pieces;
};
using Parts = std::map<std::string, Part, std::less<>>;

// The uncommitted blocks. All of them go with the commit, guarded: one that is uploaded again
// meanwhile must not be lost.
Task<wire::Result<Parts>> take_uncommitted(Call& call, store::SpaceId space,
                                           store::Commit& commit) {
  Parts parts;
  auto listed = co_await call.store().read([&](const store::View& view) -> store::Result<void> {
    auto cursor = view.scan(store::Range::rows(space, kBlocks, call.target.object));
    for (; cursor->valid(); cursor->next()) {
      auto record = cursor->record();
      if (!record) return record.error();
      auto key = store::Key::from_bytes(std::string(cursor->key()));
      if (key.row() != kBlocksMark) {
        const auto block = store::decode<Block>((*record)->value);
        auto pieces = block ? pieces_of(*block, **record) : std::nullopt;
        if (!pieces) return store::Error::kCorrupt;
        parts.emplace(key.row(), Part{block->size, std::move(*pieces)});
      }
      commit.guards.push_back({key, *record});
      commit.writes.push_back({std::move(key), nullptr});
    }
    return cursor->status();
  });
  if (!listed) co_return service::storage_error(listed.error());
  co_return std::move(parts);
}

// The committed blocks of the blob as it is.
Task<wire::Result<Parts>> load_committed(Call& call, store::SpaceId space, const Blob& blob,
                                         const store::Guard& head) {
  Parts parts;
  if (blob.committed_blocks == 0) co_return parts;
  auto list = co_await service::load<BlockList>(
      call, block_list_key(space, call.target.object, blob.content.id));
  if (!list) co_return list.error();
  const content::Place place{space, call.target.object};
  auto pieces =
      co_await content::load(call.store(), place, blob.content, 0, blob.content.length, head);
  if (!pieces) co_return service::storage_error(pieces.error());
  if (!list->value) co_return service::storage_error(store::Error::kConflict);
  uint64_t offset = 0;
  size_t next = 0;
  for (const auto& [id, size] : list->value->blocks) {
    Part part{size, {}};
    while (next < pieces->size() && (*pieces)[next].end() <= offset) ++next;
    for (size_t i = next; i < pieces->size() && (*pieces)[i].offset < offset + size; ++i) {
      auto piece = (*pieces)[i].part(offset, offset + size);
      piece.offset -= offset;
      part.pieces.push_back(std::move(piece));
    }
    offset += size;
    parts.emplace(id, std::move(part));
  }
  co_return std::move(parts);
}

struct Assembled {
  content::Pieces pieces;
  BlockList list;
};

wire::Result<Assembled> assemble(const std::vector<Wanted>& wanted, const Parts& committed,
                                 const Parts& uncommitted) {
  Assembled assembled;
  uint64_t offset = 0;
  for (const auto& entry : wanted) {
    const Part* part = nullptr;
    if (entry.from != From::kCommitted) {
      if (auto found = uncommitted.find(entry.id); found != uncommitted.end())
        part = &found->second;
    }
    if (part == nullptr && entry.from != From::kUncommitted) {
      if (auto found = committed.find(entry.id); found != committed.end()) part = &found->second;
    }
    if (part == nullptr) return wire::Error(Code::kInvalidBlockList);
    for (auto piece : part->pieces) {
      piece.offset += offset;
      assembled.pieces.push_back(std::move(piece));
    }
    offset += part->size;
    assembled.list.blocks.emplace_back(entry.id, part->size);
  }
  return assembled;
}

}  // namespace

Outcome put_block_list(Call& call) {
  auto fresh = decode_new_blob(call, BlobType::kBlock);
  if (!fresh) co_return fresh.error();
  auto checks = decode_checks(call, kCreates);
  if (!checks) co_return checks.error();
  auto body = co_await service::read_body(call, service::kMaxXmlBody);
  if (!body) co_return body.error();
  auto wanted = parse_block_list(*body);
  if (!wanted) co_return wanted.error();

  if (auto indexed = co_await index_tags(call, fresh->tags); !indexed) co_return indexed.error();
  auto edit = [&](std::optional<Blob>& blob, store::SpaceId space,
                  store::Commit& commit) -> Outcome {
    if (auto allowed = check_overwrite(call, blob); !allowed) co_return allowed.error();
    if (blob && blob->type != BlobType::kBlock) co_return wire::Error(Code::kInvalidBlobType);
    Parts committed;
    if (blob) {
      const store::Guard head = commit.guards.front();
      auto loaded = co_await load_committed(call, space, *blob, head);
      if (!loaded) co_return loaded.error();
      committed = std::move(*loaded);
    }
    auto uncommitted = co_await take_uncommitted(call, space, commit);
    if (!uncommitted) co_return uncommitted.error();
    auto assembled = assemble(*wanted, committed, *uncommitted);
    if (!assembled) co_return assembled.error();
    blob = make_blob(call, BlobType::kBlock, *fresh, blob);
    const content::Place place{space, call.target.object};
    blob->content = content::put(commit, place, assembled->pieces);
    blob->committed_blocks = assembled->list.blocks.size();
    if (blob->committed_blocks > 0) {
      commit.writes.push_back({block_list_key(space, call.target.object, blob->content.id),
                               service::to_record(assembled->list)});
    }
    http::Reply reply(201);
    encode_state(reply, *blob);
    if (call.version >= wire::kCrc64Replies) {
      reply.header("x-ms-content-crc64", wire::crc64_text(wire::crc64(0, *body)));
    } else {
      reply.header("Content-MD5", base64(service::md5(*body)));
    }
    reply.header("x-ms-request-server-encrypted", "true");
    co_return reply;
  };
  co_return co_await change_blob(call, *checks, edit);
}

}  // namespace kyanite::blob
