#include "account/access_policies.h"

#include <pugixml.hpp>

#include "account/xml_error.h"
#include "wire/date.h"

namespace kyanite::account {

namespace {
// XML, but not the right one: no place in it is named.
wire::Error invalid_document() {
  return wire::Error(wire::Code::kInvalidXmlDocument)
      .with("LineNumber", "0")
      .with("LinePosition", "0")
      .with("Reason", "");
}

wire::Result<Time> parse_time(const pugi::xml_node& node) {
  const std::string_view text = node.child_value();
  if (text.empty()) return Time{};
  auto time = wire::parse_iso_date(text);
  if (!time) return invalid_document();
  return *time;
}
}  // namespace

wire::Result<std::vector<auth::AccessPolicy>> parse_access_policies(std::string_view xml,
                                                                    auth::Letters letters) {
  std::vector<auth::AccessPolicy> policies;
  if (xml.empty()) return policies;
  pugi::xml_document document;
  if (const auto parsed = document.load_buffer(xml.data(), xml.size()); !parsed)
    return invalid_xml(xml, static_cast<size_t>(parsed.offset));
  if (const auto unwritable = find_unwritable(document))
    return invalid_xml(xml, static_cast<size_t>(unwritable.offset_debug()));
  const auto root = document.child("SignedIdentifiers");
  if (!root) return invalid_document();
  for (const auto& node : root.children("SignedIdentifier")) {
    auth::AccessPolicy policy;
    policy.id = node.child_value("Id");
    if (policy.id.empty() || policy.id.size() > kMaxPolicyIdLength) return invalid_document();
    for (const auto& other : policies) {
      if (other.id == policy.id) return invalid_document();
    }
    const auto access = node.child("AccessPolicy");
    auto start = parse_time(access.child("Start"));
    if (!start) return start.error();
    auto expiry = parse_time(access.child("Expiry"));
    if (!expiry) return expiry.error();
    policy.start = *start;
    policy.expiry = *expiry;
    policy.permission = access.child_value("Permission");
    if (!auth::Letters::parse(policy.permission, letters)) return invalid_document();
    policies.push_back(std::move(policy));
    if (policies.size() > kMaxAccessPolicies) return invalid_document();
  }
  return policies;
}

std::string write_access_policies(const std::vector<auth::AccessPolicy>& policies) {
  wire::XmlWriter xml;
  xml.open("SignedIdentifiers");
  for (const auto& policy : policies) {
    xml.open("SignedIdentifier").element("Id", policy.id);
    if (policy.start.set() || policy.expiry.set() || !policy.permission.empty()) {
      xml.open("AccessPolicy");
      if (policy.start.set()) xml.element("Start", wire::iso_date(policy.start));
      if (policy.expiry.set()) xml.element("Expiry", wire::iso_date(policy.expiry));
      xml.optional("Permission", policy.permission);
      xml.close("AccessPolicy");
    }
    xml.close("SignedIdentifier");
  }
  xml.close("SignedIdentifiers");
  return xml.take();
}

}  // namespace kyanite::account
