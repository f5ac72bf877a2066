// How a client learns that it has to give up what it caches (tree/grants.h): a message that it did
// not ask for, on the first of its connections, or on the next when it does not arrive there.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "drive/mailbox.h"
#include "smb/create.h"
#include "tree/grants.h"

namespace kyanite::drive {

// Of one open. What it is told before its client knows of the open waits until the client does.
class CacheHolder final : public tree::CacheHolder,
                          public std::enable_shared_from_this<CacheHolder> {
 public:
  CacheHolder(std::shared_ptr<Mailbox> home, const smb::Guid& client, uint64_t session)
      : mailbox_(std::move(home)), client_(client), session_(session) {}

  void caching_breaks(const tree::CacheBreak& broken) override;

  // On the loop: the reply that tells the client of the open is on its way.
  void opened(const smb::FileId& id, bool counts_epochs);

 private:
  void tell(const Connection& home, const tree::CacheBreak& broken) const;
  std::string message_of(const tree::CacheBreak& broken) const;

  const std::shared_ptr<Mailbox> mailbox_;
  const smb::Guid client_;
  const uint64_t session_;
  std::atomic<size_t> posted_{0};  // Breaks that are on their way to the loop.
  // Used on the loop.
  bool opened_ = false;
  bool counts_epochs_ = false;
  smb::FileId id_;
  std::vector<tree::CacheBreak> early_;
};

smb::OplockLevel oplock_level(concurrency::Caching caching);
concurrency::Caching caching_of(smb::OplockLevel level);

}  // namespace kyanite::drive
