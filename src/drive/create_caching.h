// What a CREATE wants to cache, and what it is told that it may.
#pragma once

#include <memory>
#include <optional>

#include "drive/cache_holder.h"
#include "drive/exchange.h"
#include "smb/create.h"
#include "tree/grants.h"

namespace kyanite::drive {

// The oplock or lease that is asked for, to be told to the holder when it is broken.
tree::CachingWanted wanted_caching(const Exchange& exchange, const smb::CreateRequest& request,
                                   const smb::CreateContexts& contexts,
                                   std::shared_ptr<CacheHolder> holder);

// What an open with this access means to those who cache the file.
concurrency::OpenReach reach_of(uint32_t granted_access);

// Says in the reply what was granted.
void tell_caching(const smb::CreateContexts& contexts,
                  const std::optional<tree::CachingState>& caching, smb::CreateReply& body,
                  smb::CreateReplyContexts& told);

}  // namespace kyanite::drive
