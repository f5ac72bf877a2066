#include "transfer/body.h"

#include <algorithm>

#include "base/bytes.h"
#include "transfer/hashes.h"

namespace kyanite::transfer {

std::string md5(std::string_view bytes) {
  Md5Hash hash;
  hash.update(bytes);
  return hash.finish();
}

Task<std::string> md5_of(const service::Call& call, std::string_view bytes) {
  Hashes hashes(true);
  for (size_t at = 0; at < bytes.size(); at += kChunkBytes)
    co_await hashes.update(call.context.workers, bytes.substr(at, kChunkBytes));
  co_return hashes.md5();
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

bool hold_memory(Budget::Part& part, const service::Call& call, uint64_t bytes) {
  if (!part.of_a_budget()) {
    if (bytes <= kUncountedBytes) return true;
    part = Budget::Part(body_memory(), call.request.peer, call.target.account);
  }
  return part.resize(bytes);
}

wire::Error busy_error(std::string_view why) {
  wire::Error error(wire::Code::kServerBusy);
  error.saying(why);
  error.headers.emplace_back("Retry-After", "1");
  return error;
}

Task<wire::Result<WholeBody>> read_body(service::Call& call, size_t most) {
  auto* body = call.request.body;
  const auto length = body->length();
  if (length && *length > most) co_return wire::Error(wire::Code::kRequestBodyTooLarge);
  WholeBody out;
  while (true) {
    // The next chunk, and its copy at the end of a string that doubles when it grows.
    const uint64_t next =
        length ? std::min<uint64_t>(*length - out.size(), kChunkBytes) : kChunkBytes;
    if (!hold_memory(out.memory, call, 2 * (out.size() + next)))
      co_return busy_error("Too many requests are being received at the moment.");
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
    out.digest = co_await md5_of(call, out);
    if (*digest != out.digest) co_return wire::md5_mismatch(*digest, out.digest);
  }
  co_return out;
}

}  // namespace kyanite::transfer
