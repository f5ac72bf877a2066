#include "auth/authorize.h"

#include <algorithm>

#include "auth/failure.h"
#include "auth/sas.h"

namespace kyanite::auth {

namespace {
using wire::Code;

char service_letter(wire::Service service) { return name(service).front(); }

// Nobody learns from a refusal whether a private container exists. Clients that speak a version
// with bearer challenges are asked for a token, older ones are told that there is nothing.
wire::Error refuse_anonymous(const Caller& caller) {
  return caller.expects_challenge ? wire::Error(Code::kNoAuthenticationInformation)
                                  : wire::Error(Code::kResourceNotFound);
}

wire::Result<void> authorize_anonymous(const Caller& caller, const Need& need, const Acl& acl) {
  const bool open = need.anonymous != PublicAccess::kNone && acl.public_access >= need.anonymous;
  if (!open) return refuse_anonymous(caller);
  return {};
}

wire::Result<void> authorize_account_sas(const Caller& caller, const Need& need,
                                         const Target& target) {
  if (need.account_sas.empty()) return wire::Error(Code::kAuthorizationFailure);
  if (!caller.services.has(service_letter(target.service)))
    return wire::Error(Code::kAuthorizationServiceMismatch);
  if (!caller.resource_types.has_any_of(need.resource_type)) {
    return wire::Error(Code::kAuthorizationResourceTypeMismatch);
  }
  if (!caller.permissions.has_any_of(need.account_sas))
    return wire::Error(Code::kAuthorizationPermissionMismatch);
  return {};
}

// Whether a name, or what names begin with, lies in the directory.
bool lies_below(std::string_view name, std::string_view directory) {
  return name.size() > directory.size() && name.starts_with(directory) &&
         name[directory.size()] == '/';
}

// Whether the operation stays within what the token was signed for.
bool is_within_scope(const Caller& caller, const Need& need, const Target& target) {
  switch (caller.scope) {
    case Scope::kAccount:
    case Scope::kContainer:
      return true;
    case Scope::kObject:
      // What is addressed to an object but asks for its container, as lists of directories do in
      // the File service, is beyond it.
      return target.level == Level::kObject && need.resource_type.has('o');
    case Scope::kSnapshot:
      return target.level == Level::kObject && need.reaches_former &&
             target.snapshot.empty() != target.version_id.empty();
    case Scope::kDirectory:
      if (caller.directory.empty()) return true;  // The root, and with it everything.
      if (target.level == Level::kObject) {
        return target.object == caller.directory || lies_below(target.object, caller.directory);
      }
      return need.by_prefix && lies_below(target.prefix, caller.directory);
  }
  return false;
}

wire::Result<void> authorize_service_sas(const Caller& caller, const Need& need,
                                         const Target& target) {
  if (caller.policy_pending)
    return authentication_failed("SAS identifier cannot be found for specified signed identifier");
  if (need.service_sas.empty()) return wire::Error(Code::kAuthorizationFailure);
  if (!caller.permissions.has_any_of(need.service_sas))
    return wire::Error(Code::kAuthorizationPermissionMismatch);
  if (!is_within_scope(caller, need, target)) return wire::Error(Code::kAuthorizationFailure);
  if (target.entity && !caller.key_range.contains(target.entity->partition, target.entity->row)) {
    return wire::Error(Code::kAuthorizationFailure);
  }
  return {};
}

wire::Result<void> authorize_role(const Caller& caller, const Need& need) {
  if (!asks_paths(caller, need) || need.act) return {};
  return wire::Error(Code::kAuthorizationPermissionMismatch);
}

// A field comes from the token or from the policy, never from both.
template <class T>
bool clash(const T& in_token, const T& in_policy, const T& unset) {
  return !(in_token == unset) && !(in_policy == unset);
}
}  // namespace

posix::Identity identity_of(const Caller& caller) {
  return {caller.object_id, caller.groups, !caller.has_identity() || caller.role == Role::kOwner};
}

bool needs_acl(const Caller& caller, const Need& need) {
  if (caller.kind == Caller::Kind::kAnonymous) return need.anonymous != PublicAccess::kNone;
  return caller.policy_pending;
}

wire::Result<void> apply_policy(Caller& caller, const std::vector<AccessPolicy>& policies,
                                Time now) {
  if (!caller.policy_pending) return {};
  const auto policy =
      std::find_if(policies.begin(), policies.end(),
                   [&](const AccessPolicy& candidate) { return candidate.id == caller.policy_id; });
  if (policy == policies.end()) {
    return authentication_failed("SAS identifier cannot be found for specified signed identifier");
  }
  const Letters granted(policy->permission);
  if (clash(caller.start, policy->start, Time{})) {
    return authentication_failed(
        "Signed start must be specified in signature or SAS identifier, not in both");
  }
  if (clash(caller.expiry, policy->expiry, Time{})) {
    return authentication_failed(
        "Signed expiry must be specified in signature or SAS identifier, not in both");
  }
  if (clash(caller.permissions, granted, Letters())) {
    return authentication_failed(
        "Signed permissions must be specified in signature or SAS identifier, not in both");
  }
  if (!caller.start.set()) caller.start = policy->start;
  if (!caller.expiry.set()) caller.expiry = policy->expiry;
  if (caller.permissions.empty()) caller.permissions = granted;
  if (!caller.expiry.set()) {
    return authentication_failed("Signed expiry must be specified in signature or SAS identifier");
  }
  if (caller.permissions.empty()) {
    return authentication_failed(
        "Signed permissions must be specified in signature or SAS identifier");
  }
  if (auto timely = check_window(caller.start, caller.expiry, now); !timely) return timely;
  caller.policy_pending = false;
  return {};
}

wire::Result<void> authorize(const Caller& caller, const Need& need, const Target& target,
                             const Acl& acl) {
  if (need.bearer_only && caller.kind != Caller::Kind::kBearer) {
    if (caller.kind == Caller::Kind::kAnonymous) return refuse_anonymous(caller);
    return authentication_failed("Only authentication scheme Bearer is supported");
  }
  switch (caller.kind) {
    case Caller::Kind::kAnonymous:
      return authorize_anonymous(caller, need, acl);
    case Caller::Kind::kOwner:
      return {};
    case Caller::Kind::kAccountSas:
      return authorize_account_sas(caller, need, target);
    case Caller::Kind::kServiceSas:
      return authorize_service_sas(caller, need, target);
    case Caller::Kind::kUserDelegationSas:
      if (auto granted = authorize_service_sas(caller, need, target); !granted) return granted;
      return authorize_role(caller, need);
    case Caller::Kind::kBearer:
      if (!need.bearer) return wire::Error(Code::kAuthorizationFailure);
      return authorize_role(caller, need);
  }
  return wire::Error(Code::kAuthorizationFailure);
}

wire::Result<void> authorize_tags(const Caller& caller) {
  if (caller.kind == Caller::Kind::kAnonymous) return refuse_anonymous(caller);
  if (caller.is_sas() && !caller.permissions.has('t'))
    return wire::Error(Code::kAuthorizationPermissionMismatch);
  return {};
}

bool may_overwrite(const Caller& caller) {
  switch (caller.kind) {
    case Caller::Kind::kOwner:
    case Caller::Kind::kBearer:
      return true;
    case Caller::Kind::kAccountSas:
    case Caller::Kind::kServiceSas:
    case Caller::Kind::kUserDelegationSas:
      return caller.permissions.has('w');
    case Caller::Kind::kAnonymous:
      return false;
  }
  return false;
}

}  // namespace kyanite::auth
