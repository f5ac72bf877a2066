#include "blob/hierarchy.h"

#include <array>
#include <utility>

#include "base/bytes.h"
#include "blob/admission.h"
#include "blob/heads.h"
#include "lifetime/directory.h"
#include "service/storage.h"
#include "tree/change.h"
#include "tree/names.h"

namespace kyanite::blob {

using service::Call;
using wire::Code;

store::SpaceId lake_space(std::string_view account) {
  return lifetime::directory_space("lake/" + std::string(account));
}

std::string named_partition(uint64_t directory, std::string_view name) {
  std::string partition;
  partition.reserve(8 + name.size());
  append_be64(partition, directory);
  return partition.append(name);
}

Place::Place(store::SpaceId space, std::shared_ptr<const Way> way)
    : space_(space), named_(way->named), apart_(true), way_(std::move(way)) {}

Place::Place(store::SpaceId space, std::string_view named, const Blob& blob)
    : space_(space), named_(named), apart_(blob.node.has_value()) {
  identify(blob.node_id);
}

void Place::identify(uint64_t id) { write_be64(id_.data(), id); }

uint64_t Place::id() const { return read_be64(id_.data()); }

Blob bare_root(const Container& container) {
  Blob root;
  root.created = container.created;
  root.changed = container.created;
  root.node_id = container.space;
  root.node.emplace();
  root.node->directory = true;
  root.node->access =
      auth::posix::new_root(container.root_owner.empty() ? auth::posix::kSuperuser
                                                         : std::string_view(container.root_owner));
  return root;
}

namespace {

store::Key node_key(store::SpaceId space, uint64_t directory, std::string_view name) {
  return store::Key(space, kHeads, named_partition(directory, name));
}

wire::Result<tree::Path> split(std::string_view path) {
  auto parsed = tree::parse_path(tree::kExactNames, path, true);
  if (!parsed) return wire::Error(Code::kInvalidUri);
  return std::move(*parsed);
}

// Who what this request makes belongs to.
std::string_view creator(const Call& call) {
  return call.caller.object_id.empty() ? auth::posix::kSuperuser
                                       : std::string_view(call.caller.object_id);
}

// One that nobody asked for has no content type either, as recorded.
Blob new_directory(const Call& call, const Blob& parent) {
  Blob blob;
  blob.created = blob.changed = call.now;
  blob.node_id = tree::new_id();
  blob.node.emplace();
  blob.node->directory = true;
  blob.node->access =
      auth::posix::born(parent.node->access, {.is_directory = true, .creator = creator(call)});
  return blob;
}

using Found = wire::Result<service::Shared<Blob>>;

// The head under this key if it is in memory: a path may have many.
std::optional<Found> find_at_once(Call& call, const store::Key& key) {
  auto record = call.store().peek(key);
  if (!record) return std::nullopt;
  auto shared = store::decode_shared<Blob>(std::move(*record));
  if (!shared) return Found(service::storage_error(shared.error()));
  return Found(std::move(*shared));
}

// The same for every request: it depends on nothing but the incarnation of the container. Each
// thread keeps those it used last.
std::shared_ptr<const Blob> shared_bare_root(const Container& container) {
  struct Kept {
    store::SpaceId space = 0;
    std::shared_ptr<const Blob> root;
  };
  thread_local std::array<Kept, 64> roots;
  Kept& kept = roots[container.space % roots.size()];
  if (kept.root == nullptr || kept.space != container.space)
    kept = {container.space, std::make_shared<const Blob>(bare_root(container))};
  return kept.root;
}

}  // namespace

Task<wire::Result<std::shared_ptr<const Way>>> follow(Call& call, const Container& container,
                                                      std::string_view path, Parents parents) {
  auto names = split(path);
  if (!names) co_return names.error();
  const auto space = lake_space(call.target.account);
  auto way = std::make_shared<Way>();
  way->directories.reserve(names->size() + 1);
  auto root_key = node_key(space, container.space, {});
  auto root = find_at_once(call, root_key);
  if (!root) root = co_await service::load_shared<Blob>(call, root_key);
  if (!*root) co_return root->error();
  auto& [root_record, root_blob] = **root;
  if (root_blob == nullptr) root_blob = shared_bare_root(container);
  way->directories.push_back({std::move(root_key), std::move(root_record), std::move(root_blob)});
  if (names->empty()) {
    way->named = named_partition(container.space, {});
    co_return std::shared_ptr<const Way>(std::move(way));
  }
  for (size_t i = 0; i + 1 < names->size(); ++i) {
    auto key = node_key(space, way->parent().node_id, (*names)[i]);
    if (way->made.empty()) {
      if (auto admitted = admit_through(call, way->parent()); !admitted) co_return admitted.error();
      auto found = find_at_once(call, key);
      if (!found) found = co_await service::load_shared<Blob>(call, key);
      if (!*found) co_return found->error();
      auto& [record, blob] = **found;
      if (blob != nullptr && blob->is_directory()) {
        way->directories.push_back({std::move(key), std::move(record), std::move(blob)});
        continue;
      }
      if (parents == Parents::kNeeded) co_return wire::Error(Code::kBlobNotFound);
      if (blob != nullptr) co_return wire::Error(Code::kPathConflict);
    }
    Blob made = new_directory(call, way->parent());
    way->made.push_back({std::move(key), std::move(made)});
  }
  if (auto admitted = admit_through(call, *way->directories.back().blob); !admitted)
    co_return admitted.error();
  way->name = std::move(names->back());
  way->named = named_partition(way->parent().node_id, way->name);
  co_return std::shared_ptr<const Way>(std::move(way));
}

void guard(const Way& way, bool enters, store::Commit& commit) {
  for (const auto& directory : way.directories) commit.expect(directory.key, directory.record);
  const SeenDirectory& last = way.directories.back();
  if (enters && last.blob->node->deleting) {
    Blob kept = *last.blob;
    kept.node->deleting = false;
    // Else somebody who has seen it before could mark it again as if nothing had come into it.
    ++kept.node->moves;
    commit.put(last.key, service::to_record(kept));
  }
  if (!enters) return;
  for (const auto& made : way.made) {
    commit.expect_absent(made.key);
    commit.put(made.key, service::to_record(made.blob));
  }
}

namespace {

bool is_same(const store::RecordPtr& now, const store::RecordPtr& seen) {
  return now == seen || (now != nullptr && seen != nullptr && now->value == seen->value);
}

}  // namespace

Task<wire::Result<void>> confirm(Call& call, const store::Key& key, store::RecordPtr seen) {
  auto now = co_await call.store().get(key);
  if (!now) co_return service::storage_error(now.error());
  if (!is_same(*now, seen)) co_return service::decide_again();
  co_return wire::Result<void>();
}

Task<wire::Result<void>> confirm(Call& call, const Way& way) {
  // The root stays where it is; only what it says of access control can change.
  for (size_t i = asks_paths(call) ? 0 : 1; i < way.directories.size(); ++i) {
    const SeenDirectory& seen = way.directories[i];
    if (const auto now = call.store().peek(seen.key)) {
      if (!is_same(*now, seen.record)) co_return service::decide_again();
      continue;
    }
    auto same = co_await confirm(call, seen.key, seen.record);
    if (!same) co_return same.error();
  }
  co_return wire::Result<void>();
}

void give_node(const Call& call, const Way& way, bool directory, uint64_t id, Blob& blob,
               std::optional<auth::posix::Permissions> permissions,
               std::optional<auth::posix::Permissions> umask) {
  blob.node_id = id;
  blob.node.emplace();
  blob.node->directory = directory;
  blob.node->access =
      auth::posix::born(way.parent().node->access, {directory, creator(call), permissions, umask});
}

namespace {

Task<wire::Result<void>> look_for_children(Call& call, store::SpaceId space, uint64_t directory) {
  bool empty = false;
  const auto own = named_partition(directory, {});
  const auto range = store::Range::partition_prefix(space, kHeads, own);
  const store::Look look = [&](const store::View& view) -> store::Result<void> {
    auto cursor = view.scan(range);
    empty = !cursor->valid();
    return cursor->status();
  };
  auto looked = co_await call.store().look(look);
  if (!looked) co_return service::storage_error(looked.error());
  if (!empty) co_return wire::Error(Code::kDirectoryNotEmpty);
  co_return wire::Result<void>();
}

}  // namespace

Task<wire::Result<void>> require_empty(Call& call, const SeenDirectory& found) {
  // A full directory is refused without being written to.
  auto empty = co_await look_for_children(call, found.key.space(), found.blob->node_id);
  if (!empty || found.blob->node->deleting) co_return std::move(empty);
  Blob marked = *found.blob;
  marked.node->deleting = true;
  store::Commit commit;
  commit.expect(found.key, found.record);
  commit.put(found.key, service::to_record(marked));
  auto done = co_await call.store().commit(std::move(commit));
  if (!done) co_return service::storage_error(done.error());
  co_return service::decide_again();
}

}  // namespace kyanite::blob
