// List Directories and Files: GET /{share}/{path}?restype=directory&comp=list
#include <memory>
#include <unordered_set>
#include <utility>

#include "base/bytes.h"
#include "concurrency/etag.h"
#include "file/entry.h"
#include "file/handlers.h"
#include "file/permissions.h"
#include "file/refusals.h"
#include "file/versions.h"
#include "transfer/document.h"
#include "transfer/listing.h"
#include "tree/drafts.h"
#include "tree/shown_entries.h"
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
  if (shows.encoded_names) {
    transfer::write_encodable(xml, "Name", entry.name);
  } else {
    xml.element("Name", entry.name);
  }
  if (shows.ids) xml.element("FileId", entry.id);
  write_properties(xml, shows, entry);
  if (shows.attributes) xml.element("Attributes", attributes_text(entry));
  if (shows.permission_key) {
    xml.element("PermissionKey", entry.smb.permission_key.empty() ? default_permission_key()
                                                                  : entry.smb.permission_key);
  }
  xml.close(tag);
}

class EntryList final : public transfer::Document {
 public:
  EntryList(const Call& call, transfer::Page page, const Shows& shows, Located located)
      : endpoint_(call.endpoint),
        share_(call.target.container),
        snapshot_(call.target.snapshot),
        path_(call.target.object),
        page_(std::move(page)),
        shows_(shows),
        located_(std::move(located)),
        now_(call.context.clock.moment()) {
    const Tree& tree = located_.tree;
    if (!tree.shown) delete_pending_ = tree.open_files->delete_pending(tree.space);
  }

  void open(wire::XmlWriter& xml) const override {
    xml.open("EnumerationResults")
        .attribute("ServiceEndpoint", endpoint_)
        .attribute("ShareName", share_);
    if (located_.tree.shown) xml.attribute("ShareSnapshot", snapshot_);
    if (shows_.encoded_names && !wire::xml_can_hold(path_)) {
      xml.attribute("Encoded", "true").attribute("DirectoryPath", wire::percent_encode(path_));
    } else {
      xml.attribute("DirectoryPath", path_);
    }
    transfer::write_page(xml, page_, shows_.encoded_names);
    if (shows_.ids) xml.element("DirectoryId", located_.found.entry->id);
    xml.open("Entries");
  }
  store::Result<transfer::Progress> write_entries(const transfer::Part& part,
                                                  const transfer::Progress& from) const override {
    tree::ShownEntries entries(part.view, located_.tree, located_.found.entry->id,
                               stored_name(page_.prefix),
                               from.next.empty() ? page_.start : from.next);
    uint64_t count = from.entries;
    while (true) {
      auto entry = entries.next();
      if (!entry) return entry.error();
      if (!*entry) return transfer::Progress{"", count, true};
      if (delete_pending_.contains((*entry)->id)) continue;
      const bool page_is_full = count == page_.most;
      if (page_is_full || (part.is_enough() && count > from.entries))
        return transfer::Progress{stored_name((*entry)->name), count, page_is_full};
      if (shows_.timestamps && (*entry)->directory) lay_times(**entry);
      write_entry(part.xml, shows_, **entry);
      ++count;
    }
  }
  void close(wire::XmlWriter& xml, const transfer::Progress& end) const override {
    xml.close("Entries").element("NextMarker", end.next_marker()).close("EnumerationResults");
  }

 private:
  // Times of directories are not stored at once.
  void lay_times(Entry& directory) const {
    const Tree& tree = located_.tree;
    if (tree.shown) return;
    const auto draft = tree.open_files->drafts().look(tree.key(directory.id));
    if (draft) draft->lay_over(directory, now_);
  }
  std::string stored_name(std::string_view name) const {
    return tree::stored_name(located_.tree.names, name);
  }

  const std::string endpoint_;
  const std::string share_;
  const std::string snapshot_;
  const std::string path_;
  const transfer::Page page_;
  const Shows shows_;
  const Located located_;
  const Moment now_;
  std::unordered_set<EntryId> delete_pending_;
};

wire::Result<Shows> decode_shows(const Call& call) {
  auto include = transfer::decode_include(call, kIncludes);
  if (!include) return include.error();
  return Shows{call.version >= kIdsInLists,        include->contains("timestamps"),
               include->contains("etag"),          include->contains("attributes"),
               include->contains("permissionkey"), call.version >= kEncodedNames};
}

}  // namespace

Outcome list_directory(Call& call) {
  auto page = transfer::decode_page(call);
  if (!page) co_return page.error();
  auto shows = decode_shows(call);
  if (!shows) co_return shows.error();
  if (!is_valid_utf8(page->prefix)) co_return wire::invalid_query("prefix", page->prefix);
  auto located = co_await read_directory(call);
  if (!located) co_return located.error();
  // The lengths of files that clients are writing to.
  const Tree& tree = located->tree;
  if (!tree.shown && tree.open_files->drafts().any())
    co_await tree.open_files->drafts().settle_share_if_possible(tree.space, call.deadline);
  auto list =
      std::make_unique<const EntryList>(call, std::move(*page), *shows, std::move(*located));
  co_return co_await transfer::reply_with_document(call, std::move(list));
}

}  // namespace kyanite::file
