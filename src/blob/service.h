// The Blob service as the front sees it.
#pragma once

#include "blob/copy_pending.h"
#include "lifetime/directory.h"
#include "service/service.h"
#include "transfer/source_object.h"

namespace kyanite::blob {

class BlobService : public service::Service, public transfer::Sources {
 public:
  wire::Service kind() const override { return wire::Service::kBlob; }
  std::span<const service::Operation> operations() const override;
  wire::Result<void> address(service::Call& call, std::string_view path) const override;
  Task<wire::Result<auth::Acl>> acl(service::Call& call) const override;
  Task<wire::Result<void>> require_paths(service::Call& call) const override;
  const transfer::Sources* sources() const override { return this; }
  Task<wire::Result<transfer::SourceObject>> source(
      service::Call& call, const std::optional<headers::ByteRange>& range) const override;
  std::vector<jobs::Job> make_jobs(service::Context& context) const override;

  transfer::CopyRunner& copy_runner() const { return copy_runner_; }

 private:
  const PendingBlobs pending_blobs_{};
  mutable transfer::CopyRunner copy_runner_{pending_blobs_, lifetime::kPendingCopiesFamily};
};

}  // namespace kyanite::blob
