// User delegation keys: what a bearer of an OAuth token is given to sign SAS tokens with. They are
// derived, not stored; see docs/decisions/user-delegation-keys.md.
#pragma once

#include <string>
#include <string_view>

#include "auth/account.h"
#include "auth/caller.h"
#include "base/clock.h"
#include "wire/error.h"
#include "wire/service.h"

namespace kyanite::auth {

inline constexpr int64_t kMaxDelegationSeconds = 7 * 24 * 3600;

// What distinguishes one key from another, as SAS tokens repeat it: skoid, sktid, skt, ske, sks,
// skv, skdutid.
struct DelegationTerms {
  std::string_view object_id;
  std::string_view tenant_id;
  Time start;                // whole seconds
  Time expiry;               // whole seconds
  std::string_view service;  // "b", "q", "t", "f"
  std::string_view version;
  std::string_view delegated_tenant_id;  // Mostly empty.
  // Of who was given the key. Tokens do not repeat it: it is the one with which they verify.
  Role role = Role::kOwner;
};

// The secret that signs SAS tokens on these terms. Different for each account key.
std::string derive_delegation_key(const Key& key, const DelegationTerms& terms);

// The reply of Get User Delegation Key, element by element.
struct UserDelegationKey {
  std::string signed_oid;
  std::string signed_tid;
  std::string signed_start;
  std::string signed_expiry;
  std::string signed_service;
  std::string signed_version;
  std::string signed_delegated_user_tid;  // Left out of the reply when empty.
  std::string value;                      // base64
};

// `start` may be unset: from now on. Both times are the values of the KeyInfo elements.
wire::Result<UserDelegationKey> issue_delegation_key(
    const Account& account, const Caller& caller, wire::Service service, std::string_view version,
    Time start, Time expiry, std::string_view delegated_tenant_id, Time now);

}  // namespace kyanite::auth
