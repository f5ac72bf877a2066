// The Table service as the front sees it.
#pragma once

#include "service/service.h"

namespace kyanite::table {

class TableService final : public service::Service {
 public:
  wire::Service kind() const override { return wire::Service::kTable; }
  std::span<const service::Operation> operations() const override;
  wire::Result<void> address(service::Call& call, std::string_view path) const override;
  // JSON, except for the operations that speak XML.
  void render(const service::Call& call, const wire::Error& error,
              http::Reply& reply) const override;
  Task<wire::Result<auth::Acl>> acl(service::Call& call) const override;
  std::vector<jobs::Job> make_jobs(service::Context& context) const override;
};

}  // namespace kyanite::table
