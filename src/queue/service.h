// The Queue service as the front sees it.
#pragma once

#include <memory>

#include "queue/indexes.h"
#include "queue/sweeper.h"
#include "service/service.h"

namespace kyanite::queue {

class QueueService final : public service::Service {
 public:
  wire::Service kind() const override { return wire::Service::kQueue; }
  std::span<const service::Operation> operations() const override;
  wire::Result<void> address(service::Call& call, std::string_view path) const override;
  Task<wire::Result<auth::Acl>> acl(service::Call& call) const override;
  Task<void> tend(service::Context& context) const override;

  Indexes& indexes() const { return *indexes_; }

 private:
  const std::unique_ptr<Indexes> indexes_ = std::make_unique<Indexes>();
  const std::unique_ptr<Sweeper> sweeper_ = std::make_unique<Sweeper>(*indexes_);
};

}  // namespace kyanite::queue
