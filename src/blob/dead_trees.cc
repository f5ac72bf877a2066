#include "blob/dead_trees.h"

#include <algorithm>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "blob/heads.h"
#include "blob/hierarchy.h"
#include "content/graves.h"
#include "jobs/walk.h"
#include "service/storage.h"
#include "store/fields.h"

namespace kyanite::blob {

namespace {

constexpr int64_t kRestSeconds = 5;
constexpr uint64_t kRecordsPerStep = 10'000;
constexpr size_t kChildrenTogether = 200;
constexpr size_t kNotesTogether = 200;

// Of what lies under the id of a file,
constexpr store::Family kOwnFamilies[] = {content::kContentFamily, kBlockLists, kAppended, kHeads};
// and of what lies in a directory, or was deleted below a root and is kept.
constexpr store::Family kChildFamilies[] = {kHeads, kDeletedPaths};

struct DeadTree {
  Time deleted;
  template <class Io>
  void fields(Io& io) {
    io(1, deleted);
  }
};

store::Key dead_key(store::SpaceId space, std::string_view own) {
  return store::Key(space, kDeadTrees, own);
}

// What lies in a directory, or was deleted from a file system and is kept.
struct Child {
  store::Key key;
  store::RecordPtr record;
  Blob blob;
};

// Some of what lies in the directory whose own partition this is; for a root also of what was
// deleted below it.
Task<store::Result<std::vector<Child>>> some_children(jobs::Step& step, store::SpaceId space,
                                                      const std::string& own, store::Family family,
                                                      size_t most = kChildrenTogether) {
  std::vector<Child> children;
  const auto range = store::Range::partition_prefix(space, family, own);
  const store::Look look = [&](const store::View& view) -> store::Result<void> {
    children.clear();
    auto cursor = view.scan(range);
    for (; cursor->valid() && children.size() < most; cursor->next()) {
      auto record = cursor->record();
      if (!record) return record.error();
      auto blob = store::decode<Blob>((*record)->value);
      if (!blob) return store::Error::kCorrupt;
      children.push_back(
          {store::Key::from_bytes(std::string(cursor->key())), *record, std::move(*blob)});
    }
    return cursor->status();
  };
  if (auto looked = co_await step.store().look(look); !looked) co_return looked.error();
  co_return std::move(children);
}

// Removes the records of a range that nothing leads to. False: there are some left.
Task<store::Result<bool>> erase(jobs::Step& step, store::Range range) {
  while (step.changes_left() > 0 && step.in_time()) {
    auto removed = co_await step.store().erase(range, step.changes_left());
    if (!removed) co_return removed.error();
    if (*removed == 0) co_return true;
    step.count_changes(*removed);
  }
  co_return false;
}

// What goes along with a file: nothing shares it, as all of it lies under the file's id.
Task<store::Result<bool>> erase_own(jobs::Step& step, store::SpaceId space,
                                    const std::string& own) {
  for (const store::Family family : kOwnFamilies) {
    auto erased = co_await erase(step, store::Range::rows(space, family, own));
    if (!erased || !*erased) co_return erased;
  }
  co_return true;
}

// The heads go before what lies under their ids, which are noted as dead by the same commit: a
// rename that is under way takes its file along whole or finds nothing any more. Former states lie
// under an id that is dead already.
Task<store::Result<void>> remove_children(jobs::Step& step, store::SpaceId space,
                                          const std::vector<Child>& children) {
  store::Commit commit;
  for (const auto& child : children) {
    commit.expect(child.key, child.record);
    commit.remove(child.key);
    if (child.key.partition().size() > sizeof(uint64_t))
      bury_tree(space, child.blob.node_id, step.now(), commit);
  }
  auto done = co_await step.store().commit(std::move(commit));
  if (!done && done.error() != store::Error::kConflict) co_return done.error();
  step.count_changes(children.size());
  co_return store::Result<void>();
}

// False: not all of it could be done in this step.
Task<store::Result<bool>> clear_children(jobs::Step& step, store::SpaceId space,
                                         const std::string& own, store::Family family) {
  while (step.changes_left() > 0 && step.in_time()) {
    const auto most = std::min<uint64_t>(kChildrenTogether, step.changes_left());
    auto children = co_await some_children(step, space, own, family, most);
    if (!children) co_return children.error();
    if (children->empty()) co_return true;
    auto removed = co_await remove_children(step, space, *children);
    if (!removed) co_return removed.error();
  }
  co_return false;
}

// True: nothing is left of it.
Task<store::Result<bool>> clear_tree(jobs::Step& step, store::SpaceId space,
                                     const std::string& own) {
  for (const store::Family family : kChildFamilies) {
    auto cleared = co_await clear_children(step, space, own, family);
    if (!cleared || !*cleared) co_return cleared;
  }
  auto content = co_await erase_own(step, space, own);
  if (!content || !*content) co_return content;
  co_return co_await erase(step, store::Range::partition_prefix(space, kBlocks, own));
}

struct Note {
  store::Key key;
  store::RecordPtr record;
};

Task<store::Result<std::vector<Note>>> some_notes(jobs::Step& step, store::SpaceId space) {
  std::vector<Note> notes;
  const auto range = store::Range::family(space, kDeadTrees);
  const store::Look look = [&](const store::View& view) -> store::Result<void> {
    notes.clear();
    auto cursor = view.scan(range);
    for (; cursor->valid() && notes.size() < kNotesTogether; cursor->next()) {
      auto record = cursor->record();
      if (!record) return record.error();
      notes.push_back({store::Key::from_bytes(std::string(cursor->key())), *record});
    }
    return cursor->status();
  };
  if (auto looked = co_await step.store().look(look); !looked) co_return looked.error();
  step.count_look();
  co_return std::move(notes);
}

// Nothing is left of what they note. One commit for many: most note a file, which is soon cleared.
Task<store::Result<void>> remove_notes(jobs::Step& step, std::span<Note> notes) {
  if (notes.empty()) co_return store::Result<void>();
  store::Commit commit;
  for (Note& note : notes) {
    commit.expect(note.key, std::move(note.record));
    commit.remove(std::move(note.key));
  }
  auto done = co_await step.store().commit(std::move(commit));
  if (!done && done.error() != store::Error::kConflict) co_return done.error();
  co_return store::Result<void>();
}

Task<store::Result<bool>> clear_trees(jobs::Step& step) {
  const auto space = lake_space(step.account());
  while (step.changes_left() > 0 && step.in_time()) {
    auto notes = co_await some_notes(step, space);
    if (!notes) co_return notes.error();
    if (notes->empty()) co_return true;
    store::Result<bool> cleared = true;
    size_t count = 0;
    while (count < notes->size()) {
      cleared = co_await clear_tree(step, space, (*notes)[count].key.partition());
      if (!cleared || !*cleared) break;
      step.count_changes();  // That of its note.
      ++count;
    }
    auto removed = co_await remove_notes(step, std::span(*notes).first(count));
    if (!cleared || !*cleared) co_return cleared;
    if (!removed) co_return removed.error();
  }
  co_return false;
}

}  // namespace

void bury_tree(store::SpaceId space, uint64_t id, Time now, store::Commit& commit) {
  commit.put(dead_key(space, named_partition(id, {})), service::to_record(DeadTree{now}));
}

Task<store::Result<void>> bury_root(jobs::Step& step, store::SpaceId container) {
  const auto space = lake_space(step.account());
  const std::string own = named_partition(container, {});
  bool any = false;
  for (const store::Family family : kChildFamilies) {
    auto children = co_await some_children(step, space, own, family);
    if (!children) co_return children.error();
    any = any || !children->empty();
  }
  if (!any) co_return store::Result<void>();
  store::Commit commit;
  commit.put(dead_key(space, own), service::to_record(DeadTree{step.now()}));
  co_return co_await step.store().commit(std::move(commit));
}

jobs::Job clear_lake_graves_job() {
  constexpr int64_t kGravesRestSeconds = 30;
  return {
      "dead-path-contents", kGravesRestSeconds, {.changes = kRecordsPerStep}, [](jobs::Step& step) {
        return content::clear_graves(step, lake_space(step.account()), step.cursor);
      }};
}

jobs::Job clear_dead_trees_job() {
  return {"dead-trees", kRestSeconds, {.changes = kRecordsPerStep}, [](jobs::Step& step) {
            return clear_trees(step);
          }};
}

}  // namespace kyanite::blob
