#include "account/user_delegation_key.h"

#include <pugixml.hpp>

#include "auth/user_delegation.h"
#include "transfer/body.h"
#include "wire/date.h"
#include "wire/xml.h"

namespace kyanite::account {

using wire::Code;

Task<wire::Result<http::Reply>> get_user_delegation_key(service::Call& call) {
  auto body = co_await transfer::read_body(call, transfer::kMaxXmlBody);
  if (!body) co_return body.error();
  pugi::xml_document document;
  if (!document.load_buffer(body->data(), body->size()))
    co_return wire::Error(Code::kInvalidXmlDocument);
  const auto info = document.child("KeyInfo");
  const std::string_view start_text = info.child_value("Start");
  const auto start = start_text.empty() ? Time() : wire::parse_iso_date(start_text);
  const auto expiry = wire::parse_iso_date(info.child_value("Expiry"));
  if (!info || !start || !expiry) co_return wire::Error(Code::kInvalidXmlDocument);
  const auto account = call.context.accounts.find(call.target.account);
  // It may have been taken away while the body came.
  if (account == nullptr) co_return wire::Error(Code::kResourceNotFound);
  auto key =
      auth::issue_delegation_key(*account, call.caller, call.target.service, call.version_text,
                                 *start, *expiry, info.child_value("DelegatedUserTid"), call.now);
  if (!key) co_return key.error();
  wire::XmlWriter xml;
  xml.open("UserDelegationKey")
      .element("SignedOid", key->signed_oid)
      .element("SignedTid", key->signed_tid)
      .element("SignedStart", key->signed_start)
      .element("SignedExpiry", key->signed_expiry)
      .element("SignedService", key->signed_service)
      .element("SignedVersion", key->signed_version)
      .optional("SignedDelegatedUserTid", key->signed_delegated_user_tid)
      .element("Value", key->value)
      .close("UserDelegationKey");
  http::Reply reply(200);
  reply.header("Content-Type", "application/xml");
  reply.body = xml.take();
  co_return reply;
}

}  // namespace kyanite::account
