// Put Blob: PUT /{container}/{blob} with x-ms-blob-type: BlockBlob
#include "auth/authorize.h"
#include "base/bytes.h"
#include "blob/blob.h"
#include "blob/handlers.h"
#include "blob/upload.h"
#include "concurrency/etag.h"
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

// Properties come from x-ms-blob-* headers; the standard headers stand in for those that are
// absent.
wire::Result<HttpProperties> decode_new_properties(const Call& call) {
  auto properties = decode_http_properties(call);
  if (!properties) return properties.error();
  const auto fill = [&](std::string& value, std::string_view header) {
    if (value.empty()) value = call.headers().get(header);
  };
  fill(properties->content_type, "Content-Type");
  fill(properties->content_encoding, "Content-Encoding");
  fill(properties->content_language, "Content-Language");
  fill(properties->cache_control, "Cache-Control");
  if (properties->content_type.empty()) properties->content_type = "application/octet-stream";
  return properties;
}

// Refuses early what the commit would refuse anyway, before gigabytes are sent for nothing.
Task<wire::Result<void>> check_before_body(Call& call, const Checks& checks) {
  auto container = co_await load_container(call);
  if (!container) co_return container.error();
  auto loaded = co_await service::load<Blob>(call, head_key(call, container->space));
  if (!loaded) co_return loaded.error();
  co_return check_blob(call, checks, loaded->value);
}

}  // namespace

Outcome put_blob(Call& call) {
  auto metadata = service::decode_metadata(call.headers());
  if (!metadata) co_return metadata.error();
  auto properties = decode_new_properties(call);
  if (!properties) co_return properties.error();
  auto checks = decode_checks(call, kCreates);
  if (!checks) co_return checks.error();
  if (auto early = co_await check_before_body(call, *checks); !early) co_return early.error();

  auto uploaded = co_await receive_body(call, max_blob_bytes(call.version));
  if (!uploaded) co_return uploaded.error();
  if (!properties->content_md5.empty() && properties->content_md5 != uploaded->md5) {
    co_return wire::Error(Code::kMd5Mismatch);
  }
  properties->content_md5 = uploaded->md5;

  auto edit = [&](std::optional<Blob>& blob, store::SpaceId space,
                  store::Commit& commit) -> wire::Result<http::Reply> {
    if (blob && !auth::may_overwrite(call.caller))
      return wire::Error(Code::kUnauthorizedBlobOverwrite);
    Blob fresh;
    fresh.created = call.now;
    fresh.changed = concurrency::next_modified(call.now, blob ? blob->changed : Time());
    if (blob) fresh.lease = blob->lease;
    concurrency::on_write(fresh.lease, call.now);
    fresh.http = *properties;
    fresh.metadata = *metadata;
    fresh.content = content::put(commit, space, call.target.object, uploaded->pieces);
    blob = std::move(fresh);
    http::Reply reply(201);
    encode_changed(reply, blob->changed);
    reply.header("Content-MD5", base64(uploaded->md5));
    if (call.version >= wire::kCrc64Replies)
      reply.header("x-ms-content-crc64", wire::crc64_text(uploaded->crc64));
    reply.header("x-ms-request-server-encrypted", "true");
    return reply;
  };
  co_return co_await change_blob(call, *checks, edit);
}

}  // namespace kyanite::blob
