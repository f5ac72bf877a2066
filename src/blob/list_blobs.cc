// List Blobs: GET /{container}?restype=container&comp=list
//
// A page is one snapshot. With a delimiter, names that share the part up to it fold into one
// BlobPrefix and the scan jumps over them, so the cost follows what is returned.
#include <algorithm>
#include <optional>
#include <set>
#include <span>

#include "auth/authorize.h"
#include "base/bytes.h"
#include "blob/admission.h"
#include "blob/blob.h"
#include "blob/blocks.h"
#include "blob/deleted_paths.h"
#include "blob/handlers.h"
#include "blob/list_entry.h"
#include "blob/node_walk.h"
#include "transfer/document.h"
#include "transfer/listing.h"
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

// What a listing is of.
struct ListedSpace {
  store::SpaceId space = 0;
  uint64_t root = 0;  // Of a container with directories: the id of its root.
  // Who is held to access control of paths; nobody: all is listed.
  std::optional<auth::posix::Identity> asker = std::nullopt;
};

// Walks the names of a container in order: those with heads and, if asked for, those that only have
// uncommitted blocks.
class Names {
 public:
  static constexpr bool kHasDirectories = false;

  // From the name `first` on.
  Names(const store::View& view, const ListedSpace& listed, const Listing& listing,
        std::string_view first)
      : space_(listed.space),
        listing_(listing),
        reader_(listing),
        base_only_(!listing.shows.snapshots && !listing.shows.versions && !listing.shows.deleted &&
                   !listing.shows.deleted_with_versions),
        heads_(view.scan(range(kHeads, first))) {
    if (listing.shows.uncommitted) blocks_ = view.scan(range(kBlocks, first));
  }

  // To the first name after every name with this prefix.
  void skip_prefix(std::string_view prefix) {
    move(store::after_prefix(store::partition_prefix_bytes(space_, kHeads, prefix)));
  }
  void skip_name(std::string_view name) { move(after(name)); }

  // False after an error of either cursor: names would be left out.
  bool valid() const {
    if (heads_->valid() && (!blocks_ || blocks_->valid())) return true;
    return status().ok() && (heads_->valid() || (blocks_ && blocks_->valid()));
  }
  // The next name. Only while valid.
  std::string peek() const {
    std::string name, with_blocks;
    if (heads_->valid()) store::split_key(heads_->key(), name);
    if (!blocks_ || !blocks_->valid()) return name;
    store::split_key(blocks_->key(), with_blocks);
    return heads_->valid() ? std::min(name, with_blocks) : with_blocks;
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
    auto shown = only_blocks ? store::Result<bool>(has_block()) : take_heads(name, heads);
    if (blocks_->valid() && with_blocks == name) skip_name(name);
    return shown;
  }
  store::Result<void> status() const {
    if (auto status = heads_->status(); !status) return status;
    return blocks_ ? blocks_->status() : store::Result<void>();
  }

 private:
  // Whether the name that the blocks are at has any: the mark may be all that is left.
  bool has_block() {
    if (!is_blocks_mark(blocks_->key())) return true;
    lead_.assign(blocks_->key());
    blocks_->next();
    return blocks_->valid() && blocks_->key().starts_with(lead_);
  }
  store::Result<bool> take_heads(std::string& name, ListedHeads& heads) {
    std::string_view key = heads_->key();
    std::string_view row = store::split_key(key, name);
    lead_.assign(key.substr(0, key.size() - row.size()));
    last_version_.reset();
    has_base_ = false;
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
    if (last_version_ && !has_base_) {
      ListedHead& head = heads.add() = std::move(*last_version_);
      head.row.clear();
      head.versions_only = true;
    }
    heads.sort();
    return !heads.shown().empty();
  }
  store::Result<void> add_head(std::string_view row, ListedHeads& heads) {
    const auto value = heads_->value();
    if (!value) return value.error();
    ListedHead& head = heads.add();
    head.versions_only = false;
    if (!reader_.read(row, *value, head)) return store::Error::kCorrupt;
    const bool shown = is_shown(listing_, head);
    if (listing_.shows.deleted_with_versions) {
      has_base_ = has_base_ || (row.empty() && shown);
      if (parse_row(row).version.set()) last_version_ = head;
    }
    if (!shown) heads.drop_last();
    return {};
  }
  store::Range range(store::Family family, std::string_view first) const {
    auto range = store::Range::partition_prefix(space_, family, listing_.page.prefix);
    range.start_at(store::partition_prefix_bytes(space_, family, first));
    return range;
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
  HeadReader reader_;
  const bool base_only_;  // Snapshots and versions are jumped over instead of read.
  std::unique_ptr<store::View::Cursor> heads_;
  std::unique_ptr<store::View::Cursor> blocks_;
  std::string lead_;  // What the keys of one name's heads begin with.
  // Of one name, where deleted blobs with versions are asked for.
  std::optional<ListedHead> last_version_;
  bool has_base_ = false;
};

// The same of a container with directories, in the order of paths; directories are names as well.
class Paths {
 public:
  static constexpr bool kHasDirectories = true;

  // From the path `first` on.
  Paths(const store::View& view, const ListedSpace& listed, const Listing& listing,
        std::string_view first)
      : space_(listed.space), listing_(listing), asker_(listed.asker), reader_(listing) {
    const std::string_view prefix = listing.page.prefix;
    const size_t slash = prefix.rfind('/');
    const size_t above = slash == std::string_view::npos ? 0 : slash + 1;
    auto directory =
        find_directory(view, space_, listed.root, prefix.substr(0, above == 0 ? 0 : slash));
    if (!directory) {
      status_ = directory.error();
    } else if (*directory) {
      walk_.emplace(view, space_, **directory, std::string(prefix.substr(0, above)),
                    std::string(prefix.substr(above)),
                    listing.shows.uncommitted ? NodeWalk::Uncommitted::kSeen
                                              : NodeWalk::Uncommitted::kLeftOut);
      start(prefix.substr(0, above), first);
    }
    if (listing.shows.snapshots) formers_ = view.scan(store::Range::family(space_, kHeads));
  }

  bool valid() const { return status_.ok() && walk_ && walk_->valid(); }
  std::string peek() const { return walk_->path(); }
  // Set before a directory that must not be listed: the page ends, and the next one is refused.
  const std::string& barred() const { return barred_; }
  store::Result<bool> take(std::string& name, ListedHeads& heads) {
    heads.clear();
    name = walk_->path();
    if (walk_->uncommitted()) {
      walk_->next();
      return true;
    }
    auto base = read_base(heads);
    if (!base) return base.error();
    const ListedHead& head = **base;
    const bool is_directory = head.blob.is_directory();
    const uint64_t id = head.blob.node_id;
    if (!is_shown(listing_, head)) heads.drop_last();
    if (formers_ && !is_directory) {
      if (auto read = add_formers(id, heads); !read) return read.error();
    }
    if (is_directory && listing_.delimiter.empty()) {
      if (asker_ && !may_list(*asker_, head.blob)) barred_ = name + '/';
      walk_->enter(id);
    } else {
      walk_->next();
    }
    return !heads.shown().empty();
  }
  store::Result<void> status() const { return !status_.ok() || !walk_ ? status_ : walk_->status(); }

 private:
  void start(std::string_view top, std::string_view first) {
    if (first.starts_with(top)) {
      ListedHeads heads;
      status_ = start_at(*walk_, first.substr(top.size()), [&]() -> store::Result<uint64_t> {
        heads.clear();
        if (walk_->uncommitted()) return uint64_t{0};
        auto base = read_base(heads);
        if (!base) return base.error();
        if (!(*base)->blob.is_directory()) return uint64_t{0};
        if (asker_ && !may_list(*asker_, (*base)->blob)) barred_ = walk_->path() + '/';
        return (*base)->blob.node_id;
      });
    } else if (path_before(top, first)) {
      walk_.reset();  // All of it is before.
    }
  }
  store::Result<const ListedHead*> read_base(ListedHeads& heads) {
    const auto value = walk_->value();
    if (!value) return value.error();
    ListedHead& head = heads.add();
    head.versions_only = false;
    if (!reader_.read({}, *value, head)) return store::Error::kCorrupt;
    return &head;
  }
  // Snapshots lie under the id of the file.
  store::Result<void> add_formers(uint64_t id, ListedHeads& heads) {
    const auto rows = store::Range::rows(space_, kHeads, named_partition(id, {}), "s");
    std::string partition;
    for (formers_->seek(rows.from()); formers_->valid() && rows.contains(formers_->key());
         formers_->next()) {
      const auto value = formers_->value();
      if (!value) return value.error();
      ListedHead& head = heads.add();
      head.versions_only = false;
      if (!reader_.read(store::split_key(formers_->key(), partition), *value, head))
        return store::Error::kCorrupt;
      if (!is_shown(listing_, head)) heads.drop_last();
    }
    heads.sort();
    return formers_->status();
  }

  const store::SpaceId space_;
  const Listing& listing_;
  const std::optional<auth::posix::Identity>& asker_;
  std::string barred_;
  HeadReader reader_;
  std::optional<NodeWalk> walk_;
  std::unique_ptr<store::View::Cursor> formers_;
  store::Result<void> status_;
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
  return name + kRowMark + (head.row.empty() ? "base" : head.row);
}

// Without what an earlier page already showed of this name.
std::span<const ListedHead> from_row(std::span<const ListedHead> heads, std::string_view row) {
  if (row.empty()) return heads;
  const auto first = std::find_if(heads.begin(), heads.end(), [&](const ListedHead& head) {
    return head.row.empty() || (row != "base" && head.row.substr(1) >= row.substr(1));
  });
  return {first, heads.end()};
}

// The marker of a later page is behind where the first one started.
std::string_view first_of(const Start& start, const Listing& listing) {
  const std::string_view marked = start.name, from = listing.start_from;
  const bool later = listing.hierarchical ? path_before(marked, from) : marked < from;
  return later ? from : marked;
}

// Writes a part of a page.
template <class AllNames>
class Lister {
 public:
  Lister(const transfer::Part& part, const ListedSpace& listed, const Listing& listing, Start start,
         uint64_t count)
      : part_(part),
        listing_(listing),
        start_(std::move(start)),
        names_(part.view, listed, listing, first_of(start_, listing)),
        entries_(part.xml, listing),
        count_(count) {}

  store::Result<transfer::Progress> write() {
    while (names_.valid() && !is_barred()) {
      auto shown = names_.take(name_, heads_);
      if (!shown) return shown.error();
      if (*shown) {
        if (auto next = write_name()) return transfer::Progress{std::move(*next), count_, true};
      }
      if (part_.is_enough() && names_.valid())
        return transfer::Progress{names_.peek(), count_, false};
    }
    if (auto status = names_.status(); !status) return status.error();
    if constexpr (AllNames::kHasDirectories)
      return transfer::Progress{names_.barred(), count_, true};
    return transfer::Progress{"", count_, true};
  }

 private:
  bool is_barred() const {
    if constexpr (AllNames::kHasDirectories) return !names_.barred().empty();
    return false;
  }
  // Returns where the next page begins if this one is full before all is written.
  std::optional<std::string> write_name() {
    if constexpr (AllNames::kHasDirectories) {
      if (!listing_.delimiter.empty() && !heads_.shown().empty() &&
          heads_.shown().back().blob.is_directory()) {
        if (!may_add()) return name_;
        entries_.write_directory(name_ + '/', heads_.shown().back());
        return std::nullopt;
      }
      return write_whole();
    } else {
      return fold_or_write();
    }
  }
  std::optional<std::string> fold_or_write() {
    const std::string& delimiter = listing_.delimiter;
    const size_t cut =
        delimiter.empty() ? std::string::npos : name_.find(delimiter, listing_.page.prefix.size());
    if (cut == std::string::npos) return write_whole();
    if (!may_add()) return name_;
    const auto prefix = std::string_view(name_).substr(0, cut + delimiter.size());
    entries_.write_prefix(prefix);
    names_.skip_prefix(prefix);
    return std::nullopt;
  }
  std::optional<std::string> write_whole() {
    if (heads_.shown().empty()) {
      if (!may_add()) return name_;
      entries_.write_uncommitted(name_);
    } else {
      const std::string_view row = name_ == start_.name ? start_.row : std::string_view();
      for (const auto& head : from_row(heads_.shown(), row)) {
        if (!may_add()) return write_start(name_, head);
        entries_.write(name_, head);
      }
    }
    return std::nullopt;
  }
  bool may_add() {
    if (count_ == listing_.page.most) return false;
    ++count_;
    return true;
  }

  const transfer::Part& part_;
  const Listing& listing_;
  const Start start_;
  AllNames names_;
  EntryWriter entries_;
  uint64_t count_;
  std::string name_;  // The one being written, and its heads.
  ListedHeads heads_;
};

class BlobList final : public transfer::Document {
 public:
  BlobList(Listing listing, ListedSpace listed) : listing_(std::move(listing)), listed_(listed) {}

  void open(wire::XmlWriter& xml) const override { open_list(xml, listing_); }
  store::Result<transfer::Progress> write_entries(const transfer::Part& part,
                                                  const transfer::Progress& from) const override {
    const std::string& start = from.next.empty() ? listing_.page.start : from.next;
    if (listing_.hierarchical)
      return Lister<Paths>(part, listed_, listing_, parse_start(start), from.entries).write();
    return Lister<Names>(part, listed_, listing_, parse_start(start), from.entries).write();
  }
  void close(wire::XmlWriter& xml, const transfer::Progress& end) const override {
    close_list(xml, end.next_marker());
  }

 private:
  const Listing listing_;
  const ListedSpace listed_;
};

// Where there are directories, only their slash folds names.
wire::Result<void> check_delimiter(const Listing& listing) {
  if (!listing.hierarchical || listing.delimiter.empty() || listing.delimiter == "/") return {};
  return wire::invalid_query("delimiter", listing.delimiter,
                             "With hierarchical namespace the delimiter is a slash.");
}

// Of deleted blobs alone there are lists where paths are kept when they are deleted.
wire::Result<bool> decode_only_deleted(const Call& call, const Listing& listing) {
  constexpr std::string_view kOnly = "showonly";
  const auto text = call.query.find(kOnly);
  if (!text || text->empty()) return false;
  if (!listing.hierarchical || !equals_ignoring_case(*text, "deleted"))
    return wire::invalid_query(kOnly, *text);
  return true;
}

// Whoever is held to access control of paths must be able to list the directory that the prefix is
// in, and those that lead to where the page begins.
Task<wire::Result<void>> admit_start(Call& call, const Container& container,
                                     const Listing& listing) {
  const std::string_view prefix = listing.page.prefix;
  const size_t slash = prefix.rfind('/');
  const std::string_view directory = slash == std::string_view::npos ? "" : prefix.substr(0, slash);
  const Start start = parse_start(listing.page.start);
  co_return co_await admit_listing(call, container, directory, first_of(start, listing));
}

}  // namespace

Outcome list_blobs(Call& call) {
  if (auto none = headers::refuse_conditions(call); !none) co_return none.error();
  auto page = transfer::decode_page(call);
  if (!page) co_return page.error();
  auto include = transfer::decode_include(call, kIncludes);
  if (!include) co_return include.error();
  const auto tags_allowed = auth::authorize_tags(call.caller);
  if (!tags_allowed && include->contains("tags")) co_return tags_allowed.error();
  auto container = co_await load_container(call);
  if (!container) co_return container.error();

  Listing listing{std::move(*page),
                  list_shows(*include),
                  call.endpoint,
                  call.target.container,
                  std::string(call.query.get("delimiter")),
                  std::string(call.query.get("startFrom")),
                  call.version,
                  call.now,
                  container->hierarchical};
  if (auto valid = check_delimiter(listing); !valid) co_return valid.error();
  auto only_deleted = decode_only_deleted(call, listing);
  if (!only_deleted) co_return only_deleted.error();
  ListedSpace listed = container->hierarchical
                           ? ListedSpace{lake_space(call.target.account), container->space}
                           : ListedSpace{container->space, 0};
  if (container->hierarchical && asks_paths(call)) {
    // Of what was deleted no access control says who may know of it.
    if (*only_deleted) co_return not_admitted();
    auto admitted = co_await admit_start(call, *container, listing);
    if (!admitted) co_return admitted.error();
    listed.asker = auth::identity_of(call.caller);
  }
  listing.shows.tag_count = tags_allowed.ok() && call.version >= wire::kBlobTags;
  if (*only_deleted) {
    auto list = deleted_paths_document(std::move(listing), listed.space, listed.root);
    co_return co_await transfer::reply_with_document(call, std::move(list));
  }
  auto list = std::make_unique<const BlobList>(std::move(listing), listed);
  co_return co_await transfer::reply_with_document(call, std::move(list));
}

}  // namespace kyanite::blob
