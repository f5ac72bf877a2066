#include "queue/service.h"

#include "base/log.h"
#include "lifetime/dead_spaces.h"
#include "lifetime/directory.h"
#include "queue/operations.h"
#include "queue/queue.h"
#include "service/names.h"

namespace kyanite::queue {

using auth::Level;
using service::Call;

namespace {
// What one call of tend() removes at most, an account.
constexpr uint64_t kRecordsPerCleaning = 10'000;
// When all queues were looked at there is no hurry to look again.
constexpr int64_t kRestBetweenSweepsSeconds = 30;
}  // namespace

std::span<const service::Operation> QueueService::operations() const { return queue::operations(); }

// "", queue, queue/messages or queue/messages/id.
wire::Result<void> QueueService::address(Call& call, std::string_view path) const {
  constexpr std::string_view kMessages = "messages";
  auto& target = call.target;
  if (path.ends_with('/')) path.remove_suffix(1);
  if (path.empty()) {
    target.level = Level::kService;
    return {};
  }
  const size_t slash = path.find('/');
  target.level = Level::kContainer;
  target.container = path.substr(0, slash);
  if (auto valid = service::check_resource_name(target.container); !valid) return valid.error();
  if (slash == std::string_view::npos) return {};
  const std::string_view rest = path.substr(slash + 1);
  target.level = Level::kMessages;
  if (rest == kMessages) return {};
  if (!rest.starts_with(kMessages) || rest[kMessages.size()] != '/')
    return wire::Error(wire::Code::kInvalidUri);
  target.level = Level::kObject;
  target.object = rest.substr(kMessages.size() + 1);
  return {};
}

Task<wire::Result<auth::Acl>> QueueService::acl(Call& call) const {
  auth::Acl acl;
  if (call.target.level == Level::kService) co_return acl;
  auto loaded = co_await service::load<Queue>(call, queue_key(call));
  if (!loaded) co_return loaded.error();
  if (!loaded->value) co_return acl;
  acl.policies.assign(loaded->value->policies.begin(), loaded->value->policies.end());
  co_return acl;
}

Task<void> QueueService::tend(service::Context& context) const {
  const Time now = context.clock.now();
  for (const auto& [name, account] : context.accounts.all()) {
    auto cleaned = co_await lifetime::clean_dead_spaces(
        context.store, name, lifetime::kDeadQueuesFamily, kRecordsPerCleaning, now);
    if (!cleaned) log_warning(std::string("queue: cleaning: ") + describe(cleaned.error()));
  }
  if (now < next_sweep_) co_return;
  auto swept = co_await sweeper_.sweep(context.store, context.accounts, now);
  if (!swept)
    log_warning(std::string("queue: removing expired messages: ") + describe(swept.error()));
  if (!swept || swept->around) next_sweep_ = after_seconds(now, kRestBetweenSweepsSeconds);
}

}  // namespace kyanite::queue
