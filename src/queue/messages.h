// Putting, taking and changing messages: read, decide, commit on single messages, so that any
// number of them can be under way in one queue.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/task.h"
#include "queue/loader.h"
#include "queue/receipt.h"
#include "queue/records.h"
#include "wire/error.h"

namespace kyanite::queue {

// A message where it is now, complete with its text.
struct Standing {
  MessagePlace place;
  Message message;

  Receipt receipt() const { return {place.lane, place.position.visible, message.receipt}; }
};

// Everything is durable when these return. `now` is the instant of the request.

Task<wire::Result<Standing>> put(const Messages& messages, std::string text, Time now,
                                 int64_t visibility_s, Time expires);

// Up to `most` visible messages, hidden from everyone for `visibility_s` from now on.
Task<wire::Result<std::vector<Standing>>> take(const Messages& messages, Time now,
                                               int64_t visibility_s, size_t most);

// The same messages left as they are.
Task<wire::Result<std::vector<Standing>>> peek(const Messages& messages, Time now, size_t most);

// What a client names a message by.
struct Ticket {
  MessageId id;
  Receipt receipt;
};

// 404 MessageNotFound unless the receipt is the one given out last. Without a text only the
// visibility changes.
Task<wire::Result<Standing>> update(const Messages& messages, Ticket ticket, Time now,
                                    int64_t visibility_s, std::optional<std::string> text);
Task<wire::Result<void>> discard(const Messages& messages, Ticket ticket, Time now);

// Whether a message with this id is among the first of the queue: nothing finds it without its
// receipt, and nobody is worth a long search who has lost that.
Task<store::Result<bool>> is_near_front(const Messages& messages, MessageId id);

}  // namespace kyanite::queue
