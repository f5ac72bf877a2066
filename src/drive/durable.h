// Opens that outlive their connection: a client whose connection is lost comes back for them, and
// one that does not know whether its CREATE was answered asks again.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "base/executor.h"
#include "base/result.h"
#include "base/task.h"
#include "drive/exchange.h"
#include "smb/create.h"
#include "tree/grants.h"
#include "tree/limits.h"
#include "tree/open_files.h"

namespace kyanite::drive {

struct Drive;

// How long such an open waits for its client, as the client asks for it in the second version.
inline constexpr int64_t kDurableSeconds1 = 16 * 60;
inline constexpr int64_t kDurableSeconds2 = 60;
inline constexpr int64_t kMaxDurableSeconds = 300;

// INVALID_PARAMETER for contexts that do not go together.
smb::Status check_durable(const smb::CreateContexts& contexts);

// Makes the open outlive its connection, if the client asks for it and caches its handle.
void grant_durable(const Exchange& exchange, const smb::CreateContexts& contexts,
                   const std::optional<tree::CachingState>& caching, Open& open,
                   smb::CreateReplyContexts& told);

// The open that a client has come back for, in its session again.
Task<Result<std::shared_ptr<Open>, smb::Status>> reconnect(Exchange& exchange,
                                                           const smb::CreateRequest& request,
                                                           const smb::CreateContexts& contexts);

// What is left to do for opens whose clients did not come back: what they kept is given back, and
// files whose last handle they were are removed. That takes commits, and may be of very many at
// once: threads of its own do it. Ends when what it removes is removed, which needs the drive.
class Remover final : public tree::OpenFiles::Remover {
 public:
  explicit Remover(Drive& drive) : drive_(drive) {}
  void ended(const std::shared_ptr<void>& front) override;
  void remove(const tree::Handle& last, std::shared_ptr<void> front,
              tree::OpenFiles::Admission removal) override;

 private:
  static constexpr int kThreads = 2;

  Drive& drive_;
  Workers threads_{kThreads, tree::kMaxParkedHandles};
};

}  // namespace kyanite::drive
