// How long a request may take. Every one has a time: the `timeout` of its query, up to what the
// protocol documents for the operation, which also is what it has without one. When it is over the
// request ends with 500 OperationTimedOut, or with what it has got where that can be continued.
//
// Nobody watches the time of a request from outside: what waits, scans, copies or tries again asks
// Call::deadline. What is committed stays so, and is answered as done however late. Setting the
// server's date neither ends a request nor gives it time.
#pragma once

#include <cstdint>
#include <optional>

#include "service/call.h"
#include "wire/error.h"

namespace kyanite::service {

// Of most operations.
inline constexpr int64_t kMaxRequestSeconds = 30;

// 400 when `timeout` is no number.
wire::Result<void> set_deadline(Call& call);

// For operations that may take longer than most.
void allow_seconds(Call& call, int64_t most_s);
// For those that receive so many bytes, or copy them from somewhere: minutes for each megabyte.
// Nothing: nobody knows how many.
void allow_transfer(Call& call, std::optional<uint64_t> bytes);

// Until when a reply with so many bytes of content may be sent: two minutes for each megabyte from
// the beginning of the request on. What its client asked for is the time until the reply begins.
Deadline download_deadline(const Call& call, uint64_t bytes);

}  // namespace kyanite::service
