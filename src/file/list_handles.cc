// List Handles: GET /{share}[/{path}]?comp=listhandles, what SMB clients have open
#include "base/bytes.h"
#include "file/handlers.h"
#include "file/handles.h"
#include "file/service.h"
#include "file/versions.h"
#include "transfer/listing.h"
#include "wire/date.h"
#include "wire/xml.h"

namespace kyanite::file {

using service::Call;

namespace {

constexpr wire::Version kAccessRights{20230103};

void write_access_rights(wire::XmlWriter& xml, concurrency::AccessSet access) {
  constexpr std::pair<concurrency::AccessSet, std::string_view> kRights[] = {
      {concurrency::kReadAccess, "Read"},
      {concurrency::kWriteAccess, "Write"},
      {concurrency::kDeleteAccess, "Delete"},
  };
  xml.open("AccessRightList");
  for (const auto& [right, name] : kRights) {
    if (right.within(access)) xml.element("AccessRight", name);
  }
  xml.close("AccessRightList");
}

void write_handle(wire::XmlWriter& xml, const Call& call, const tree::Handle& handle) {
  xml.open("Handle");
  xml.element("HandleId", handle.id);
  if (call.version >= kEncodedNames) {
    transfer::write_encodable(xml, "Path", handle.path);
  } else {
    xml.element("Path", handle.path);
  }
  xml.element("FileId", handle.file.id);
  xml.element("ParentId", handle.ancestors.empty() ? kRootId : handle.ancestors.back());
  xml.element("SessionId", handle.session).element("ClientIp", handle.client);
  xml.element("OpenTime", wire::http_date(handle.opened));
  if (handle.reconnected.set())
    xml.element("LastReconnectTime", wire::http_date(handle.reconnected));
  if (call.version >= kAccessRights) write_access_rights(xml, handle.mode.access);
  xml.close("Handle");
}

}  // namespace

Outcome list_handles(Call& call) {
  auto page = transfer::decode_page(call);
  if (!page) co_return page.error();
  const auto after =
      page->start.empty() ? std::optional<tree::HandleId>(0) : parse_uint(page->start);
  if (!after) co_return wire::invalid_query("marker", *page->marker_text);
  auto target = co_await find_handles_target(call);
  if (!target) co_return target.error();
  std::vector<tree::Handle> handles;
  if (!target->has_none())
    handles = open_files(call).list(target->key(), target->recursive, *after, page->most + 1);
  std::string next;
  if (handles.size() > page->most) {
    handles.pop_back();
    next = transfer::write_marker(std::to_string(handles.back().id));
  }
  wire::XmlWriter xml;
  xml.open("EnumerationResults");
  transfer::write_page(xml, *page);
  xml.open("Entries");
  for (const tree::Handle& handle : handles) write_handle(xml, call, handle);
  xml.close("Entries").element("NextMarker", next).close("EnumerationResults");
  http::Reply reply(200);
  reply.header("Content-Type", "application/xml");
  reply.body = xml.take();
  co_return reply;
}

}  // namespace kyanite::file
