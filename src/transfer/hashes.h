// MD5 and CRC-64 of bytes on their way, and what a client claims about them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/buffer.h"
#include "base/executor.h"
#include "base/task.h"
#include "service/call.h"
#include "transfer/md5_hash.h"
#include "wire/error.h"

namespace kyanite::transfer {

class Hashes {
 public:
  explicit Hashes(bool with_md5);
  Hashes(const Hashes&) = delete;
  Hashes& operator=(const Hashes&) = delete;

  // The next bytes, on a worker unless they are few. They must stay until this is done.
  Task<void> update(Workers& workers, std::string_view bytes);
  // The same for several, one after the other. Several bodies are hashed at once. With MD5 it may
  // be called again before it is done: what follows is hashed without a pause.
  Task<void> update_all(Workers& workers, std::span<const Buffer> chunks);
  bool with_md5() const { return md5_.has_value(); }
  // The next bytes are so many zeros, which cost nothing without MD5. False when the deadline was
  // over first.
  Task<bool> update_zeros(Workers& workers, uint64_t count, Deadline deadline);

  std::string md5();  // 16 bytes; empty without MD5. Once, at the end.
  uint64_t crc64() const { return crc64_; }

 private:
  struct Work;
  class Waiting;

  static void hash_some(std::vector<Work*>& works, bool goes_on);
  static void hash_waiting(Workers& workers);
  Workers::Turn next_turn();
  void take(std::string_view bytes);
  void take_all(std::span<const Buffer> chunks);

  std::optional<Md5Hash> md5_;
  uint64_t crc64_ = 0;
  bool had_turn_ = false;  // Long bodies let short ones pass.
  Work* last_ = nullptr;   // The last one that is not done. Belongs to Waiting.
};

// The headers by which a client says what the hashes of a body, or of the source of a copy, are.
struct ClaimHeaders {
  std::string_view md5;
  std::string_view crc64;
};
inline constexpr ClaimHeaders kBodyClaims{"Content-MD5", "x-ms-content-crc64"};
inline constexpr ClaimHeaders kSourceClaims{"x-ms-source-content-md5", "x-ms-source-content-crc64"};

struct HashClaims {
  std::string md5;  // 16 bytes, or empty
  std::optional<uint64_t> crc64;
};
// 400 when a value is malformed or both are given.
wire::Result<HashClaims> decode_claims(const service::Call& call, const ClaimHeaders& headers);
// 400 Md5Mismatch or Crc64Mismatch.
wire::Result<void> check_claims(const HashClaims& claims, std::string_view md5, uint64_t crc64);

}  // namespace kyanite::transfer
