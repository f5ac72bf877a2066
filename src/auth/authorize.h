// May this caller do this: the caller's grant against the needs an operation's table row names.
// Pure.
#pragma once

#include <optional>
#include <vector>

#include "auth/caller.h"
#include "auth/posix_access.h"
#include "auth/target.h"
#include "base/clock.h"
#include "wire/error.h"

namespace kyanite::auth {

// What an operation demands. One per row of the operation tables.
struct Need {
  // The account SAS resource types that cover it: any one of "s", "c", "o" named here.
  Letters resource_type = 'o';
  // Any one of these letters suffices. Empty: no account SAS can do it.
  Letters account_sas{};
  // Any one of these letters suffices, in a service or user delegation SAS. Empty: none can do it.
  Letters service_sas{};
  // The container's public access level from which on anyone may do it; kNone: never.
  PublicAccess anonymous = PublicAccess::kNone;
  // Whether an OAuth token may do it, and whether anything else may.
  bool bearer = true;
  bool bearer_only = false;
  // Reaches the snapshot or version that the request names, and then nothing else of the blob: what
  // a token for one of these (sr=bs, sr=bv) can do.
  bool reaches_former = false;
  // Reaches names that begin with the request's prefix, and no others: what a token for a directory
  // (sr=d) can do at the level of its container.
  bool by_prefix = false;
  // The least role with which an identity may do it.
  Role role = Role::kContributor;
  // What it is to access control of paths, which decides for those whose role is less. Nothing: it
  // decides nothing, and they are refused.
  std::optional<posix::Act> act = std::nullopt;
};

// Whether the container's access record must be read before authorize() can decide.
bool needs_acl(const Caller& caller, const Need& need);

// Completes a SAS that names a stored policy: the policy supplies what the token leaves open. A
// token cannot repeat what the policy fixes, and an unknown policy is a revoked one. Does nothing
// for other callers.
wire::Result<void> apply_policy(Caller& caller, const std::vector<AccessPolicy>& policies,
                                Time now);

// Whether the decision is left to the access control of the path: the operation takes another role
// than the caller has. Where nobody can ask it, the caller is to be refused.
inline bool asks_paths(const Caller& caller, const Need& need) {
  return caller.has_identity() && caller.role < need.role;
}
// Whom access control of paths knows the caller as.
posix::Identity identity_of(const Caller& caller);

// The decision, but for what asks_paths(). `acl` may be empty when needs_acl() is false. An absent
// container is passed as an empty Acl: whoever has no rights does not learn from the reply whether
// it exists.
wire::Result<void> authorize(const Caller& caller, const Need& need, const Target& target,
                             const Acl& acl);

// Tags are apart from the blob that has them: reading or listing it does not include them, nor how
// many there are, nor what a condition on them would tell.
wire::Result<void> authorize_tags(const Caller& caller);
inline bool may_see_tags(const Caller& caller) { return authorize_tags(caller).ok(); }

// Whether the caller may replace an existing blob or file. Create permission alone reaches only
// names not yet taken; operations that would overwrite answer 403 UnauthorizedBlobOverwrite.
bool may_overwrite(const Caller& caller);

}  // namespace kyanite::auth
