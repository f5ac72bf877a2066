#include "drive/create_caching.h"

#include <utility>

#include "drive/connection.h"

namespace kyanite::drive {

tree::CachingWanted wanted_caching(const Exchange& exchange, const smb::CreateRequest& request,
                                   const smb::CreateContexts& contexts,
                                   std::shared_ptr<CacheHolder> holder) {
  tree::CachingWanted wanted;
  wanted.holder = std::move(holder);
  if (request.oplock != smb::OplockLevel::kLease) {
    wanted.caching = caching_of(request.oplock);
    return wanted;
  }
  if (!contexts.lease) return wanted;
  const smb::Lease& lease = *contexts.lease;
  // What SMB 2.1 does not know it does not mean.
  if (lease.version2 && exchange.connection.dialect() < smb::Dialect::kSmb300) return wanted;
  wanted.caching = concurrency::Caching(static_cast<uint8_t>(lease.state));
  wanted.lease = tree::LeaseName{exchange.session->client(), lease.key};
  wanted.epoch = lease.epoch;
  wanted.counts_epochs = lease.version2;
  return wanted;
}

concurrency::OpenReach reach_of(uint32_t granted_access) {
  constexpr uint32_t kAttributes =
      smb::access::kReadAttributes | smb::access::kWriteAttributes | smb::access::kSynchronize;
  if ((granted_access & ~kAttributes) == 0) return concurrency::OpenReach::kAttributes;
  if ((granted_access & ~(kAttributes | smb::access::kReadControl)) == 0)
    return concurrency::OpenReach::kSecurity;
  return concurrency::OpenReach::kContent;
}

void tell_caching(const smb::CreateContexts& contexts,
                  const std::optional<tree::CachingState>& caching, smb::CreateReply& body,
                  smb::CreateReplyContexts& told) {
  if (!caching) return;
  if (!caching->is_lease || !contexts.lease) {
    body.oplock = oplock_level(caching->caching);
    return;
  }
  body.oplock = smb::OplockLevel::kLease;
  smb::Lease lease;
  lease.version2 = caching->counts_epochs;
  lease.key = contexts.lease->key;
  lease.state = caching->caching.bits();
  if (caching->breaking) lease.flags |= smb::lease_flag::kBreakInProgress;
  if (lease.version2) {
    lease.epoch = caching->epoch;
    lease.flags |= contexts.lease->flags & smb::lease_flag::kParentKeySet;
    lease.parent_key = contexts.lease->parent_key;
  }
  told.lease = lease;
}

}  // namespace kyanite::drive
