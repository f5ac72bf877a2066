// Append Block: PUT /{container}/{blob}?comp=appendblock
//
// Appenders wait in line for the blob; each adds one leaf at the end in one commit, so concurrent
// appends interleave whole blocks and none is lost.
#include "blob/append_block.h"

#include <algorithm>

#include "base/bytes.h"
#include "blob/new_blob.h"
#include "wire/version.h"

namespace kyanite::blob {

using service::Call;
using wire::Code;

uint64_t max_append_bytes(wire::Version version) {
  constexpr uint64_t kMiB = 1024 * 1024;
  return version >= wire::kLargeAppendBlocks ? 100 * kMiB : 4 * kMiB;
}

namespace {
wire::Result<std::optional<uint64_t>> decode_number(const Call& call, std::string_view header) {
  const auto text = call.headers().find(header);
  if (!text || text->empty()) return std::optional<uint64_t>();
  const auto number = parse_uint(*text);
  if (!number) return wire::invalid_header(header, *text);
  return number;
}
}  // namespace

wire::Result<concurrency::AppendConditions> decode_append_conditions(const Call& call) {
  auto position = decode_number(call, "x-ms-blob-condition-appendpos");
  if (!position) return position.error();
  auto max_size = decode_number(call, "x-ms-blob-condition-maxsize");
  if (!max_size) return max_size.error();
  return concurrency::AppendConditions{*position, *max_size};
}

wire::Error append_error(concurrency::AppendError error) {
  switch (error) {
    case concurrency::AppendError::kPositionNotMet:
      return Code::kAppendPositionConditionNotMet;
    case concurrency::AppendError::kMaxSizeNotMet:
      return Code::kMaxBlobSizeConditionNotMet;
  }
  CHECK(false);
}

Outcome append_uploaded(Call& call, const Checks& checks, const Uploaded& uploaded) {
  auto conditions = decode_append_conditions(call);
  if (!conditions) co_return conditions.error();
  auto edit = [&](Change& change) -> wire::Result<void> {
    Blob& blob = *change.blob;
    if (blob.type != BlobType::kAppend) return wire::Error(Code::kInvalidBlobType);
    if (blob.is_lake_file()) return wire::Error(Code::kBlobOperationNotSupported);
    if (blob.sealed) return wire::Error(Code::kBlobIsSealed);
    if (blob.committed_blocks >= kMaxAppendBlocks)
      return wire::Error(Code::kBlockCountExceedsLimit);
    auto allowed = concurrency::check_append(*conditions, blob.content.length, uploaded.length);
    if (!allowed) return append_error(allowed.error());
    content::append(change.commit, change.place.content(), blob.content, uploaded.pieces);
    ++blob.committed_blocks;
    touch(call, blob);
    return {};
  };
  auto changed = co_await change_blob(call, checks, edit);
  if (!changed) co_return changed.error();
  http::Reply reply(201);
  encode_changed(reply, changed->changed);
  encode_hash(reply, uploaded);
  reply.header("x-ms-blob-append-offset", changed->content.length - uploaded.length);
  reply.header("x-ms-blob-committed-block-count", changed->committed_blocks);
  encode_encrypted(reply, checks.key);
  encode_structured(reply, uploaded);
  co_return reply;
}

namespace {
// The service turns the ETag of If-Match into a time of Windows here, and those begin when blobs
// that were never committed were last modified.
bool names_impossible_time(const Checks& checks) {
  const auto& match = checks.asked.conditions.if_match;
  const Time first = Uncommitted().as_blob().changed;
  return match && std::any_of(match->tags.begin(), match->tags.end(), [&](const auto& tag) {
           return tag.etag.changed.set() && tag.etag.changed < first;
         });
}
}  // namespace

Outcome append_block(Call& call) {
  auto checks = decode_checks(call, kWrites);
  if (!checks) co_return checks.error();
  if (names_impossible_time(*checks)) co_return wire::Error(Code::kOutOfRangeInput);
  auto uploaded = co_await receive_upload(call, *checks, max_append_bytes(call.version));
  if (!uploaded) co_return uploaded.error();
  if (uploaded->length == 0) co_return wire::invalid_header("Content-Length", "0");
  co_return co_await append_uploaded(call, *checks, *uploaded);
}

Outcome append_blob_seal(Call& call) {
  auto conditions = decode_append_conditions(call);
  if (!conditions) co_return conditions.error();
  auto checks = decode_checks(call, kChanges);
  if (!checks) co_return checks.error();
  auto edit = [&](Change& change) -> wire::Result<void> {
    Blob& blob = *change.blob;
    if (blob.type != BlobType::kAppend) return wire::Error(Code::kInvalidBlobType);
    auto allowed = concurrency::check_append({conditions->position, {}}, blob.content.length, 0);
    if (!allowed) return append_error(allowed.error());
    if (!blob.sealed) {
      blob.sealed = true;
      touch(call, blob);
    }
    return {};
  };
  auto changed = co_await change_blob(call, *checks, edit);
  if (!changed) co_return changed.error();
  http::Reply reply(200);
  encode_changed(reply, changed->changed);
  reply.header("x-ms-blob-sealed", "true");
  co_return reply;
}

}  // namespace kyanite::blob
