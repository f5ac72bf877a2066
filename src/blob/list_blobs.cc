// List Blobs: GET /{container}?restype=container&comp=list
//
// A page is one snapshot. With a delimiter, names that share the part up to it fold into one
// BlobPrefix and the scan jumps over them, so the cost follows what is returned.
#include <algorithm>
#include <set>

#include "base/bytes.h"
#include "blob/blob.h"
#include "blob/blocks.h"
#include "blob/handlers.h"
#include "blob/list_entry.h"
#include "service/listing.h"
#include "wire/xml.h"

namespace kyanite::blob {

using service::Call;

namespace {

const std::set<std::string_view> kIncludes = {
    "copy", "deleted",   "metadata",           "snapshots",   "uncommittedblobs",   "versions",
    "tags", "legalhold", "immutabilitypolicy", "permissions", "deletedwithversions"};

// Walks the names of a container in order: those with heads and, if asked for, those that only have
// uncommitted blocks.
class Names {
 public:
  Names(const store::View& view, store::SpaceId space, std::string_view prefix,
        const ListShows& shows, Time now)
      : space_(space),
        now_(now),
        base_only_(!shows.snapshots && !shows.versions && !shows.deleted),
        heads_(view.scan(store::Range::partition_prefix(space, kHeads, prefix))) {
    if (shows.uncommitted)
      blocks_ = view.scan(store::Range::partition_prefix(space, kBlocks, prefix));
  }

  // To the first name at or after this one, or after every name with this prefix.
  void seek(std::string_view name) { move(store::partition_prefix_bytes(space_, kHeads, name)); }
  void skip_prefix(std::string_view prefix) {
    move(store::after_prefix(store::partition_prefix_bytes(space_, kHeads, prefix)));
  }
  void skip_name(std::string_view name) { move(after(name)); }

  // False after an error of either cursor: names would be left out.
  bool valid() const { return status().ok() && (heads_->valid() || (blocks_ && blocks_->valid())); }
  std::string name() const {
    if (!heads_->valid()) return partition(*blocks_);
    if (!blocks_ || !blocks_->valid()) return partition(*heads_);
    return std::min(partition(*heads_), partition(*blocks_));
  }
  // The heads of name(), oldest first, the blob itself last, into `heads`. Moves on to the next
  // name.
  store::Result<void> take(const std::string& name, std::vector<Head>& heads) {
    heads.clear();
    const std::string lead = store::Key(space_, kHeads, name).bytes();
    while (heads_->valid() && heads_->key().starts_with(lead)) {
      auto record = heads_->record();
      if (!record) return record.error();
      auto blob = store::decode<Blob>((*record)->value);
      if (!blob) return store::Error::kCorrupt;
      finish_rehydration(*blob, now_);
      Head& head = heads.emplace_back();
      head.row = heads_->key().substr(lead.size());
      head.record = std::move(*record);
      head.blob = std::move(*blob);
      heads_->next();
      // The blob itself comes first; the rest is not wanted.
      if (base_only_ && heads_->valid() && heads_->key().starts_with(lead))
        heads_->seek(after(name));
    }
    const auto age = [](const Head& head) {
      const auto instant = parse_row(head.row);
      return head.row.empty() ? INT64_MAX : std::max(instant.snapshot, instant.version).ticks;
    };
    std::sort(heads.begin(), heads.end(),
              [&](const Head& a, const Head& b) { return age(a) < age(b); });
    if (blocks_ && blocks_->valid() && partition(*blocks_) == name) skip_name(name);
    return {};
  }
  store::Result<void> status() const {
    if (auto status = heads_->status(); !status) return status;
    return blocks_ ? blocks_->status() : store::Result<void>();
  }

 private:
  std::string after(std::string_view name) const {
    return store::after_partition(space_, kHeads, name);
  }
  static std::string partition(const store::View::Cursor& cursor) {
    return store::Key::from_bytes(std::string(cursor.key())).partition();
  }
  // Keys of the two families differ in one byte only.
  void move(std::string key) {
    if (key.empty()) return;
    heads_->seek(key);
    if (!blocks_) return;
    key[8] = kBlocks;
    blocks_->seek(key);
  }

  store::SpaceId space_;
  Time now_;
  bool base_only_;  // Snapshots and versions are jumped over instead of read.
  std::unique_ptr<store::View::Cursor> heads_;
  std::unique_ptr<store::View::Cursor> blocks_;
};

// Where a page begins: a name and, within it, the row of the head to start with.
struct Start {
  std::string name;
  std::string row;
};
constexpr char kRowMark = '\0';  // No blob name holds it.

Start parse_start(const std::string& marker) {
  const size_t mark = marker.find(kRowMark);
  if (mark == std::string::npos) return {marker, {}};
  return {marker.substr(0, mark), marker.substr(mark + 1)};
}

std::string write_start(const std::string& name, const Head& head) {
  return service::write_marker(name + kRowMark + (head.row.empty() ? "base" : head.row));
}

// Drops what an earlier page already showed of this name.
void drop_before(std::vector<Head>& heads, const std::string& row) {
  if (row.empty()) return;
  const auto first = std::find_if(heads.begin(), heads.end(), [&](const Head& head) {
    return head.row.empty() ? true : head.row.substr(1) >= row.substr(1) && row != "base";
  });
  heads.erase(heads.begin(), first);
}

class Lister {
 public:
  Lister(wire::XmlWriter& xml, const Call& call, const service::Page& page, const ListShows& shows)
      : xml_(xml),
        call_(call),
        page_(page),
        shows_(shows),
        delimiter_(call.query.get("delimiter")) {}

  // Writes the entries of one page; returns the marker of the next one, empty at the end.
  store::Result<std::string> write(const store::View& view, store::SpaceId space) {
    Names names(view, space, page_.prefix, shows_, call_.now);
    const Start start = parse_start(page_.start);
    // The marker of a later page is behind where the first one started.
    const std::string first = std::max(start.name, std::string(call_.query.get("startFrom")));
    if (!first.empty()) names.seek(first);
    std::vector<Head> heads;
    while (names.valid()) {
      const std::string name = names.name();
      if (auto taken = names.take(name, heads); !taken) return taken.error();
      const bool uncommitted = heads.empty();
      std::erase_if(heads, [&](const Head& head) { return !is_shown(shows_, call_, head); });
      if (heads.empty() && !uncommitted) continue;
      const size_t cut =
          delimiter_.empty() ? std::string::npos : name.find(delimiter_, page_.prefix.size());
      if (cut != std::string::npos) {
        if (count_ == page_.most) return service::write_marker(name);
        const std::string prefix = name.substr(0, cut + delimiter_.size());
        write_prefix_entry(xml_, call_, prefix);
        ++count_;
        names.skip_prefix(prefix);
        continue;
      }
      if (name == start.name) drop_before(heads, start.row);
      if (uncommitted) {
        if (count_ == page_.most) return service::write_marker(name);
        write_uncommitted_entry(xml_, call_, name);
        ++count_;
      }
      for (const auto& head : heads) {
        if (count_ == page_.most) return write_start(name, head);
        write_entry(xml_, call_, shows_, name, head);
        ++count_;
      }
    }
    if (auto status = names.status(); !status) return status.error();
    return std::string();
  }

 private:
  wire::XmlWriter& xml_;
  const Call& call_;
  const service::Page& page_;
  const ListShows& shows_;
  const std::string_view delimiter_;
  uint64_t count_ = 0;
};

}  // namespace

Outcome list_blobs(Call& call) {
  if (auto none = service::refuse_conditions(call); !none) co_return none.error();
  auto page = service::decode_page(call);
  if (!page) co_return page.error();
  auto include = service::decode_include(call, kIncludes);
  if (!include) co_return include.error();
  const ListShows shows = list_shows(*include);
  auto container = co_await load_container(call);
  if (!container) co_return container.error();

  wire::XmlWriter xml;
  xml.open("EnumerationResults")
      .attribute("ServiceEndpoint", call.endpoint)
      .attribute("ContainerName", call.target.container);
  service::write_page(xml, *page);
  xml.optional("Delimiter", call.query.get("delimiter")).open("Blobs");
  std::string next_marker;
  auto listed = co_await call.store().read([&](const store::View& view) -> store::Result<void> {
    auto marker = Lister(xml, call, *page, shows).write(view, container->space);
    if (!marker) return marker.error();
    next_marker = std::move(*marker);
    return {};
  });
  if (!listed) co_return service::storage_error(listed.error());
  xml.close("Blobs").element("NextMarker", next_marker).close("EnumerationResults");
  http::Reply reply(200);
  reply.header("Content-Type", "application/xml");
  reply.body = xml.take();
  co_return reply;
}

}  // namespace kyanite::blob
