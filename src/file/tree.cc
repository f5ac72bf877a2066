#include "file/tree.h"

#include <algorithm>

#include "file/fold.h"
#include "store/fields.h"

namespace kyanite::file {

using service::Call;
using wire::Code;

namespace {

// What the snapshot of `shown` has under this parent and name: the entry itself if it was written
// before, else the one former state that was current then.
store::Result<std::optional<Found>> find_shown(const store::View& view, store::SpaceId space,
                                               EntryId parent, const std::string& folded,
                                               Generation shown) {
  Found found{parent, folded, entry_key(space, parent, folded), nullptr, nullptr};
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
    if (*taken) return std::optional<Found>(std::move(found));
  }
  auto cursor = view.scan(
      store::Range::rows(space, kFormer, kSharePartition, entry_row(parent, folded) + '\0'));
  cursor->seek(former_key(space, parent, folded, shown + 1).bytes());
  if (!cursor->valid()) {
    if (auto status = cursor->status(); !status) return status.error();
    return std::optional<Found>();
  }
  auto former = cursor->record();
  if (!former) return former.error();
  auto taken = take(*former);
  if (!taken) return taken.error();
  if (!*taken) return std::optional<Found>();
  found.key = store::Key::from_bytes(std::string(cursor->key()));
  return std::optional<Found>(std::move(found));
}

Task<wire::Result<std::optional<Found>>> find(Call& call, const Tree& tree, EntryId parent,
                                              std::string folded) {
  if (tree.shown) {
    std::optional<Found> found;
    auto looked = co_await call.store().read([&](const store::View& view) -> store::Result<void> {
      auto shown = find_shown(view, tree.space(), parent, folded, *tree.shown);
      if (!shown) return shown.error();
      found = std::move(*shown);
      return {};
    });
    if (!looked) co_return service::storage_error(looked.error());
    co_return std::move(found);
  }
  Found found{parent, std::move(folded), {}, nullptr, nullptr};
  found.key = entry_key(tree.space(), parent, found.folded);
  auto loaded = co_await service::load_shared<Entry>(call, found.key);
  if (!loaded) co_return loaded.error();
  if (loaded->value == nullptr) co_return std::optional<Found>();
  found.record = std::move(loaded->record);
  found.entry = std::move(loaded->value);
  co_return std::optional<Found>(std::move(found));
}

// The root as it is before anything of it was set.
Found bare_root(const Tree& tree) {
  Entry root;
  root.directory = true;
  root.id = kRootId;
  // Made right after its share, whose ETag is another.
  root.smb.created = root.smb.written = root.smb.changed = tree.share->created;
  root.changed = Time{tree.share->created.ticks + 1};
  return {kRootId,
          {},
          entry_key(tree.space(), kRootId, {}),
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

Task<wire::Result<Way>> follow(Call& call, const Tree& tree, const Path& path) {
  Way way;
  if (path.empty()) co_return way;
  for (size_t i = 0; i + 1 < path.size(); ++i) {
    auto found = co_await find(call, tree, way.parent(), fold(path[i]));
    if (!found) co_return found.error();
    if (!*found || !(*found)->entry->directory) co_return wire::Error(Code::kParentNotFound);
    way.directories.push_back(std::move(**found));
  }
  way.name = path.back();
  way.folded = fold(way.name);
  co_return std::move(way);
}

Task<wire::Result<std::optional<Found>>> find_entry(Call& call, const Tree& tree, const Way& way) {
  auto found = co_await find(call, tree, way.parent(), way.folded);
  if (found && !*found && way.to_root()) found->emplace(bare_root(tree));
  co_return std::move(found);
}

Task<wire::Result<Located>> locate(Call& call, Kind kind) {
  auto path = decode_path(call);
  if (!path) co_return path.error();
  auto tree = co_await find_tree(call);
  if (!tree) co_return tree.error();
  auto way = co_await follow(call, *tree, *path);
  if (!way) co_return way.error();
  auto found = co_await find_entry(call, *tree, *way);
  if (!found) co_return found.error();
  if (!*found) co_return wire::Error(Code::kResourceNotFound);
  if (kind != Kind::kEither && (*found)->entry->directory != (kind == Kind::kDirectory))
    co_return wire::Error(Code::kResourceNotFound);
  co_return Located{std::move(*tree), std::move(*way), std::move(**found)};
}

Task<wire::Result<Located>> locate_for_change(Call& call, const Tree& tree, const Path& path,
                                              Kind kind, store::Attempt& attempt) {
  auto way = co_await follow(call, tree, path);
  if (!way) co_return way.error();
  std::vector<store::Key> keys{entry_key(tree.space(), way->parent(), way->folded)};
  if (auto turn = co_await attempt.wait_for(std::move(keys)); !turn)
    co_return service::storage_error(turn.error());
  auto found = co_await find_entry(call, tree, *way);
  if (!found) co_return found.error();
  const bool wants_directory = kind == Kind::kDirectory;
  if (!*found || (kind != Kind::kEither && (*found)->entry->directory != wants_directory))
    co_return wire::Error(Code::kResourceNotFound);
  co_return Located{tree, std::move(*way), std::move(**found)};
}

Task<store::Result<void>> TreeCommit::begin() {
  const auto key = state_key(space_);
  auto record = co_await store_.get(key);
  if (!record) co_return record.error();
  if (*record != nullptr) {
    auto state = store::decode<ShareState>((*record)->value);
    if (!state) co_return store::Error::kCorrupt;
    state_ = std::move(*state);
  }
  commit_.expect(key, std::move(*record));
  co_return store::Result<void>();
}

void TreeCommit::enter(const Way& way) {
  if (way.directories.empty()) return;  // The root cannot be deleted.
  const Found& parent = way.directories.back();
  commit_.expect(parent.key, parent.record);
  if (!parent.entry->deleting) return;
  Entry kept = *parent.entry;
  kept.deleting = false;
  commit_.put(parent.key, service::to_record(kept));
}

void TreeCommit::guard_whole(const Way& way) {
  for (const auto& directory : way.directories) commit_.expect(directory.key, directory.record);
}

Task<store::Result<void>> TreeCommit::preserve(const Found& before, bool content_goes_on) {
  Entry former = *before.entry;
  former.deleting = false;
  if (content_goes_on) {
    const auto guard = before.guard();
    auto copied =
        co_await content::copy(store_, commit_, place(), former.content, place(), guard, deadline_);
    if (!copied) co_return copied.error();
    former.content = *copied;
  }
  commit_.put(former_key(space_, before.parent, before.folded, state_.current),
              service::to_record(former));
  co_return store::Result<void>();
}

void TreeCommit::settle_cleared(content::ClearedRuns& runs) const {
  if (state_.snapshots.empty()) {
    runs.clear();
    return;
  }
  for (auto& run : runs) run.since = std::min(run.since, state_.current);
  content::forget_cleared(runs, state_.snapshots.front());
}

Task<store::Result<void>> TreeCommit::replace(EntryId parent, std::string_view folded,
                                              const Found* before, Entry* after,
                                              const Entry* heir) {
  const auto key = entry_key(space_, parent, folded);
  commit_.expect(key, before != nullptr ? before->record : nullptr);
  if (before != nullptr && before->record != nullptr) {
    const auto& content = before->entry->content;
    const bool goes_on = heir != nullptr && heir->content.id == content.id && content.id != 0;
    if (state_.shows(before->entry->generation, state_.current)) {
      if (auto kept = co_await preserve(*before, goes_on); !kept) co_return kept.error();
    } else if (!goes_on) {
      auto removed = co_await content::remove(store_, commit_, place(), content);
      if (!removed) co_return removed.error();
    }
  }
  if (after != nullptr) {
    after->generation = state_.current;
    settle_cleared(after->cleared);
  }
  commit_.put(key, after != nullptr ? service::to_record(*after) : nullptr);
  co_return store::Result<void>();
}

}  // namespace kyanite::file
