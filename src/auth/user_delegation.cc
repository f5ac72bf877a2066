#include "auth/user_delegation.h"

#include "auth/failure.h"
#include "auth/mac.h"
#include "auth/skew.h"
#include "base/bytes.h"
#include "base/check.h"
#include "wire/date.h"

namespace kyanite::auth {

namespace {
Time whole_seconds(Time time) { return {time.seconds() * kTicksPerSecond}; }

wire::Error bad_time(std::string_view node, std::string_view reason) {
  return wire::Error(wire::Code::kInvalidXmlNodeValue)
      .with("XmlNodeName", node)
      .with("Reason", reason);
}
}  // namespace

std::string derive_delegation_key(const Key& key, const DelegationTerms& terms) {
  // The first line keeps this use of the account key apart from all others; no string to sign of a
  // request or of a SAS begins with it.
  std::string text = "kyanite user delegation key 1";
  const auto start = wire::iso_date_seconds(terms.start);
  const auto expiry = wire::iso_date_seconds(terms.expiry);
  const std::string_view parts[] = {
      terms.object_id, terms.tenant_id,          start, expiry, terms.service,
      terms.version,   terms.delegated_tenant_id};
  for (std::string_view part : parts) {
    text.push_back('\n');
    append_varint(text, part.size());  // No two different sets of terms give the same text.
    text.append(part);
  }
  if (terms.role != Role::kOwner) text.append("\nrole ").push_back(static_cast<char>(terms.role));
  return std::string(Mac::of(key, text).bytes());
}

wire::Result<UserDelegationKey> issue_delegation_key(
    const Account& account, const Caller& caller, wire::Service service, std::string_view version,
    Time start, Time expiry, std::string_view delegated_tenant_id, Time now) {
  CHECK(caller.kind == Caller::Kind::kBearer);
  CHECK(!account.keys.empty());
  if (caller.object_id.empty() || caller.tenant_id.empty()) {
    return authentication_failed("The token names no object id or no tenant id.");
  }
  start = whole_seconds(start.set() ? start : now);
  expiry = whole_seconds(expiry);
  if (expiry <= start) return bad_time("Expiry", "The expiry must be after the start.");
  if (expiry <= now) return bad_time("Expiry", "The expiry is in the past.");
  const Time latest = after_seconds(now, kMaxDelegationSeconds + kAllowedSkewSeconds);
  if (start > latest) return bad_time("Start", "The start must be within seven days.");
  if (expiry > latest) {
    return bad_time("Expiry", "The expiry must be within seven days.");
  }
  UserDelegationKey key;
  key.signed_oid = caller.object_id;
  key.signed_tid = caller.tenant_id;
  key.signed_start = wire::iso_date_seconds(start).str();
  key.signed_expiry = wire::iso_date_seconds(expiry).str();
  key.signed_service = name(service).substr(0, 1);
  key.signed_version = version;
  key.signed_delegated_user_tid = delegated_tenant_id;
  const DelegationTerms terms{
      key.signed_oid, key.signed_tid,      start,      expiry, key.signed_service,
      version,        delegated_tenant_id, caller.role};
  key.value = base64(derive_delegation_key(account.keys.front(), terms));
  return key;
}

}  // namespace kyanite::auth
