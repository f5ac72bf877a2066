// What listings of Data Lake share: the parameters of a page, and where the next one begins.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "http/message.h"
#include "service/call.h"
#include "transfer/listing.h"
#include "wire/error.h"

namespace kyanite::datalake {

struct Page {
  std::string start;  // decoded continuation: the first name to list; "" for the beginning
  uint64_t most = transfer::kMaxListResults;
};

// continuation and maxResults.
wire::Result<Page> decode_page(const service::Call& call);

// The text that says to go on from this name.
std::string continuation_of(std::string_view name);
// The name that a continuation says; nothing if it is none.
std::optional<std::string> decode_continuation(std::string_view text);
// x-ms-continuation, unless nothing follows.
void encode_continuation(http::Reply& reply, std::string_view next);

}  // namespace kyanite::datalake
