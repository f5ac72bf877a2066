// Put Block: PUT /{container}/{blob}?comp=block&blockid={id}
//
// A block is a record of its own beside the blob's head, which it neither reads twice nor changes:
// many blocks of one blob are uploaded at the same time.
#include "blob/put_block.h"

#include <functional>

#include "base/bytes.h"
#include "blob/admission.h"
#include "blob/blob.h"
#include "blob/blocks.h"
#include "blob/handlers.h"
#include "blob/new_blob.h"
#include "transfer/upload.h"
#include "wire/version.h"

namespace kyanite::blob {

using service::Call;
using wire::Code;

wire::Result<std::string> decode_block_id(const Call& call) {
  const auto text = call.query.find("blockid");
  if (!text)
    return wire::Error(Code::kMissingRequiredQueryParameter).with("QueryParameterName", "blockid");
  auto id = unbase64(*text);
  if (!id) return wire::invalid_query("blockid", *text, "Not a valid base64 string.");
  if (id->empty() || id->size() > kMaxBlockIdBytes) return wire::invalid_query("blockid", *text);
  return *id;
}

uint64_t max_block_bytes(wire::Version version) {
  constexpr uint64_t kMiB = 1024 * 1024;
  if (version >= wire::kLargeBlocks) return 4000 * kMiB;
  if (version >= wire::kHundredMiBBlocks) return 100 * kMiB;
  return 4 * kMiB;
}

namespace {

// Blocks are staged side by side, so nobody counts them as they come: a counter would make them
// wait for each other. Instead one block in kCountEvery, chosen by its id, counts them all.
constexpr uint64_t kCountEvery = 256;

bool is_counting(std::string_view id) {
  return std::hash<std::string_view>()(id) % kCountEvery == 0;
}

Task<wire::Result<void>> check_block_count(Call& call, const Place& place) {
  uint64_t count = 0;
  const store::See see = [&](const store::View::Cursor&) -> store::Result<bool> {
    return ++count <= kMaxUncommittedBlocks;
  };
  auto counted = co_await store::scan(call.store(), block_rows(place), see, call.deadline);
  if (!counted) co_return service::storage_error(counted.error());
  // The mark is one of them.
  if (count > kMaxUncommittedBlocks) {
    co_return wire::Error(Code::kBlockCountExceedsLimit)
        .saying("A blob can have at most 100,000 uncommitted blocks.");
  }
  co_return wire::Result<void>();
}

// Whether a mark that stands for ids of another length may be replaced: not while there are such
// blocks, which is an error. False: look at it again. It is spent first, as blocks of its length
// may be staged at this moment.
Task<wire::Result<bool>> free_mark(Call& call, const Place& place,
                                   const service::Loaded<BlocksMark>& mark) {
  auto any = co_await has_blocks(call, place);
  if (!any) co_return any.error();
  if (*any) co_return wire::Error(Code::kInvalidBlobOrBlock);
  if (mark.value->spent != 0) co_return true;
  const auto key = block_key(place, kBlocksMark);
  store::Commit commit;
  commit.expect(key, mark.record);
  commit.put(key, spent_mark(mark.value->id_bytes));
  auto done = co_await call.store().commit(std::move(commit));
  if (!done && done.error() != store::Error::kConflict)
    co_return service::storage_error(done.error());
  co_return false;
}

}  // namespace

Task<wire::Result<void>> stage_block(Call& call, const Checks& checks, const std::string& id,
                                     const content::Pieces& pieces) {
  auto decide = [&](store::Attempt& attempt) -> Task<wire::Result<void>> {
    store::Commit& commit = attempt.commit;
    auto place = co_await find_place(call, Parents::kMade);
    if (!place) co_return place.error();
    const auto mark_key = block_key(*place, kBlocksMark);
    auto head = co_await service::load<Blob>(call, head_key(*place));
    if (!head) co_return head.error();
    if (head->value && !is_visible(*head->value, call.now)) head->value.reset();
    auto mark = co_await service::load<BlocksMark>(call, mark_key);
    if (!mark) co_return mark.error();
    commit.expect(head_key(*place), head->record);
    if (const Way* way = place->way(); way != nullptr) {
      auto admitted = admit(call, *way, head->value ? &*head->value : nullptr);
      if (!admitted) co_return admitted.error();
      guard(*way, true, commit);
    }
    std::optional<Uncommitted> leased;
    if (!head->value && mark->value && !mark->value->lease.id.empty()) {
      auto found = co_await find_uncommitted(call, *place, commit);
      if (!found) co_return found.error();
      leased = std::move(*found);
    }
    auto passed =
        leased ? check_uncommitted(call, checks, *leased) : check_blob(call, checks, head->value);
    if (!passed) co_return co_await refused(call, *place, head->record, passed.error());
    if (head->value && head->value->type != BlobType::kBlock)
      co_return wire::Error(Code::kInvalidBlobType);
    if (head->value && head->value->is_lake_file())
      co_return wire::Error(Code::kBlobOperationNotSupported);
    if (mark->value && mark->value->id_bytes != id.size()) {
      auto free = co_await free_mark(call, *place, *mark);
      if (!free) co_return free.error();
      if (!*free) co_return service::decide_again();
    }
    if (is_counting(id)) {
      if (auto few = co_await check_block_count(call, *place); !few) co_return few.error();
    }

    commit.expect(mark_key, mark->record);
    if (!mark->value || mark->value->spent != 0)
      commit.put(mark_key, service::to_record(BlocksMark{id.size()}));
    const Block block{call.now, content::length_of(pieces), {}, key_sha256(checks.key)};
    commit.put(block_key(*place, id), to_record(block, pieces));
    co_return wire::Result<void>();
  };
  co_return co_await store::transact(call, decide);
}

Outcome put_block(Call& call) {
  auto id = decode_block_id(call);
  if (!id) co_return id.error();
  auto checks = decode_checks(call, kStages);
  if (!checks) co_return checks.error();
  auto uploaded = co_await receive_upload(call, *checks, max_block_bytes(call.version));
  if (!uploaded) co_return uploaded.error();
  if (uploaded->length == 0) co_return wire::invalid_header("Content-Length", "0");
  if (auto staged = co_await stage_block(call, *checks, *id, uploaded->pieces); !staged)
    co_return staged.error();
  http::Reply reply(201);
  encode_hash(reply, *uploaded);
  encode_encrypted(reply, checks->key);
  encode_structured(reply, *uploaded);
  co_return reply;
}

}  // namespace kyanite::blob
