#include "queue/queue.h"

#include "lifetime/dead_spaces.h"
#include "lifetime/directory.h"
#include "queue/service.h"

namespace kyanite::queue {

using service::Call;

namespace {
Indexes& indexes(const Call& call) {
  return static_cast<const QueueService*>(call.service)->indexes();
}
}  // namespace

store::Key queue_key(const Call& call) {
  return store::Key(lifetime::directory_space(call.target.account), lifetime::kQueuesFamily,
                    call.target.container);
}

Task<wire::Result<std::shared_ptr<const Queue>>> load_queue(Call& call) {
  const auto key = queue_key(call);
  auto loaded = co_await service::load_shared<Queue>(call, key);
  if (!loaded) co_return loaded.error();
  if (loaded->value == nullptr) co_return wire::Error(wire::Code::kQueueNotFound);
  co_return std::move(loaded->value);
}

Messages messages_of(Call& call, const Queue& queue) {
  return {call, queue.space, indexes(call).of(queue.space)};
}

Task<wire::Result<Messages>> open_messages(Call& call) {
  auto queue = co_await load_queue(call);
  if (!queue) co_return queue.error();
  co_return messages_of(call, **queue);
}

Task<wire::Result<http::Reply>> abandon_messages(Call& call,
                                                 std::optional<Queue> (*replace)(const Queue&)) {
  const auto key = queue_key(call);
  auto decide = [&](store::Attempt& attempt) -> Task<wire::Result<store::SpaceId>> {
    auto loaded = co_await service::load<Queue>(call, key);
    if (!loaded) co_return loaded.error();
    if (!loaded->value) co_return wire::Error(wire::Code::kQueueNotFound);
    const auto& queue = *loaded->value;
    const auto next = replace(queue);
    store::Commit& commit = attempt.commit;
    commit.expect(key, loaded->record);
    commit.put(key, next ? service::to_record(*next) : nullptr);
    commit.writes.push_back(lifetime::bury(call.target.account, lifetime::kDeadQueuesFamily,
                                           call.target.container, queue.space, call.now));
    co_return queue.space;
  };
  auto abandoned = co_await store::transact(call, key, decide);
  if (!abandoned) co_return abandoned.error();
  indexes(call).drop(*abandoned);
  co_return http::Reply(204);
}

http::Reply uncached_reply() {
  http::Reply reply(200);
  reply.header("Cache-Control", "no-cache");
  return reply;
}

http::Reply uncached_document(std::string xml) {
  http::Reply reply = uncached_reply();
  reply.header("Content-Type", "application/xml");
  reply.body = std::move(xml);
  return reply;
}

}  // namespace kyanite::queue
