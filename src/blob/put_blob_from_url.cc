// Put Blob From URL: PUT /{container}/{blob} with x-ms-blob-type: BlockBlob and x-ms-copy-source
#include "base/bytes.h"
#include "blob/copy_source.h"
#include "blob/handlers.h"
#include "blob/new_blob.h"
#include "wire/crc64.h"
#include "wire/version.h"

namespace kyanite::blob {

using service::Call;
using wire::Code;

namespace {

constexpr uint64_t kMaxBytes = uint64_t{5000} * 1024 * 1024;

constexpr Rules kPuts = copy_rules(concurrency::LeaseUse::kExclusive, KeyUse::kSets);

// What the request itself says stands before what the source has.
void fill_from_source(HttpProperties& http, const HttpProperties& source) {
  const auto fill = [](std::string& value, const std::string& other) {
    if (value.empty()) value = other;
  };
  fill(http.content_type, source.content_type);
  fill(http.content_encoding, source.content_encoding);
  fill(http.content_language, source.content_language);
  fill(http.content_disposition, source.content_disposition);
  fill(http.cache_control, source.cache_control);
}

}  // namespace

Outcome put_blob_from_url(Call& call) {
  auto fresh = decode_new_blob(call, BlobType::kBlock);
  if (!fresh) co_return fresh.error();
  if (auto md5 = headers::decode_md5(call, headers::kBlobPropertyHeaders.content_md5); !md5)
    co_return md5.error();
  auto copies_tags = decode_copies_tags(call);
  if (!copies_tags) co_return copies_tags.error();
  const bool copies_properties =
      !equals_ignoring_case(call.headers().get("x-ms-copy-source-blob-properties"), "false");
  auto checks = decode_checks(call, kPuts);
  if (!checks) co_return checks.error();
  const Wanted wanted{
      .most = kMaxBytes, .md5 = Md5::kAlways, .tags = *copies_tags, .key = checks->key};
  auto taken = co_await take_upload(call, *checks, CopyFamily::kWhole, wanted);
  if (!taken) co_return taken.error();
  const Uploaded& uploaded = taken->uploaded;
  if (!fresh->http.content_md5.empty() && fresh->http.content_md5 != uploaded.md5)
    co_return wire::md5_mismatch(fresh->http.content_md5, uploaded.md5);
  if (copies_properties) fill_from_source(fresh->http, taken->http);
  fresh->http.content_md5 = uploaded.md5;
  if (fresh->metadata.empty() && copies_properties) fresh->metadata = taken->metadata;
  if (*copies_tags) fresh->tags = taken->tags;

  auto edit = [&](Change& change) -> Task<wire::Result<void>> {
    auto replaced = co_await replace_blob(call, change, BlobType::kBlock, *fresh);
    if (!replaced) co_return replaced.error();
    change.blob->content = content::put(change.commit, change.place.content(), uploaded.pieces);
    change.blob->key_sha256 = key_sha256(checks->key);
    co_return wire::Result<void>();
  };
  auto changed = co_await change_blob(call, *checks, edit);
  if (!changed) co_return changed.error();
  http::Reply reply(201);
  encode_state(reply, *changed);
  if (call.headers().has("x-ms-source-content-md5")) {
    reply.header("Content-MD5", base64(uploaded.md5));
  } else {
    reply.header("x-ms-content-crc64", wire::crc64_text(uploaded.crc64));
  }
  encode_encrypted(reply, checks->key);
  co_return reply;
}

}  // namespace kyanite::blob
