// Files as destinations of copies from other servers; see service/pending_copy.h.
#pragma once

#include <string>

#include "base/task.h"
#include "service/pending_copy.h"

namespace kyanite::file {

class PendingFiles final : public service::CopyDestinations {
 public:
  Task<store::Result<bool>> progress(service::Context& context, const service::PendingCopy& copy,
                                     uint64_t copied) const override;
  Task<store::Result<bool>> complete(service::Context& context, const service::PendingCopy& copy,
                                     const content::Pieces& pieces, uint64_t length) const override;
  Task<store::Result<bool>> fail(service::Context& context, const service::PendingCopy& copy,
                                 const std::string& why) const override;
};

}  // namespace kyanite::file
