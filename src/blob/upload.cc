#include "blob/upload.h"

#include <openssl/evp.h>

#include <optional>

#include "base/bytes.h"
#include "base/started.h"
#include "blob/blob.h"
#include "service/body.h"
#include "wire/crc64.h"
#include "wire/version.h"

namespace kyanite::blob {

using service::Call;
using wire::Code;

namespace {

// Bodies up to this size are hashed where they are: handing them to another thread would cost more.
constexpr size_t kHashInPlaceBytes = 16 * 1024;

class Hashes {
 public:
  explicit Hashes(bool with_md5) {
    if (!with_md5) return;
    md5_ = EVP_MD_CTX_new();
    CHECK(EVP_DigestInit_ex(md5_, EVP_md5(), nullptr) == 1);
  }
  ~Hashes() { EVP_MD_CTX_free(md5_); }
  Hashes(const Hashes&) = delete;
  Hashes& operator=(const Hashes&) = delete;

  void update(std::string_view bytes) {
    if (md5_ != nullptr) CHECK(EVP_DigestUpdate(md5_, bytes.data(), bytes.size()) == 1);
    crc64_ = wire::crc64(crc64_, bytes);
  }
  std::string md5() {
    if (md5_ == nullptr) return {};
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned length = 0;
    CHECK(EVP_DigestFinal_ex(md5_, digest, &length) == 1);
    return std::string(reinterpret_cast<char*>(digest), length);
  }
  uint64_t crc64() const { return crc64_; }

 private:
  EVP_MD_CTX* md5_ = nullptr;
  uint64_t crc64_ = 0;
};

// What the client claims about the body.
struct Claims {
  std::string md5;
  std::optional<uint64_t> crc64;
};

wire::Result<Claims> decode_claims(const Call& call) {
  Claims claims;
  auto md5 = decode_md5(call, "Content-MD5");
  if (!md5) return md5.error();
  claims.md5 = std::move(*md5);
  const auto text = call.headers().find("x-ms-content-crc64");
  if (!text || text->empty()) return claims;
  if (!claims.md5.empty()) return wire::Error(Code::kBothCrc64AndMd5HeaderPresent);
  auto bytes = unbase64(*text);
  if (!bytes || bytes->size() != 8) return wire::invalid_header("x-ms-content-crc64", *text);
  uint64_t crc = 0;
  for (int i = 7; i >= 0; --i)
    crc = crc << 8 | static_cast<unsigned char>((*bytes)[static_cast<size_t>(i)]);
  claims.crc64 = crc;
  return claims;
}

using Stored = store::Result<void>;

Task<Stored> take(Call& call, Hashes& hashes, content::Writer& writer, Buffer chunk) {
  if (chunk.size() <= kHashInPlaceBytes) {
    hashes.update(chunk.view());
  } else {
    co_await call.context.workers.run([&] {
      hashes.update(chunk.view());
      return true;
    });
  }
  co_return co_await writer.add(std::move(chunk));
}

}  // namespace

Task<wire::Result<Uploaded>> receive_body(Call& call, uint64_t most, Md5 md5) {
  auto claims = decode_claims(call);
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
      if (!stored) failed = service::storage_error(stored.error());
    }
    if (!chunk) failed = service::body_error(chunk.error());
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
  if (!claims->md5.empty() && claims->md5 != uploaded.md5)
    co_return wire::Error(Code::kMd5Mismatch);
  if (claims->crc64 && *claims->crc64 != uploaded.crc64)
    co_return wire::Error(Code::kCrc64Mismatch);
  auto pieces = co_await writer.finish();
  if (!pieces) co_return service::storage_error(pieces.error());
  uploaded.pieces = std::move(*pieces);
  co_return std::move(uploaded);
}

void encode_hash(http::Reply& reply, const Call& call, const Uploaded& uploaded) {
  if (call.headers().has("Content-MD5") || call.version < wire::kCrc64Replies) {
    reply.header("Content-MD5", base64(uploaded.md5));
  } else {
    reply.header("x-ms-content-crc64", wire::crc64_text(uploaded.crc64));
  }
}

}  // namespace kyanite::blob
