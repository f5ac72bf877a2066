// Blobs as destinations of copies from other servers; see transfer/pending_copy.h.
#pragma once

#include "base/task.h"
#include "blob/blob.h"
#include "blob/copy_source.h"
#include "blob/handlers.h"
#include "blob/new_blob.h"
#include "transfer/pending_copy.h"

namespace kyanite::blob {

class PendingBlobs final : public transfer::CopyDestinations {
 public:
  Task<store::Result<bool>> progress(service::Context& context, const transfer::PendingCopy& copy,
                                     uint64_t copied) const override;
  Task<store::Result<bool>> complete(service::Context& context, const transfer::PendingCopy& copy,
                                     const content::Pieces& pieces, uint64_t length) const override;
  Task<store::Result<bool>> fail(service::Context& context, const transfer::PendingCopy& copy,
                                 const std::string& why) const override;
};

// Makes the addressed blob the destination of a pending copy from a source on another server and
// hands it over to the service's CopyRunner.
Outcome start_pending_copy(service::Call& call, const Checks& checks, NewBlob fresh,
                           const Source& source);

}  // namespace kyanite::blob
