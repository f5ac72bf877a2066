// Put Blob: PUT /{container}/{blob} with x-ms-blob-type: BlockBlob
#include "base/bytes.h"
#include "blob/blob.h"
#include "blob/handlers.h"
#include "blob/new_blob.h"
#include "transfer/upload.h"
#include "wire/crc64.h"
#include "wire/version.h"

namespace kyanite::blob {

using service::Call;
using wire::Code;

namespace {

constexpr uint64_t kMiB = 1024 * 1024;

uint64_t max_blob_bytes(wire::Version version) {
  if (version >= wire::kLargeBlocks) return 5000 * kMiB;
  if (version >= wire::kHundredMiBBlocks) return 256 * kMiB;
  return 64 * kMiB;
}

}  // namespace

Outcome put_blob(Call& call) {
  auto fresh = decode_new_blob(call, BlobType::kBlock);
  if (!fresh) co_return fresh.error();
  // What is compared with the body has to be a digest, unlike what is only kept.
  if (auto md5 = headers::decode_md5(call, headers::kBlobPropertyHeaders.content_md5); !md5)
    co_return md5.error();
  if (auto filled = fill_from_standard_headers(call, fresh->http); !filled)
    co_return filled.error();
  Rules rules = kCreates;
  rules.needs_online = false;  // What is in the archive can be replaced as a whole.
  auto checks = decode_checks(call, rules);
  if (!checks) co_return checks.error();
  auto uploaded =
      co_await receive_upload(call, *checks, max_blob_bytes(call.version), Md5::kAlways);
  if (!uploaded) co_return uploaded.error();
  if (!fresh->http.content_md5.empty() && fresh->http.content_md5 != uploaded->md5) {
    co_return wire::md5_mismatch(fresh->http.content_md5, uploaded->md5);
  }
  fresh->http.content_md5 = uploaded->md5;

  auto edit = [&](Change& change) -> Task<wire::Result<void>> {
    auto replaced = co_await replace_blob(call, change, BlobType::kBlock, *fresh);
    if (!replaced) co_return replaced.error();
    change.blob->content = content::put(change.commit, change.place.content(), uploaded->pieces);
    change.blob->key_sha256 = key_sha256(checks->key);
    co_return wire::Result<void>();
  };
  auto changed = co_await change_blob(call, *checks, edit);
  if (!changed) co_return changed.error();
  http::Reply reply(201);
  encode_state(reply, *changed);
  reply.header("Content-MD5", base64(uploaded->md5));
  if (call.version >= wire::kCrc64Replies)
    reply.header("x-ms-content-crc64", wire::crc64_text(uploaded->crc64));
  encode_encrypted(reply, checks->key);
  encode_structured(reply, *uploaded);
  co_return reply;
}

}  // namespace kyanite::blob
