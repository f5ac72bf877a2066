// List Blobs: GET /{container}?restype=container&comp=list
//
// A page is one snapshot. With a delimiter, names that share the part up to it fold into one
// BlobPrefix and the scan jumps over them, so the cost follows what is returned.
#include <algorithm>
#include <set>
#include <span>

#include "base/bytes.h"
#include "blob/blob.h"
#include "blob/blocks.h"
#include "blob/handlers.h"
#include "blob/list_entry.h"
#include "service/document.h"
#include "service/listing.h"
#include "wire/readable.h"
#include "wire/xml.h"

namespace kyanite::blob {

using service::Call;

namespace {

const std::set<std::string_view> kIncludes = {
    "copy", "deleted",   "metadata",           "snapshots",   "uncommittedblobs",   "versions",
    "tags", "legalhold", "immutabilitypolicy", "permissions", "deletedwithversions"};

// The heads of one name that are shown, oldest first, the blob itself last. Their memory serves
// again for the next name.
class ListedHeads {
 public:
  void clear() { count_ = 0; }
  ListedHead& add() {
    if (count_ == all_.size()) all_.emplace_back();
    return all_[count_++];
  }
  void drop_last() { --count_; }
  void sort() {
    if (count_ < 2) return;
    const auto age = [](const ListedHead& head) {
      const auto instant = parse_row(head.row);
      return head.row.empty() ? INT64_MAX : std::max(instant.snapshot, instant.version).ticks;
    };
    std::sort(all_.begin(), all_.begin() + static_cast<ptrdiff_t>(count_),
              [&](const ListedHead& a, const ListedHead& b) { return age(a) < age(b); });
  }
  std::span<const ListedHead> shown() const { return {all_.data(), count_}; }

 private:
  std::vector<ListedHead> all_;
  size_t count_ = 0;
};

// Walks the names of a container in order: those with heads and, if asked for, those that only have
// uncommitted blocks.
class Names {
 public:
  Names(const store::View& view, store::SpaceId space, const Listing& listing)
      : space_(space),
        listing_(listing),
        base_only_(!listing.shows.snapshots && !listing.shows.versions && !listing.shows.deleted),
        heads_(view.scan(store::Range::partition_prefix(space, kHeads, listing.page.prefix))) {
    if (listing.shows.uncommitted)
      blocks_ = view.scan(store::Range::partition_prefix(space, kBlocks, listing.page.prefix));
  }

  // To the first name at or after this one, or after every name with this prefix.
  void seek(std::string_view name) { move(store::partition_prefix_bytes(space_, kHeads, name)); }
  void skip_prefix(std::string_view prefix) {
    move(store::after_prefix(store::partition_prefix_bytes(space_, kHeads, prefix)));
  }
  void skip_name(std::string_view name) { move(after(name)); }

  // False after an error of either cursor: names would be left out.
  bool valid() const {
    if (heads_->valid() && (!blocks_ || blocks_->valid())) return true;
    return status().ok() && (heads_->valid() || (blocks_ && blocks_->valid()));
  }
  // Reads a name and those of its heads that are shown, and moves on to the next name. False when
  // there is nothing to show of it.
  store::Result<bool> take(std::string& name, ListedHeads& heads) {
    heads.clear();
    if (!blocks_) return take_heads(name, heads);
    std::string with_blocks;
    if (blocks_->valid()) store::split_key(blocks_->key(), with_blocks);
    if (heads_->valid()) store::split_key(heads_->key(), name);
    const bool only_blocks = !heads_->valid() || (blocks_->valid() && with_blocks < name);
    if (only_blocks) name = with_blocks;
    store::Result<bool> shown = true;
    if (!only_blocks) shown = take_heads(name, heads);
    if (blocks_->valid() && with_blocks == name) skip_name(name);
    return shown;
  }
  store::Result<void> status() const {
    if (auto status = heads_->status(); !status) return status;
    return blocks_ ? blocks_->status() : store::Result<void>();
  }

 private:
  store::Result<bool> take_heads(std::string& name, ListedHeads& heads) {
    std::string_view key = heads_->key();
    std::string_view row = store::split_key(key, name);
    lead_.assign(key.substr(0, key.size() - row.size()));
    while (true) {
      if (auto read = add_head(row, heads); !read) return read.error();
      heads_->next();
      if (!is_at_lead()) break;
      // The blob itself comes first; the rest is not wanted.
      if (base_only_) {
        heads_->seek(after(name));
        break;
      }
      row = heads_->key().substr(lead_.size());
    }
    heads.sort();
    return !heads.shown().empty();
  }
  store::Result<void> add_head(std::string_view row, ListedHeads& heads) {
    const auto value = heads_->value();
    if (!value) return value.error();
    ListedHead& head = heads.add();
    if (!read_head(listing_, row, *value, head)) return store::Error::kCorrupt;
    if (!is_shown(listing_, head)) heads.drop_last();
    return {};
  }
  bool is_at_lead() const { return heads_->valid() && heads_->key().starts_with(lead_); }
  std::string after(std::string_view name) const {
    return store::after_partition(space_, kHeads, name);
  }
  // Keys of the two families differ in one byte only.
  void move(std::string key) {
    if (key.empty()) return;
    heads_->seek(key);
    if (!blocks_) return;
    key[8] = kBlocks;
    blocks_->seek(key);
  }

  const store::SpaceId space_;
  const Listing& listing_;
  const bool base_only_;  // Snapshots and versions are jumped over instead of read.
  std::unique_ptr<store::View::Cursor> heads_;
  std::unique_ptr<store::View::Cursor> blocks_;
  std::string lead_;  // What the keys of one name's heads begin with.
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

std::string write_start(const std::string& name, const ListedHead& head) {
  return service::write_marker(name + kRowMark + (head.row.empty() ? "base" : head.row));
}

// Without what an earlier page already showed of this name.
std::span<const ListedHead> from_row(std::span<const ListedHead> heads, std::string_view row) {
  if (row.empty()) return heads;
  const auto first = std::find_if(heads.begin(), heads.end(), [&](const ListedHead& head) {
    return head.row.empty() || (row != "base" && head.row.substr(1) >= row.substr(1));
  });
  return {first, heads.end()};
}

class Lister {
 public:
  Lister(wire::XmlWriter& xml, const Listing& listing)
      : xml_(xml), entries_(xml, listing), listing_(listing) {}

  store::Result<void> write(const store::View& view, store::SpaceId space) {
    xml_.open("EnumerationResults")
        .attribute("ServiceEndpoint", listing_.endpoint)
        .attribute("ContainerName", listing_.container);
    service::write_page(xml_, listing_.page);
    xml_.optional("Delimiter", wire::readable(listing_.delimiter)).open("Blobs");
    auto next_marker = write_entries(view, space);
    if (!next_marker) return next_marker.error();
    xml_.close("Blobs").element("NextMarker", *next_marker).close("EnumerationResults");
    return {};
  }

 private:
  // Returns the marker of the next page, empty at the end.
  store::Result<std::string> write_entries(const store::View& view, store::SpaceId space) {
    const auto& page = listing_.page;
    const std::string& delimiter = listing_.delimiter;
    Names names(view, space, listing_);
    const Start start = parse_start(page.start);
    // The marker of a later page is behind where the first one started.
    const std::string& first = std::max(start.name, listing_.start_from);
    if (!first.empty()) names.seek(first);
    std::string name;
    ListedHeads heads;
    while (names.valid()) {
      auto shown = names.take(name, heads);
      if (!shown) return shown.error();
      if (!*shown) continue;
      const size_t cut =
          delimiter.empty() ? std::string::npos : name.find(delimiter, page.prefix.size());
      if (cut != std::string::npos) {
        if (count_++ == page.most) return service::write_marker(name);
        const auto prefix = std::string_view(name).substr(0, cut + delimiter.size());
        entries_.write_prefix(prefix);
        names.skip_prefix(prefix);
      } else if (heads.shown().empty()) {
        if (count_++ == page.most) return service::write_marker(name);
        entries_.write_uncommitted(name);
      } else {
        const std::string_view row = name == start.name ? start.row : std::string_view();
        for (const auto& head : from_row(heads.shown(), row)) {
          if (count_++ == page.most) return write_start(name, head);
          entries_.write(name, head);
        }
      }
    }
    if (auto status = names.status(); !status) return status.error();
    return std::string();
  }

  wire::XmlWriter& xml_;
  EntryWriter entries_;
  const Listing& listing_;
  uint64_t count_ = 0;
};

}  // namespace

Outcome list_blobs(Call& call) {
  if (auto none = service::refuse_conditions(call); !none) co_return none.error();
  auto page = service::decode_page(call);
  if (!page) co_return page.error();
  auto include = service::decode_include(call, kIncludes);
  if (!include) co_return include.error();
  auto container = co_await load_container(call);
  if (!container) co_return container.error();

  const Listing listing{std::move(*page),
                        list_shows(*include),
                        call.endpoint,
                        call.target.container,
                        std::string(call.query.get("delimiter")),
                        std::string(call.query.get("startFrom")),
                        call.version,
                        call.now};
  service::WriteDocument write = [listing, space = container->space](const store::View& view,
                                                                     wire::XmlWriter& xml) {
    return Lister(xml, listing).write(view, space);
  };
  co_return co_await service::reply_with_document(call, std::move(write));
}

}  // namespace kyanite::blob
