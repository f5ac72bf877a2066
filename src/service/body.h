// Small request bodies (XML documents) as one string.
#pragma once

#include <string>
#include <string_view>

#include "base/task.h"
#include "service/call.h"
#include "wire/error.h"

namespace kyanite::service {

// Enough for the largest document a client may send: 50,000 block ids.
inline constexpr size_t kMaxXmlBody = 8 * 1024 * 1024;

// The whole body; Content-MD5, when sent, is verified. Longer than `most`: 413 RequestBodyTooLarge.
Task<wire::Result<std::string>> read_body(Call& call, size_t most);

// The 16 bytes of the digest.
std::string md5(std::string_view bytes);

// What a broken body means to the client, should it still listen.
wire::Error body_error(http::BodyError error);

}  // namespace kyanite::service
