// The names that a listing walks, with what it shows of each: of flat containers and of those with
// directories.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "blob/admission.h"
#include "blob/blob.h"
#include "blob/blocks.h"
#include "blob/deleted_paths.h"
#include "blob/list_entry.h"
#include "blob/node_walk.h"
#include "store/store.h"

namespace kyanite::blob {

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
  std::optional<ListingAsker> asker = std::nullopt;
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
      if (asker_ && status_.ok()) bar(view, prefix.substr(0, above == 0 ? 0 : slash));
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
  // The directory may be another than the one that was asked about before there was a view.
  void bar(const store::View& view, std::string_view directory) {
    const auto may = may_list(view, space_, *asker_, directory);
    if (!may) status_ = may.error();
    if (may && !*may && walk_ && walk_->valid()) barred_ = walk_->path();
  }
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
  const std::optional<ListingAsker>& asker_;
  std::string barred_;
  HeadReader reader_;
  std::optional<NodeWalk> walk_;
  std::unique_ptr<store::View::Cursor> formers_;
  store::Result<void> status_;
};

}  // namespace kyanite::blob
