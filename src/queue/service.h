// The Queue service as the front sees it.
#pragma once

#include "queue/indexes.h"
#include "service/service.h"

namespace kyanite::queue {

class QueueService final : public service::Service {
 public:
  wire::Service kind() const override { return wire::Service::kQueue; }
  std::span<const service::Operation> operations() const override;
  wire::Result<void> address(service::Call& call, std::string_view path) const override;
  Task<wire::Result<auth::Acl>> acl(service::Call& call) const override;
  std::vector<jobs::Job> make_jobs(service::Context& context) const override;

  Indexes& indexes() const { return indexes_; }

 private:
  mutable Indexes indexes_;  // Thread-safe.
};

}  // namespace kyanite::queue
