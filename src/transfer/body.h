// Request bodies that must be whole, as one string, and the memory that bodies take.
#pragma once

#include <string>
#include <string_view>

#include "base/budget.h"
#include "base/task.h"
#include "service/call.h"
#include "wire/error.h"

namespace kyanite::transfer {

// Enough for the largest document a client may send: 50,000 block ids.
inline constexpr size_t kMaxXmlBody = 8 * 1024 * 1024;

// A body, whose memory counts as long as it lives.
struct WholeBody : std::string {
  Budget::Part memory;
  std::string digest;  // Its MD5, if the client has sent it.
};

// The whole body; Content-MD5, when sent, is verified. Longer than `most`: 413 RequestBodyTooLarge.
// More than there is memory for at the moment: 503 ServerBusy.
Task<wire::Result<WholeBody>> read_body(service::Call& call, size_t most);

// So much of a body each request may keep in memory: the limit of connections is its limit.
inline constexpr uint64_t kUncountedBytes = 16 * 1024;

// Makes the body of this call hold so much of body_memory(), for its peer and its account; false
// when that is more than they may have now.
bool hold_memory(Budget::Part& part, const service::Call& call, uint64_t bytes);

// 503 ServerBusy, with the time after which another try makes sense.
wire::Error busy_error(std::string_view why);

// The 16 bytes of the digest.
std::string md5(std::string_view bytes);
// The same for bytes of a request: many are left to workers.
Task<std::string> md5_of(const service::Call& call, std::string_view bytes);

// What a broken body means to the client, should it still listen.
wire::Error body_error(http::BodyError error);

}  // namespace kyanite::transfer
