// The bytes of a blob or file as the body of a reply: ranges, hashes of ranges, streaming.
#pragma once

#include <optional>

#include "base/task.h"
#include "content/cipher.h"
#include "content/content.h"
#include "headers/range.h"
#include "http/message.h"
#include "service/call.h"
#include "wire/error.h"

namespace kyanite::transfer {

enum class RangeHash { kNone, kMd5, kCrc64 };

// What of the bytes a request asks for.
struct Download {
  std::optional<headers::ByteRange> range;
  RangeHash hash = RangeHash::kNone;
  bool structured = false;  // as a structured message
};
// Range or x-ms-range, x-ms-range-get-content-md5 and -crc64, x-ms-structured-body.
wire::Result<Download> decode_download(const service::Call& call);

// Gives the reply its status, Content-Range, the hash that was asked for, and the bytes,
// decrypted if there is a cipher. A conflict when the object was replaced after its head had been
// read: read it again.
Task<wire::Result<void>> attach_content(service::Call& call, http::Reply& reply,
                                        const Download& wanted, const content::Place& place,
                                        const content::Content& content, const store::Guard& head,
                                        content::CipherPtr cipher = nullptr);

}  // namespace kyanite::transfer
