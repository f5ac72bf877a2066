// Query parameters and bodies of the operations on messages.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "queue/messages.h"
#include "service/call.h"
#include "wire/error.h"
#include "wire/version.h"
#include "wire/xml.h"

namespace kyanite::queue {

inline constexpr int64_t kMaxMessagesPerRequest = 32;
inline constexpr int64_t kMaxVisibilitySeconds = 7 * 24 * 3600;
inline constexpr int64_t kDefaultVisibilitySeconds = 30;  // of Get Messages
inline constexpr int64_t kDefaultTimeToLiveSeconds = 7 * 24 * 3600;
inline constexpr size_t kMaxTextBytes = 64 * 1024;

// Cuts of behaviour.
inline constexpr wire::Version kLargeMessages{
    20110818};  // 64 KiB and seven days; before: 8 KiB, 2 h
inline constexpr wire::Version kPutMessageReply{20160531};    // Put Message answers with a body.
inline constexpr wire::Version kLongLivedMessages{20170729};  // Any time to live, or none.

wire::Result<size_t> decode_message_count(const service::Call& call);
// Get Messages hides for at least one second.
wire::Result<int64_t> decode_get_visibility(const service::Call& call);

struct PutTimes {
  int64_t visibility_s = 0;
  Time expires;
};
wire::Result<PutTimes> decode_put_times(const service::Call& call);

// Id and receipt of Update and Delete. Nothing: this server never gave such a receipt or id.
wire::Result<std::optional<Ticket>> decode_ticket(const service::Call& call);
// What is said to such a receipt: of a message that is there that it is malformed, if it is, and
// else that there is no such message.
Task<wire::Error> unknown_ticket(const service::Call& call, const Messages& messages);
wire::Result<int64_t> decode_update_visibility(const service::Call& call);

// The QueueMessage document in the request's body; nothing when there is no body.
Task<wire::Result<std::optional<std::string>>> read_message_text(service::Call& call);

// What the replies say about a message.
enum class Shown { kPut, kTaken, kPeeked };
std::string write_messages(const std::vector<Standing>& messages, Shown shown);

}  // namespace kyanite::queue
