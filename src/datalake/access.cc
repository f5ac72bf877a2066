#include "datalake/access.h"

#include <vector>

#include "auth/authorize.h"
#include "blob/admission.h"

namespace kyanite::datalake {

using auth::Caller;
using auth::Role;
using service::Call;
using wire::Code;
namespace posix = auth::posix;

bool has_bits(const Call& call, const blob::Way& way, const blob::Blob& blob, posix::Bits wanted) {
  if (call.caller.has_identity()) {
    constexpr posix::Bits kReads = posix::kRead | posix::kExecute;
    if (call.caller.role >= Role::kContributor) return true;
    if (call.caller.role == Role::kReader && (wanted & ~kReads) == 0) return true;
  }
  return posix::allowed_bits(auth::identity_of(call.caller), wanted, blob::parents_on(way),
                             blob.node->access);
}

namespace {

bool sas_allows(const Caller& caller, const AccessOrder& order,
                const posix::AccessControl& control) {
  if (!caller.is_sas()) return true;
  const auto& letters = caller.permissions;
  // Among the letters of an account SAS only this one means that much.
  if (caller.kind == Caller::Kind::kAccountSas) return letters.has('p');
  posix::Identity identity = auth::identity_of(caller);
  const bool as_owner = letters.has('e') && posix::is_owner(identity, control);
  if (order.owner && !letters.has('o')) return false;
  if (order.group && !letters.has('o') && !as_owner) return false;
  return !(order.permissions || order.entries) || letters.has('p') || as_owner;
}

}  // namespace

wire::Result<void> may_give(const Call& call, const AccessOrder& order, const blob::Blob& blob) {
  // Who makes a path owns it, but only superusers make it another's.
  if (!call.caller.has_identity() || call.caller.role == Role::kOwner) return {};
  const auto& control = blob.node->access;
  const auto identity = auth::identity_of(call.caller);
  bool allowed = posix::is_owner(identity, control);
  if (order.owner) allowed = allowed && posix::may_set_owner(identity, control, *order.owner);
  if (order.group) allowed = allowed && posix::may_set_group(identity, control, *order.group);
  if (!allowed) return blob::not_admitted();
  return {};
}

wire::Result<void> may_set(const Call& call, const AccessOrder& order, const blob::Blob& blob) {
  if (!sas_allows(call.caller, order, blob.node->access)) return blob::not_admitted();
  return may_give(call, order, blob);
}

Task<wire::Result<void>> require_hierarchy(service::Call& call) {
  const auto container = co_await blob::find_container(call);
  if (!container) co_return container.error();
  if (!(*container)->hierarchical) co_return wire::Error(Code::kHierarchicalNamespaceNotEnabled);
  co_return wire::Result<void>();
}

bool is_of_one_path(const Caller& caller) {
  return caller.is_sas() && caller.scope == auth::Scope::kObject;
}

}  // namespace kyanite::datalake
