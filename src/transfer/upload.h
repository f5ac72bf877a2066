// A request body on its way into the store: received, hashed, checked against what the client says
// of it, appended.
#pragma once

#include <cstdint>
#include <string>

#include "base/task.h"
#include "content/cipher.h"
#include "content/content.h"
#include "service/call.h"
#include "wire/error.h"

namespace kyanite::transfer {

struct Uploaded {
  content::Pieces pieces;
  uint64_t length = 0;
  std::string md5;  // 16 bytes; empty when it was not computed
  uint64_t crc64 = 0;
  bool structured = false;  // came as a structured message
};

// MD5 costs ten times as much as everything else that happens to a byte, so it is computed only
// where the protocol needs it.
enum class Md5 { kAlways, kWhenSent };

// Takes the whole body, at most `most` bytes (413 RequestBodyTooLarge beyond), verifying
// Content-MD5, x-ms-content-crc64, the announced length and, where it is a structured message, the
// checksums of that. With a cipher it is stored encrypted. Memory stays within four times a
// few chunks whatever the length.
Task<wire::Result<Uploaded>> receive_body(service::Call& call, uint64_t most, Md5 md5,
                                          content::CipherPtr cipher = nullptr);

// Content-MD5 when it was computed, else x-ms-content-crc64: for uploads whose MD5 is wanted only
// kWhenSent.
void encode_hash(http::Reply& reply, const Uploaded& uploaded);

// Confirms that the body was taken as a structured message, if it was one.
void encode_structured(http::Reply& reply, const Uploaded& uploaded);

}  // namespace kyanite::transfer
