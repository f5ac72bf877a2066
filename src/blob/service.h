// The Blob service as the front sees it.
#pragma once

#include "service/service.h"

namespace kyanite::blob {

class BlobService final : public service::Service {
 public:
  wire::Service kind() const override { return wire::Service::kBlob; }
  std::span<const service::Operation> operations() const override;
  wire::Result<void> address(service::Call& call, std::string_view path) const override;
  Task<wire::Result<auth::Acl>> acl(service::Call& call) const override;
};

}  // namespace kyanite::blob
