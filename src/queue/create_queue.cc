// Create Queue: PUT /{queue}
#include <algorithm>

#include "base/bytes.h"
#include "lifetime/directory.h"
#include "queue/handlers.h"
#include "queue/queue.h"

namespace kyanite::queue {

namespace {
// In any order; names differ in more than case.
bool same_metadata(const headers::Metadata& a, const headers::Metadata& b) {
  if (a.size() != b.size()) return false;
  return std::all_of(a.begin(), a.end(), [&](const auto& item) {
    return std::any_of(b.begin(), b.end(), [&](const auto& other) {
      return equals_ignoring_case(item.first, other.first) && item.second == other.second;
    });
  });
}
}  // namespace

Outcome create_queue(service::Call& call) {
  auto metadata = headers::decode_metadata(call.headers());
  if (!metadata) co_return metadata.error();
  auto decide = [&](std::optional<Queue>& queue) -> wire::Result<bool> {
    if (queue) {
      if (same_metadata(queue->metadata, *metadata)) return false;
      return wire::Error(wire::Code::kQueueAlreadyExists);
    }
    queue.emplace();
    queue->space = lifetime::new_space();
    queue->created = call.now;
    queue->metadata = *metadata;
    return true;
  };
  auto created = co_await service::update<Queue>(call, queue_key(call), decide);
  if (!created) co_return created.error();
  co_return http::Reply(*created ? 201 : 204);
}

}  // namespace kyanite::queue
