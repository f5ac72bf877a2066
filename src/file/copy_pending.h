// Files as destinations of copies from other servers; see service/pending_copy.h.
#pragma once

#include <string>

#include "base/task.h"
#include "transfer/pending_copy.h"
#include "tree/open_files.h"
#include "tree/usage.h"

namespace kyanite::file {

class PendingFiles final : public transfer::CopyDestinations {
 public:
  PendingFiles(tree::OpenFiles& open_files, tree::Usage& usage)
      : open_files_(open_files), usage_(usage) {}

  Task<store::Result<bool>> progress(service::Context& context, const transfer::PendingCopy& copy,
                                     uint64_t copied) const override;
  Task<store::Result<bool>> complete(service::Context& context, const transfer::PendingCopy& copy,
                                     const content::Pieces& pieces, uint64_t length) const override;
  Task<store::Result<bool>> fail(service::Context& context, const transfer::PendingCopy& copy,
                                 const std::string& why) const override;

 private:
  tree::OpenFiles& open_files_;
  tree::Usage& usage_;
};

}  // namespace kyanite::file
