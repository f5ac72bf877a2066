#include "queue/service.h"

#include "lifetime/dead_spaces.h"
#include "lifetime/directory.h"
#include "queue/expired_messages.h"
#include "queue/operations.h"
#include "queue/queue.h"
#include "service/names.h"

namespace kyanite::queue {

using auth::Level;
using service::Call;

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

std::vector<jobs::Job> QueueService::make_jobs(service::Context&) const {
  std::vector<jobs::Job> jobs;
  jobs.push_back(lifetime::clean_spaces_job("dead-queues", lifetime::kDeadQueuesFamily));
  jobs.push_back(remove_expired_job(indexes_));
  return jobs;
}

}  // namespace kyanite::queue
