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
#include "blob/deleted_paths.h"
#include "blob/handlers.h"
#include "blob/list_entry.h"
#include "blob/listed_names.h"
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
    listed.asker = listing_asker(call, *container);
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
