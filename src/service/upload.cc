#include "service/upload.h"

#include <optional>

#include "base/bytes.h"
#include "base/started.h"
#include "service/body.h"
#include "service/hashes.h"
#include "service/storage.h"
#include "wire/crc64.h"
#include "wire/version.h"

namespace kyanite::service {

using wire::Code;

namespace {

using Stored = store::Result<void>;

Task<Stored> take(Call& call, Hashes& hashes, content::Writer& writer, Buffer chunk) {
  co_await hashes.update(call.context.workers, chunk.view());
  co_return co_await writer.add(std::move(chunk));
}

}  // namespace

Task<wire::Result<Uploaded>> receive_body(Call& call, uint64_t most, Md5 md5) {
  auto claims = decode_claims(call, kBodyClaims);
  if (!claims) co_return claims.error();
  auto& body = *call.request.body;
  if (body.length() && *body.length() > most) co_return wire::Error(Code::kRequestBodyTooLarge);

  Hashes hashes(md5 == Md5::kAlways || !claims->md5.empty() || call.version < wire::kCrc64Replies);
  content::Writer writer(call.store());
  Uploaded uploaded;
  std::optional<wire::Error> failed;
  // While one chunk is hashed and written the next is received.
  std::optional<Started<Stored>> writing;
  while (!failed) {
    auto chunk = co_await body.next();
    if (writing) {
      Stored stored = co_await writing->join();
      writing.reset();
      if (!stored) failed = storage_error(stored.error());
    }
    if (!chunk) failed = body_error(chunk.error());
    if (failed || chunk->empty()) break;
    uploaded.length += chunk->size();
    if (uploaded.length > most) {
      failed = wire::Error(Code::kRequestBodyTooLarge);
      break;
    }
    writing.emplace(take(call, hashes, writer, std::move(*chunk)));
  }
  if (failed) co_return *failed;

  uploaded.md5 = hashes.md5();
  uploaded.crc64 = hashes.crc64();
  if (auto true_claims = check_claims(*claims, uploaded.md5, uploaded.crc64); !true_claims)
    co_return true_claims.error();
  auto pieces = co_await writer.finish();
  if (!pieces) co_return storage_error(pieces.error());
  uploaded.pieces = std::move(*pieces);
  co_return std::move(uploaded);
}

void encode_hash(http::Reply& reply, const Uploaded& uploaded) {
  if (!uploaded.md5.empty()) {
    reply.header("Content-MD5", base64(uploaded.md5));
  } else {
    reply.header("x-ms-content-crc64", wire::crc64_text(uploaded.crc64));
  }
}

}  // namespace kyanite::service
