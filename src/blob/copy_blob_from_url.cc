// Copy Blob From URL: PUT /{container}/{blob} with x-ms-copy-source and x-ms-requires-sync: true
#include "base/random.h"
#include "blob/copy_pending.h"
#include "blob/copy_source.h"
#include "blob/handlers.h"
#include "blob/new_blob.h"

namespace kyanite::blob {

using service::Call;
using wire::Code;

namespace {

constexpr uint64_t kMaxBytes = 256 * 1024 * 1024;

constexpr Rules kCopiesAtOnce = copy_rules(concurrency::LeaseUse::kExclusive, KeyUse::kRefuses);

}  // namespace

Outcome copy_blob_from_url(Call& call) {
  auto fresh = decode_new_blob(call, BlobType::kBlock);
  if (!fresh) co_return fresh.error();
  auto copies_tags = decode_copies_tags(call);
  if (!copies_tags) co_return copies_tags.error();
  auto checks = decode_checks(call, kCopiesAtOnce);
  if (!checks) co_return checks.error();
  const Wanted wanted{.most = kMaxBytes, .tags = *copies_tags};
  auto taken = co_await take_upload(call, *checks, CopyFamily::kWhole, wanted);
  if (!taken) co_return taken.error();
  if (taken->type != BlobType::kBlock) co_return wire::Error(Code::kInvalidSourceBlobType);
  fresh->http = taken->http;
  if (fresh->metadata.empty()) fresh->metadata = taken->metadata;
  if (*copies_tags) fresh->tags = taken->tags;

  auto edit = [&](Change& change) -> Task<wire::Result<void>> {
    auto replaced = co_await replace_blob(call, change, BlobType::kBlock, *fresh);
    if (!replaced) co_return replaced.error();
    change.blob->content =
        content::put(change.commit, change.place.content(), taken->uploaded.pieces);
    Copy& copy = change.blob->copy;
    copy.id = random_uuid();
    copy.source = taken->url;
    copy.status = CopyStatus::kSuccess;
    copy.copied = copy.total = taken->uploaded.length;
    copy.completed = call.now;
    co_return wire::Result<void>();
  };
  auto changed = co_await change_blob(call, *checks, edit);
  if (!changed) co_return changed.error();
  http::Reply reply(202);
  encode_state(reply, *changed);
  headers::encode_copy_started(reply, changed->copy);
  encode_hash(reply, taken->uploaded);
  reply.header("x-ms-request-server-encrypted", "true");
  co_return reply;
}

}  // namespace kyanite::blob
