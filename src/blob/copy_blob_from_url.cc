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

constexpr Rules kCopies = copy_rules(concurrency::LeaseUse::kExclusive, KeyUse::kRefuses);

}  // namespace

Outcome copy_blob_from_url(Call& call) {
  auto fresh = decode_new_blob(call, BlobType::kBlock);
  if (!fresh) co_return fresh.error();
  auto copies_tags = decode_copies_tags(call);
  if (!copies_tags) co_return copies_tags.error();
  auto checks = decode_checks(call, kCopies);
  if (!checks) co_return checks.error();
  auto destination = co_await check_destination(call, *checks);
  if (!destination) co_return destination.error();
  const Wanted wanted{.most = kMaxBytes, .tags = *copies_tags};
  auto taken = co_await take_source(call, CopyFamily::kWhole, wanted);
  if (!taken) co_return taken.error();
  if (destination->postponed) co_return *destination->postponed;
  if (taken->type != BlobType::kBlock) co_return wire::Error(Code::kInvalidSourceBlobType);
  fresh->http = taken->http;
  if (fresh->metadata.empty()) fresh->metadata = taken->metadata;
  if (*copies_tags) fresh->tags = taken->tags;

  auto edit = [&](std::optional<Blob>& blob, store::SpaceId space,
                  store::Commit& commit) -> Outcome {
    if (auto allowed = check_overwrite(call, blob, BlobType::kBlock); !allowed)
      co_return allowed.error();
    if (auto dropped = co_await drop_blocks(call, space, commit); !dropped)
      co_return dropped.error();
    blob = make_blob(call, BlobType::kBlock, *fresh, blob);
    blob->content = content::put(commit, {space, call.target.object}, taken->uploaded.pieces);
    blob->copy.id = random_uuid();
    blob->copy.source = taken->url;
    blob->copy.status = CopyStatus::kSuccess;
    blob->copy.copied = blob->copy.total = taken->uploaded.length;
    blob->copy.completed = call.now;
    http::Reply reply(202);
    encode_state(reply, *blob);
    encode_copy_started(reply, blob->copy);
    encode_hash(reply, taken->uploaded);
    reply.header("x-ms-request-server-encrypted", "true");
    co_return reply;
  };
  co_return co_await change_blob(call, *checks, edit);
}

}  // namespace kyanite::blob
