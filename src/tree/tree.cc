#include "tree/tree.h"

#include <utility>

#include "store/fields.h"
#include "store/stored.h"

namespace kyanite::tree {

namespace {

// What the snapshot of `shown` has under this parent and name: the entry itself if it was written
// before, else the one former state that was current then.
store::Result<std::optional<SeenEntry>> find_shown(const store::View& view, store::SpaceId space,
                                                   EntryId parent, const std::string& folded,
                                                   Generation shown) {
  SeenEntry found{parent, folded, entry_key(space, parent, folded), nullptr, nullptr};
  const auto take = [&](const store::RecordPtr& record) -> store::Result<bool> {
    auto entry = store::decode<Entry>(record->value);
    if (!entry) return store::Error::kCorrupt;
    if (entry->generation > shown) return false;
    found.record = record;
    found.entry = std::make_shared<const Entry>(std::move(*entry));
    return true;
  };
  auto record = view.get(found.key);
  if (!record) return record.error();
  if (*record != nullptr) {
    auto taken = take(*record);
    if (!taken) return taken.error();
    if (*taken) return std::optional<SeenEntry>(std::move(found));
  }
  auto cursor = view.scan(
      store::Range::rows(space, kFormer, kSharePartition, entry_row(parent, folded) + '\0'));
  cursor->seek(former_key(space, parent, folded, shown + 1).bytes());
  if (!cursor->valid()) {
    if (auto status = cursor->status(); !status) return status.error();
    return std::optional<SeenEntry>();
  }
  auto former = cursor->record();
  if (!former) return former.error();
  auto taken = take(*former);
  if (!taken) return taken.error();
  if (!*taken) return std::optional<SeenEntry>();
  found.key = store::Key::from_bytes(std::string(cursor->key()));
  return std::optional<SeenEntry>(std::move(found));
}

Task<Result<std::optional<SeenEntry>>> find(store::Occasion& occasion, const Tree& tree,
                                            EntryId parent, std::string folded) {
  if (tree.shown) {
    std::optional<SeenEntry> found;
    const store::Look look = [&](const store::View& view) -> store::Result<void> {
      auto shown = find_shown(view, tree.space, parent, folded, *tree.shown);
      if (!shown) return shown.error();
      found = std::move(*shown);
      return {};
    };
    auto looked = co_await occasion.store().look(look);
    if (!looked) co_return Error(looked.error());
    co_return std::move(found);
  }
  SeenEntry found{parent, std::move(folded), {}, nullptr, nullptr};
  found.key = entry_key(tree.space, parent, found.folded);
  auto record = co_await occasion.store().get(found.key);
  if (!record) co_return Error(record.error());
  auto shared = store::decode_shared<Entry>(std::move(*record));
  if (!shared) co_return Error(shared.error());
  if (shared->value == nullptr) co_return std::optional<SeenEntry>();
  found.record = std::move(shared->record);
  found.entry = std::move(shared->value);
  co_return std::optional<SeenEntry>(std::move(found));
}

bool is_of(Kind kind, const Entry& entry) {
  return kind == Kind::kEither || entry.directory == (kind == Kind::kDirectory);
}

// The root as it is before anything of it was set.
SeenEntry bare_root(const Tree& tree) {
  Entry root;
  root.directory = true;
  root.id = kRootId;
  // Made right after its share, whose ETag is another.
  root.smb.created = root.smb.written = root.smb.changed = tree.created;
  root.changed = Time{tree.created.ticks + 1};
  return {kRootId,
          {},
          entry_key(tree.space, kRootId, {}),
          nullptr,
          std::make_shared<const Entry>(std::move(root))};
}

}  // namespace

std::vector<EntryId> Way::ancestors() const {
  std::vector<EntryId> ids;
  if (to_root()) return ids;
  ids.push_back(kRootId);
  for (const auto& directory : directories) ids.push_back(directory.entry->id);
  return ids;
}

std::string Way::path() const {
  std::string path;
  for (const auto& directory : directories) path.append(directory.entry->name).append("/");
  return path + name;
}

Task<Result<Way>> follow(store::Occasion& occasion, const Tree& tree, const Path& path) {
  Way way;
  if (path.empty()) co_return way;
  for (size_t i = 0; i + 1 < path.size(); ++i) {
    auto found = co_await find(occasion, tree, way.parent(), stored_name(tree.names, path[i]));
    if (!found) co_return found.error();
    if (!*found || !(*found)->entry->directory) co_return Error(Reason::kNoParent);
    way.directories.push_back(std::move(**found));
  }
  way.name = path.back();
  way.folded = stored_name(tree.names, way.name);
  co_return std::move(way);
}

Task<Result<std::optional<SeenEntry>>> find_entry(store::Occasion& occasion, const Tree& tree,
                                                  const Way& way) {
  return find_child(occasion, tree, way.parent(), way.folded);
}

Task<Result<std::optional<SeenEntry>>> find_child(store::Occasion& occasion, const Tree& tree,
                                                  EntryId parent, std::string folded) {
  const bool to_root = folded.empty();
  auto found = co_await find(occasion, tree, parent, std::move(folded));
  if (found && !*found && to_root) found->emplace(bare_root(tree));
  co_return std::move(found);
}

Task<Result<std::shared_ptr<const Entry>>> parent_of(store::Occasion& occasion, const Tree& tree,
                                                     const Way& way) {
  if (!way.directories.empty()) co_return way.directories.back().entry;
  auto root = co_await find_child(occasion, tree, kRootId, {});
  if (!root) co_return root.error();
  co_return (*root)->entry;
}

Task<Result<Located>> locate(store::Occasion& occasion, const Tree& tree, const Path& path,
                             Kind kind) {
  auto way = co_await follow(occasion, tree, path);
  if (!way) co_return way.error();
  auto found = co_await find_entry(occasion, tree, *way);
  if (!found) co_return found.error();
  if (!*found || !is_of(kind, *(*found)->entry)) co_return Error(Reason::kNotFound);
  co_return Located{tree, std::move(*way), std::move(**found)};
}

Task<Result<Located>> locate_for_change(store::Attempt& attempt, const Tree& tree, const Path& path,
                                        Kind kind) {
  CHECK(!tree.shown);
  auto way = co_await follow(attempt.occasion(), tree, path);
  if (!way) co_return way.error();
  std::vector<store::Key> keys{entry_key(tree.space, way->parent(), way->folded)};
  if (auto turn = co_await attempt.wait_for(std::move(keys)); !turn) co_return Error(turn.error());
  auto found = co_await find_entry(attempt.occasion(), tree, *way);
  if (!found) co_return found.error();
  if (!*found || !is_of(kind, *(*found)->entry)) co_return Error(Reason::kNotFound);
  co_return Located{tree, std::move(*way), std::move(**found)};
}

}  // namespace kyanite::tree
