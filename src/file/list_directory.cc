// List Directories and Files: GET /{share}/{path}?restype=directory&comp=list
#include <unordered_set>

#include "base/bytes.h"
#include "concurrency/etag.h"
#include "file/entry.h"
#include "file/fold.h"
#include "file/handlers.h"
#include "file/permissions.h"
#include "file/shown_entries.h"
#include "file/versions.h"
#include "service/listing.h"
#include "wire/date.h"
#include "wire/query.h"
#include "wire/xml.h"

namespace kyanite::file {

using service::Call;

namespace {

const std::set<std::string_view> kIncludes = {"timestamps", "etag", "attributes", "permissionkey"};

// What a page tells of each entry.
struct Shows {
  bool ids = false;
  bool timestamps = false;
  bool etag = false;
  bool attributes = false;
  bool permission_key = false;
  bool encoded_names = false;
};

// Names that XML cannot hold are percent-encoded and marked.
void write_name(wire::XmlWriter& xml, const Shows& shows, const std::string& name) {
  xml.open("Name");
  if (shows.encoded_names && !wire::xml_can_hold(name)) {
    xml.attribute("Encoded", "true").text(wire::percent_encode(name));
  } else {
    xml.text(name);
  }
  xml.close("Name");
}

void write_properties(wire::XmlWriter& xml, const Shows& shows, const Entry& entry) {
  if (entry.directory && !shows.timestamps && !shows.etag) {
    xml.element("Properties", "");
    return;
  }
  xml.open("Properties");
  if (!entry.directory) xml.element("Content-Length", entry.content.length);
  if (shows.timestamps) {
    // Nothing is noted when a file is merely read.
    xml.element("CreationTime", wire::iso_date(entry.smb.created))
        .element("LastAccessTime", wire::iso_date(entry.smb.created))
        .element("LastWriteTime", wire::iso_date(entry.smb.written))
        .element("ChangeTime", wire::iso_date(entry.smb.changed))
        .element("Last-Modified", wire::http_date(entry.changed));
  }
  if (shows.etag) xml.element("Etag", concurrency::ETag{entry.changed}.quoted());
  xml.close("Properties");
}

void write_entry(wire::XmlWriter& xml, const Shows& shows, const Entry& entry) {
  const std::string_view tag = entry.directory ? "Directory" : "File";
  xml.open(tag);
  write_name(xml, shows, entry.name);
  if (shows.ids) xml.element("FileId", entry.id);
  write_properties(xml, shows, entry);
  if (shows.attributes) xml.element("Attributes", attributes_text(entry));
  if (shows.permission_key) {
    xml.element("PermissionKey", entry.smb.permission_key.empty() ? default_permission_key()
                                                                  : entry.smb.permission_key);
  }
  xml.close(tag);
}

void open_page(wire::XmlWriter& xml, const Call& call, const service::Page& page,
               const Shows& shows, const Located& located) {
  xml.open("EnumerationResults")
      .attribute("ServiceEndpoint", call.endpoint)
      .attribute("ShareName", call.target.container);
  if (located.tree.shown) xml.attribute("ShareSnapshot", call.target.snapshot);
  const std::string& path = call.target.object;
  if (shows.encoded_names && !wire::xml_can_hold(path)) {
    xml.attribute("Encoded", "true").attribute("DirectoryPath", wire::percent_encode(path));
  } else {
    xml.attribute("DirectoryPath", path);
  }
  service::write_page(xml, page);
  if (shows.ids) xml.element("DirectoryId", located.found.entry->id);
  xml.open("Entries");
}

wire::Result<Shows> decode_shows(const Call& call) {
  auto include = service::decode_include(call, kIncludes);
  if (!include) return include.error();
  return Shows{call.version >= kIdsInLists,        include->contains("timestamps"),
               include->contains("etag"),          include->contains("attributes"),
               include->contains("permissionkey"), call.version >= kEncodedNames};
}

}  // namespace

Outcome list_directory(Call& call) {
  auto page = service::decode_page(call);
  if (!page) co_return page.error();
  auto shows = decode_shows(call);
  if (!shows) co_return shows.error();
  if (!is_valid_utf8(page->prefix)) co_return wire::invalid_query("prefix", page->prefix);
  auto located = co_await read_directory(call);
  if (!located) co_return located.error();
  const Tree& tree = located->tree;
  std::unordered_set<EntryId> pending;
  if (!tree.shown) pending = open_files(call).delete_pending(tree.space());

  wire::XmlWriter xml;
  open_page(xml, call, *page, *shows, *located);
  std::string next_marker;
  auto listed = co_await call.store().read([&](const store::View& view) -> store::Result<void> {
    ShownEntries entries(view, tree, located->found.entry->id, fold(page->prefix), page->start);
    uint64_t count = 0;
    while (true) {
      auto entry = entries.next();
      if (!entry) return entry.error();
      if (!*entry) return {};
      if (pending.contains((*entry)->id)) continue;
      if (count++ == page->most) {
        next_marker = service::write_marker(fold((*entry)->name));
        return {};
      }
      write_entry(xml, *shows, **entry);
    }
  });
  if (!listed) co_return service::storage_error(listed.error());
  xml.close("Entries").element("NextMarker", next_marker).close("EnumerationResults");
  http::Reply reply(200);
  reply.header("Content-Type", "application/xml");
  xml.take(reply);
  co_return reply;
}

}  // namespace kyanite::file
