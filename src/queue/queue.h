// Reading and changing queues.
#pragma once

#include <memory>

#include "base/task.h"
#include "queue/loader.h"
#include "queue/records.h"
#include "service/call.h"
#include "service/storage.h"
#include "wire/error.h"

namespace kyanite::queue {

store::Key queue_key(const service::Call& call);

// The addressed queue; 404 QueueNotFound when there is none.
Task<wire::Result<std::shared_ptr<const Queue>>> load_queue(service::Call& call);

Messages messages_of(service::Call& call, const Queue& queue);
// Those of the addressed queue, or 404.
Task<wire::Result<Messages>> open_messages(service::Call& call);

// Read, decide, commit for operations on an existing queue. The last writer wins.
// `edit(Queue&)` may be called again after a conflict. Replies 204.
template <class Edit>
Task<wire::Result<http::Reply>> update_queue(service::Call& call, Edit edit) {
  auto decide = [&](std::optional<Queue>& queue) -> wire::Result<void> {
    if (!queue) return wire::Error(wire::Code::kQueueNotFound);
    edit(*queue);
    return {};
  };
  auto updated = co_await service::update<Queue>(call, queue_key(call), decide);
  if (!updated) co_return updated.error();
  co_return http::Reply(204);
}

// Gives up the messages of the addressed queue at once: `replace` makes the queue's next state of
// the present one (nothing: the queue is deleted), and what hung below the old incarnation is
// removed in the background.
Task<wire::Result<http::Reply>> abandon_messages(service::Call& call,
                                                 std::optional<Queue> (*replace)(const Queue&));

// Answers to reads are not to be kept by anyone on the way.
http::Reply uncached_reply();
http::Reply uncached_document(std::string xml);

}  // namespace kyanite::queue
