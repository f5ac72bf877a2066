#include "service/body.h"

#include <openssl/evp.h>

#include "base/bytes.h"

namespace kyanite::service {

std::string md5(std::string_view bytes) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned length = 0;
  CHECK(EVP_Digest(bytes.data(), bytes.size(), digest, &length, EVP_md5(), nullptr) == 1);
  return std::string(reinterpret_cast<char*>(digest), length);
}

wire::Error body_error(http::BodyError error) {
  switch (error) {
    case http::BodyError::kDisconnected:
    case http::BodyError::kMalformed:
      return wire::Error(wire::Code::kInvalidInput)
          .saying("The request body could not be read to its end.");
    case http::BodyError::kTimeout:
      return wire::Code::kOperationTimedOut;
  }
  return wire::Code::kInvalidInput;
}

Task<wire::Result<std::string>> read_body(Call& call, size_t most) {
  auto* body = call.request.body;
  if (body->length() && *body->length() > most)
    co_return wire::Error(wire::Code::kRequestBodyTooLarge);
  std::string out;
  while (true) {
    auto chunk = co_await body->next();
    if (!chunk) co_return body_error(chunk.error());
    if (chunk->empty()) break;
    if (call.deadline.over()) co_return wire::Error(wire::Code::kOperationTimedOut);
    if (out.size() + chunk->size() > most) co_return wire::Error(wire::Code::kRequestBodyTooLarge);
    out.append(chunk->view());
  }
  if (auto expected = call.headers().find("Content-MD5"); expected && !expected->empty()) {
    auto digest = unbase64(*expected);
    if (!digest || digest->size() != 16) co_return wire::Error(wire::Code::kInvalidMd5);
    if (const auto own = md5(out); *digest != own) co_return wire::md5_mismatch(*digest, own);
  }
  co_return out;
}

}  // namespace kyanite::service
