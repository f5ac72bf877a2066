#include "tree/opened.h"

#include <optional>
#include <utility>
#include <vector>

#include "store/transact.h"
#include "tree/announce.h"
#include "tree/change.h"
#include "tree/drafts.h"
#include "tree/tree_commit.h"

namespace kyanite::tree {

std::string folded_name(const Tree& tree, std::string_view path) {
  const size_t slash = path.rfind('/');
  return stored_name(tree.names, slash == std::string_view::npos ? path : path.substr(slash + 1));
}

namespace {
// Nobody knows of some renames whether they were done, until the file is found there.
Task<Result<std::optional<SeenEntry>>> find_elsewhere(store::Occasion& occasion, Opened& opened) {
  const auto places = opened.tree.open_files->drafts().perhaps_at(opened.file);
  for (const auto& place : places) {
    const std::string folded = folded_name(opened.tree, place.path);
    auto found = co_await find_child(occasion, opened.tree, place.parent(), folded);
    if (!found) co_return found.error();
    if (!*found || (*found)->entry->id != opened.file.id) continue;
    opened.parent = place.parent();
    opened.folded = folded;
    opened.path = place.path;
    co_return std::move(found);
  }
  co_return std::optional<SeenEntry>();
}
}  // namespace

Task<Result<SeenEntry>> find_opened(store::Occasion& occasion, Opened& opened) {
  while (true) {
    const uint64_t moves =
        opened.moves;  // Where it is looked for, whatever others learn meanwhile.
    auto found = co_await find_child(occasion, opened.tree, opened.parent, opened.folded);
    if (!found) co_return found.error();
    if (*found && (*found)->entry->id == opened.file.id) co_return std::move(**found);
    if (opened.handle == 0) co_return Error(Refusal::kNoSuchHandle);
    // Somebody moved it. Once that is over the table says where it went.
    co_await opened.tree.open_files->wait_for_rename(opened.file);
    // Before the table is asked: a rename that is over tells it first.
    auto elsewhere = co_await find_elsewhere(occasion, opened);
    if (!elsewhere) co_return elsewhere.error();
    if (*elsewhere) co_return std::move(**elsewhere);
    auto handle = opened.tree.open_files->find(opened.handle);
    if (!handle || handle->moves == moves) co_return Error(Refusal::kNoSuchHandle);
    opened.moves = handle->moves;
    opened.parent = handle->parent();
    opened.folded = folded_name(opened.tree, handle->path);
    opened.path = std::move(handle->path);
  }
}

Task<Result<Entry>> state_of(store::Occasion& occasion, Opened& opened) {
  Drafts& drafts = opened.tree.open_files->drafts();
  // What is not stored is looked at first: what is stored meanwhile is then seen twice, not never.
  const auto draft = opened.handle == 0 ? std::nullopt : drafts.look(opened.file);
  auto found = co_await find_opened(occasion, opened);
  if (!found) co_return found.error();
  Entry entry = *found->entry;
  if (draft) draft->lay_over(entry, occasion.clock().moment());
  co_return std::move(entry);
}

Task<Result<Entry>> change_opened(store::Occasion& occasion, Opened& opened,
                                  const OpenedEdit& edit) {
  if (opened.handle == 0) co_return Error(Reason::kShownOnly);
  OpenFiles& table = *opened.tree.open_files;
  Entry entry;
  std::shared_ptr<const Entry> before;
  auto decide = [&](store::Attempt& attempt) -> Task<Result<void>> {
    std::vector<store::Key> keys{entry_key(opened.tree.space, opened.parent, opened.folded)};
    if (auto turn = co_await attempt.wait_for(std::move(keys)); !turn)
      co_return Error(turn.error());
    if (auto settled = co_await table.drafts().settle(opened.file); !settled)
      co_return settled.error();
    auto found = co_await find_opened(occasion, opened);
    if (!found) co_return found.error();
    TreeCommit commit(attempt, opened.tree.space, opened.tree.usage);
    if (auto begun = co_await commit.begin(); !begun) co_return Error(begun.error());
    before = found->entry;
    entry = *before;
    if (auto edited = co_await edit(entry, attempt.commit); !edited) co_return edited.error();
    touch(entry, occasion.now);
    auto replaced = co_await commit.replace(opened.parent, opened.folded, &*found, &entry, &entry);
    if (!replaced) co_return Error(replaced.error());
    co_return Result<void>();
  };
  if (auto done = co_await store::transact(occasion, decide); !done) co_return done.error();
  if (is_watched(opened.tree)) {
    if (const auto handle = table.find(opened.handle))
      announce_changed(opened.tree, {handle->ancestors, handle->path}, *before, entry);
  }
  co_return std::move(entry);
}

}  // namespace kyanite::tree
