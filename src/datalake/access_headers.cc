#include "datalake/access_headers.h"

#include <utility>

#include "wire/xml.h"

namespace kyanite::datalake {

using wire::Code;
namespace posix = auth::posix;

wire::Error acl_error(posix::AclFault) { return Code::kInvaldAccessControlList; }

wire::Result<AccessOrder> decode_access(const service::Call& call) {
  AccessOrder order;
  const auto& headers = call.headers();
  const std::pair<std::string_view, std::optional<std::string>*> ids[] = {
      {"x-ms-owner", &order.owner}, {"x-ms-group", &order.group}};
  for (const auto& [header, value] : ids) {
    const auto text = headers.find(header);
    if (!text || text->empty()) continue;
    // Listings carry it, as XML and as JSON.
    if (text->size() > posix::kMaxIdBytes || !wire::xml_can_hold(*text))
      return wire::invalid_header(header, *text);
    value->emplace(*text);
  }
  if (const auto text = headers.find("x-ms-permissions"); text && !text->empty()) {
    order.permissions = posix::parse_permissions(*text);
    if (!order.permissions) return wire::Error(Code::kInvalidPermission);
  }
  if (const auto text = headers.find("x-ms-umask"); text && !text->empty()) {
    order.umask = posix::parse_umask(*text);
    if (!order.umask) return wire::invalid_header("x-ms-umask", *text);
  }
  if (const auto text = headers.find("x-ms-acl")) {
    auto entries = posix::parse_entries(*text, posix::Edit::kReplace);
    if (!entries) return acl_error(entries.error());
    order.entries = std::move(*entries);
  }
  if (order.entries && !order.entries->empty() && order.permissions) {
    return wire::Error(Code::kInvalidInput)
        .saying("x-ms-permissions and x-ms-acl cannot be set by one request.");
  }
  return order;
}

wire::Result<void> apply_access(const AccessOrder& order, bool is_directory,
                                posix::AccessControl& control) {
  if (order.owner) control.owner = *order.owner;
  if (order.group) control.group = *order.group;
  if (order.permissions) posix::set_permissions(control, *order.permissions);
  if (order.entries) {
    auto changed = posix::edited(control, posix::Edit::kReplace, *order.entries, is_directory);
    if (!changed) return acl_error(changed.error());
    control = std::move(*changed);
  }
  return {};
}

}  // namespace kyanite::datalake
