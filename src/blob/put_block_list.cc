// Put Block List: PUT /{container}/{blob}?comp=blocklist
#include <pugixml.hpp>

#include <algorithm>
#include <map>

#include "account/xml_error.h"
#include "base/bytes.h"
#include "blob/blob.h"
#include "blob/blocks.h"
#include "blob/handlers.h"
#include "blob/new_blob.h"
#include "service/deadline.h"
#include "transfer/body.h"
#include "wire/crc64.h"
#include "wire/version.h"

namespace kyanite::blob {

using service::Call;
using wire::Code;

namespace {

constexpr int64_t kMaxSeconds = 60;  // More than most operations have.

enum class From { kLatest, kCommitted, kUncommitted };
struct ListedBlock {
  From from = From::kLatest;
  std::string id;  // decoded
};

wire::Result<std::vector<ListedBlock>> parse_block_list(std::string_view body) {
  pugi::xml_document document;
  if (const auto parsed = document.load_buffer(body.data(), body.size()); !parsed)
    return account::invalid_xml(body, static_cast<size_t>(parsed.offset));
  const auto root = document.child("BlockList");
  if (!root) return account::invalid_xml(body, 0);
  std::vector<ListedBlock> list;
  for (const auto& node : root.children()) {
    const std::string_view tag = node.name();
    ListedBlock wanted;
    if (tag == "Committed") {
      wanted.from = From::kCommitted;
    } else if (tag == "Uncommitted") {
      wanted.from = From::kUncommitted;
    } else if (tag != "Latest") {
      return account::invalid_xml(body, static_cast<size_t>(node.offset_debug()));
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

// Where the bytes of a block are. Blocks may be many, so their pieces are decoded when they are
// needed and not before.
struct Part {
  uint64_t offset = 0;  // of a committed block, within the content
  uint64_t size = 0;
  store::RecordPtr record;  // of an uncommitted block
  std::string key_sha256;
};
using Parts = std::map<std::string, Part, std::less<>>;

// The uncommitted blocks. All of them go with the commit, guarded: one that is uploaded again
// meanwhile must not be lost.
Task<wire::Result<Parts>> take_uncommitted(Call& call, const Place& place, store::Commit& commit) {
  Parts parts;
  const store::See see = [&](const store::View::Cursor& cursor) -> store::Result<bool> {
    auto record = cursor.record();
    if (!record) return record.error();
    auto key = store::Key::from_bytes(std::string(cursor.key()));
    store::RecordPtr left;
    if (key.row() == kBlocksMark) {
      const auto mark = store::decode<BlocksMark>((*record)->value);
      if (!mark) return store::Error::kCorrupt;
      left = spent_mark(mark->id_bytes);
    } else {
      auto block = store::decode<Block>((*record)->value);
      if (!block) return store::Error::kCorrupt;
      parts.emplace(key.row(), Part{0, block->size, *record, std::move(block->key_sha256)});
    }
    commit.expect(key, *record);
    commit.put(std::move(key), std::move(left));
    return true;
  };
  auto listed = co_await store::scan(call.store(), block_rows(place), see, call.deadline);
  if (!listed) co_return service::storage_error(listed.error());
  co_return std::move(parts);
}

// The blob as it is: its committed blocks and all its pieces.
struct Committed {
  Parts parts;
  content::Pieces pieces;
};

Task<wire::Result<Committed>> load_committed(Call& call, const Change& change) {
  const Blob& blob = *change.blob;
  const content::Place place = change.place.content();
  Committed committed;
  if (blob.committed_blocks == 0) co_return committed;
  auto list = co_await service::load<BlockList>(call, block_list_key(place, blob.content.id));
  if (!list) co_return list.error();
  const store::Guard head = change.head();
  auto pieces =
      co_await content::load(call.store(), place, blob.content, 0, blob.content.length, head);
  if (!pieces) co_return service::storage_error(pieces.error());
  if (!list->value) co_return service::storage_error(store::Error::kConflict);
  committed.pieces = std::move(*pieces);
  uint64_t offset = 0;
  for (const auto& [id, size] : list->value->blocks) {
    committed.parts.emplace(id, Part{offset, size, nullptr, blob.key_sha256});
    offset += size;
  }
  co_return std::move(committed);
}

// Zeros are no pieces of what was loaded, but are of what is built.
void add_zeros(content::Builder& builder, uint64_t count) {
  while (count > 0) {
    content::Piece zeros;
    zeros.length = static_cast<uint32_t>(std::min<uint64_t>(count, UINT32_MAX));
    count -= zeros.length;
    builder.add(std::move(zeros));
  }
}

void add_committed(content::Builder& builder, const content::Pieces& pieces, const Part& part) {
  const uint64_t end = part.offset + part.size;
  auto piece = std::partition_point(pieces.begin(), pieces.end(), [&](const content::Piece& each) {
    return each.end() <= part.offset;
  });
  uint64_t at = part.offset;
  for (; piece != pieces.end() && piece->offset < end; ++piece) {
    const content::Piece inside = piece->part(part.offset, end);
    add_zeros(builder, inside.offset - at);
    at = inside.end();
    builder.add(inside);
  }
  add_zeros(builder, end - at);
}

wire::Result<void> add_uncommitted(content::Builder& builder, const Part& part) {
  const auto block = store::decode<Block>(part.record->value);
  auto pieces = block ? pieces_of(*block, *part.record) : std::nullopt;
  if (!pieces) return service::storage_error(store::Error::kCorrupt);
  for (auto& piece : *pieces) builder.add(std::move(piece));
  return {};
}

bool needs_committed(const std::vector<ListedBlock>& wanted, const Parts& uncommitted) {
  return std::any_of(wanted.begin(), wanted.end(), [&](const ListedBlock& entry) {
    return entry.from == From::kCommitted ||
           (entry.from == From::kLatest && !uncommitted.contains(entry.id));
  });
}

// Adds the wanted blocks to the content, one after the other; returns their ids and sizes.
wire::Result<BlockList> assemble(const std::vector<ListedBlock>& wanted, const Committed& committed,
                                 const Parts& uncommitted, const MaybeKey& key,
                                 content::Builder& builder) {
  BlockList list;
  list.blocks.reserve(wanted.size());
  const auto find = [&](const ListedBlock& entry) -> const Part* {
    if (entry.from != From::kCommitted) {
      if (auto found = uncommitted.find(entry.id); found != uncommitted.end())
        return &found->second;
    }
    if (entry.from == From::kUncommitted) return nullptr;
    auto found = committed.parts.find(entry.id);
    return found == committed.parts.end() ? nullptr : &found->second;
  };
  for (const auto& entry : wanted) {
    const Part* part = find(entry);
    if (part == nullptr) return wire::Error(Code::kInvalidBlockList);
    if (auto fits = check_key(part->key_sha256, key); !fits) return fits.error();
    if (part->record == nullptr) {
      add_committed(builder, committed.pieces, *part);
    } else if (auto added = add_uncommitted(builder, *part); !added) {
      return added.error();
    }
    list.blocks.emplace_back(entry.id, part->size);
  }
  return list;
}

}  // namespace

Outcome put_block_list(Call& call) {
  auto fresh = decode_new_blob(call, BlobType::kBlock);
  if (!fresh) co_return fresh.error();
  auto checks = decode_checks(call, kCreates);
  if (!checks) co_return checks.error();
  service::allow_seconds(call, kMaxSeconds);
  auto body = co_await transfer::read_body(call, transfer::kMaxXmlBody);
  if (!body) co_return body.error();
  auto wanted = parse_block_list(*body);
  if (!wanted) co_return wanted.error();

  auto edit = [&](Change& change) -> Task<wire::Result<void>> {
    if (auto allowed = check_overwrite(call, change.blob, BlobType::kBlock); !allowed)
      co_return allowed.error();
    if (change.blob && change.blob->is_lake_file())
      co_return wire::Error(Code::kBlobOperationNotSupported);
    auto uncommitted = co_await take_uncommitted(call, change.place, change.commit);
    if (!uncommitted) co_return uncommitted.error();
    Committed committed;
    if (change.blob && needs_committed(*wanted, *uncommitted)) {
      auto loaded = co_await load_committed(call, change);
      if (!loaded) co_return loaded.error();
      committed = std::move(*loaded);
    }
    content::Builder builder(change.commit, change.place.content());
    auto list = assemble(*wanted, committed, *uncommitted, checks->key, builder);
    if (!list) co_return list.error();
    Blob& blob = change.blob.emplace(make_blob(call, BlobType::kBlock, *fresh, change.blob));
    blob.content = builder.finish();
    blob.committed_blocks = list->blocks.size();
    blob.key_sha256 = key_sha256(checks->key);
    if (blob.committed_blocks > 0) {
      const auto list_key = block_list_key(change.place.content(), blob.content.id);
      change.commit.put(list_key, service::to_record(*list));
    }
    co_return wire::Result<void>();
  };
  auto changed = co_await change_blob(call, *checks, edit);
  if (!changed) co_return changed.error();
  http::Reply reply(201);
  encode_state(reply, *changed);
  // read_body() has compared what was sent.
  if (call.version >= wire::kCrc64Replies && call.headers().get("Content-MD5").empty()) {
    reply.header("x-ms-content-crc64", wire::crc64_text(wire::crc64(0, *body)));
  } else {
    if (body->digest.empty()) body->digest = co_await transfer::md5_of(call, *body);
    reply.header("Content-MD5", base64(body->digest));
  }
  encode_encrypted(reply, checks->key);
  co_return reply;
}

}  // namespace kyanite::blob
