#include "blob/deleted_paths.h"
#include "blob/admission.h"

#include <algorithm>
#include <utility>

#include "base/bytes.h"
#include "blob/dead_trees.h"
#include "blob/heads.h"
#include "tree/names.h"
#include "wire/date.h"
#include "wire/query.h"
#include "wire/readable.h"

namespace kyanite::blob {

using service::Call;
using wire::Code;

namespace {

constexpr int64_t kFileTimeEpochTicks = 504'911'232'000'000'000;
constexpr std::string_view kSource = "x-ms-undelete-source";
constexpr std::string_view kIdParameter = "deletionid";

// In keys zero stands for the slash, so that they are in the order of paths. No name holds it.
constexpr char kKeySlash = '\0';

std::string_view without_last_slashes(std::string_view path) {
  while (path.ends_with('/')) path.remove_suffix(1);
  return path;
}

std::string deleted_partition(uint64_t root, std::string_view path) {
  std::string partition = named_partition(root, path);
  std::replace(partition.begin() + sizeof(uint64_t), partition.end(), '/', kKeySlash);
  return partition;
}

std::string deleted_row(Time deleted) {
  std::string row;
  append_be64(row, static_cast<uint64_t>(deleted.ticks));
  return row;
}

uint64_t root_of(const Way& way) { return way.directories.front().blob->node_id; }

}  // namespace

uint64_t deletion_id(Time deleted) {
  return static_cast<uint64_t>(deleted.ticks - kFileTimeEpochTicks);
}

std::optional<Time> parse_deletion_id(std::string_view text) {
  const auto id = parse_uint(text);
  if (!id || *id > static_cast<uint64_t>(INT64_MAX - kFileTimeEpochTicks)) return {};
  return Time{static_cast<int64_t>(*id) + kFileTimeEpochTicks};
}

void encode_deletion(http::Reply& reply, bool permanent, Time kept) {
  reply.header("x-ms-delete-type-permanent", permanent && !kept.set() ? "true" : "false");
  if (kept.set()) reply.header("x-ms-deletion-id", deletion_id(kept));
}

store::Key deleted_path_key(store::SpaceId space, uint64_t root, std::string_view path,
                            Time deleted) {
  return store::Key(space, kDeletedPaths, deleted_partition(root, path), deleted_row(deleted));
}

Task<wire::Result<bool>> keep_deleted_path(Call& call, Change& change) {
  auto properties = co_await account::load_properties(call);
  if (!properties) co_return properties.error();
  const auto& retention = (*properties)->delete_retention;
  if (!retention.enabled) co_return false;
  const auto path = without_last_slashes(call.target.object);
  Blob kept = *change.before;
  kept.lease = {};
  kept.node->deleting = false;
  kept.deleted = call.now;
  kept.removal = after_seconds(call.now, int64_t{retention.days} * 24 * 3600);
  store::Key key;
  for (int tries = 0; tries < store::kMaxTries; ++tries, ++kept.deleted.ticks) {
    key = deleted_path_key(change.place.space(), root_of(*change.place.way()), path, kept.deleted);
    auto taken = co_await call.store().get(key);
    if (!taken) co_return service::storage_error(taken.error());
    if (*taken == nullptr) break;
  }
  change.commit.expect_absent(key);
  change.commit.put(key, service::to_record(kept));
  change.deleted = kept.deleted;
  co_return true;
}

namespace {

// What is to come back: a path and, if named, one of its deletions.
struct Source {
  std::string path;
  std::optional<Time> deleted;
};

wire::Result<Source> decode_source(const Call& call) {
  Source source{std::string(without_last_slashes(call.target.object)), {}};
  const auto text = call.headers().find(kSource);
  if (!text || text->empty()) return source;
  const size_t mark = text->find('?');
  auto path = wire::percent_decode(text->substr(0, mark));
  if (!path) return wire::invalid_header(kSource, *text);
  std::string_view named = without_last_slashes(*path);
  while (named.starts_with('/')) named.remove_prefix(1);
  if (!named.empty()) source.path = named;
  if (mark == std::string_view::npos) return source;
  const auto query = wire::Query::parse(text->substr(mark + 1));
  if (!query) return wire::invalid_header(kSource, *text);
  source.deleted = parse_deletion_id(query->get(kIdParameter));
  if (!source.deleted) return wire::invalid_header(kSource, *text);
  return source;
}

struct Kept {
  store::Key key;
  store::RecordPtr record;
  Blob blob;
};

// The deletion that is named, or the last one.
Task<wire::Result<Kept>> find_kept(Call& call, store::SpaceId space, uint64_t root,
                                   const Source& source) {
  Kept kept;
  const std::string row = source.deleted ? deleted_row(*source.deleted) : std::string();
  const auto range =
      store::Range::rows(space, kDeletedPaths, deleted_partition(root, source.path), row);
  const store::See see = [&](const store::View::Cursor& cursor) -> store::Result<bool> {
    auto record = cursor.record();
    if (!record) return record.error();
    auto blob = store::decode<Blob>((*record)->value);
    if (!blob || !blob->node) return store::Error::kCorrupt;
    // What was kept long enough is gone, even where it was not cleared away yet.
    if (blob->removal <= call.now) return true;
    kept = {store::Key::from_bytes(std::string(cursor.key())), *record, std::move(*blob)};
    return true;
  };
  auto looked = co_await store::scan(call.store(), range, see, call.deadline);
  if (!looked) co_return service::storage_error(looked.error());
  if (kept.record == nullptr) co_return wire::Error(Code::kBlobNotFound);
  co_return std::move(kept);
}

}  // namespace

Task<wire::Result<http::Reply>> undelete_path(Call& call, const Container& container) {
  auto source = decode_source(call);
  if (!source) co_return source.error();
  // What lay elsewhere is beyond whoever does not reach the whole container.
  const bool reaches_all =
      !asks_paths(call) && (!call.caller.is_sas() || call.caller.scope == auth::Scope::kAccount ||
                            call.caller.scope == auth::Scope::kContainer);
  if (!reaches_all && source->path != without_last_slashes(call.target.object))
    co_return not_admitted();
  Blob restored;
  auto decide = [&](store::Attempt& attempt) -> Task<wire::Result<void>> {
    auto place = co_await find_place(call, container, Parents::kNeeded, attempt);
    if (!place) co_return place.error();
    if (place->way()->to_root()) co_return wire::Error(Code::kBlobAlreadyExists);
    if (auto admitted = admit(call, *place->way(), nullptr); !admitted) co_return admitted.error();
    auto kept = co_await find_kept(call, place->space(), container.space, *source);
    if (!kept) co_return kept.error();
    const auto key = head_key(*place);
    auto found = co_await service::load<Blob>(call, key);
    if (!found) co_return found.error();
    if (found->value && is_visible(*found->value, call.now)) {
      wire::Error exists(Code::kBlobAlreadyExists);
      co_return co_await refused(call, *place, found->record, std::move(exists));
    }
    store::Commit& commit = attempt.commit;
    guard(*place->way(), true, commit);
    commit.expect(key, found->record);
    commit.expect(kept->key, kept->record);
    commit.remove(kept->key);
    if (found->value) bury_tree(place->space(), found->value->node_id, call.now, commit);
    restored = std::move(kept->blob);
    restored.deleted = restored.removal = {};
    commit.put(key, service::to_record(restored));
    co_return wire::Result<void>();
  };
  if (auto done = co_await store::transact(call, decide); !done) co_return done.error();
  http::Reply reply(200);
  reply.header("x-ms-creation-time", wire::http_date(restored.created));
  reply.header("x-ms-resource-type", resource_type(restored));
  co_return reply;
}

namespace {

// Starts of pages are the bytes of keys behind the id of the root: the path, and the deletion in
// eight bytes.
class DeletedList final : public transfer::Document {
 public:
  DeletedList(Listing listing, store::SpaceId space, uint64_t root)
      : listing_(std::move(listing)), space_(space), root_(root) {}

  void open(wire::XmlWriter& xml) const override { open_list(xml, listing_); }
  store::Result<transfer::Progress> write_entries(const transfer::Part& part,
                                                  const transfer::Progress& from) const override {
    const std::string& start = from.next.empty() ? listing_.page.start : from.next;
    auto range = store::Range::partition_prefix(space_, kDeletedPaths,
                                                deleted_partition(root_, listing_.page.prefix));
    if (start.size() > sizeof(uint64_t)) {
      const std::string_view path = std::string_view(start).substr(0, start.size() - 8);
      range.start_at(store::Key(space_, kDeletedPaths, named_partition(root_, path),
                                std::string_view(start).substr(path.size()))
                         .bytes());
    }
    HeadReader reader(listing_);
    EntryWriter entries(part.xml, listing_);
    ListedHead head;
    std::string partition;
    uint64_t count = from.entries;
    const auto cursor = part.view.scan(range);
    while (cursor->valid()) {
      const std::string_view row = store::split_key(cursor->key(), partition);
      if (row.size() != sizeof(uint64_t)) return store::Error::kCorrupt;
      const std::string next = partition.substr(sizeof(uint64_t)).append(row);
      if (part.is_enough() && count > from.entries) return transfer::Progress{next, count, false};
      const auto value = cursor->value();
      if (!value) return value.error();
      if (!reader.read({}, *value, head)) return store::Error::kCorrupt;
      if (head.blob.removal <= listing_.now) {
        cursor->next();
        continue;
      }
      if (count == listing_.page.most) return transfer::Progress{next, count, true};
      ++count;
      std::string path = partition.substr(sizeof(uint64_t));
      std::replace(path.begin(), path.end(), kKeySlash, '/');
      const size_t cut = listing_.delimiter.empty() ? std::string::npos
                                                    : path.find('/', listing_.page.prefix.size());
      if (cut == std::string::npos) {
        const Time deleted{static_cast<int64_t>(read_be64(row.data()))};
        entries.write_deleted(path, deletion_id(deleted), head);
        cursor->next();
      } else {
        entries.write_prefix(std::string_view(path).substr(0, cut + 1));
        cursor->seek(store::after_prefix(store::partition_prefix_bytes(
            space_, kDeletedPaths, deleted_partition(root_, path.substr(0, cut + 1)))));
      }
    }
    if (auto status = cursor->status(); !status) return status.error();
    return transfer::Progress{"", count, true};
  }
  void close(wire::XmlWriter& xml, const transfer::Progress& end) const override {
    close_list(xml, end.next_marker());
  }

 private:
  const Listing listing_;
  const store::SpaceId space_;
  const uint64_t root_;
};

}  // namespace

std::unique_ptr<const transfer::Document> deleted_paths_document(Listing listing,
                                                                 store::SpaceId space,
                                                                 uint64_t root) {
  return std::make_unique<const DeletedList>(std::move(listing), space, root);
}

}  // namespace kyanite::blob
