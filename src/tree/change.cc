#include "tree/change.h"

#include <memory>
#include <utility>
#include <vector>

#include "base/random.h"
#include "concurrency/etag.h"
#include "store/transact.h"
#include "tree/admission.h"
#include "tree/announce.h"
#include "tree/tree_commit.h"

namespace kyanite::tree {

using concurrency::FileOperation;

Result<void> check_entry(const Rules& rules, const Entry* entry, Time now) {
  if (rules.use) {
    const object::StoredLease lease = entry != nullptr ? entry->lease : object::StoredLease();
    if (auto use = concurrency::check_lease_use(lease, rules.lease_id, *rules.use, now); !use)
      return Error(use.error());
  }
  if (entry == nullptr || !rules.writes) return {};
  if (entry->copy.status == object::CopyStatus::kPending) return Error(Reason::kPendingCopy);
  if ((entry->smb.attributes & kReadOnlyAttribute) != 0 && !rules.ignores_read_only)
    return Error(Reason::kReadOnly);
  return {};
}

void touch(Entry& entry, Time now) {
  entry.changed = concurrency::next_modified(now, entry.changed);
  concurrency::on_write(entry.lease, now);
}

Task<Result<Located>> read_entry(store::Occasion& occasion, const Tree& tree, const Path& path,
                                 const Rules& rules, const Reading& reading) {
  Awaited awaited;
  for (int tries = 0; tries < store::kMaxTries; ++tries) {
    const uint64_t silence = tree.open_files->silence();
    auto located = co_await locate(occasion, tree, path, rules.kind);
    if (!located) co_return located.error();
    Result<void> unlocked;
    // What a snapshot shows nobody has open.
    if (!tree.shown) {
      const FileKey key = located->key();
      const ByteRange range = reading ? reading(*located->found.entry) : ByteRange{};
      auto admitted = tree.open_files->admit_reader(key, rules.operation, range, awaited);
      if (!admitted && admitted.error() == Error(Refusal::kCached)) {
        auto given = co_await tree.open_files->given_back(key, occasion.deadline, 0, true);
        if (!given) co_return given.error();
        if (occasion.deadline.over()) co_return Error(store::Error::kTimeout);
        continue;  // What they brought is to be read.
      }
      // The decision is about what was found only if that was there all the time.
      if (!tree.open_files->silent_since(silence)) {
        auto again = co_await locate(occasion, tree, path, rules.kind);
        if (!again || again->key() != key ||
            again->found.entry->changed != located->found.entry->changed)
          continue;
      }
      if (!admitted && admitted.error() != Error(Refusal::kLockConflict))
        co_return admitted.error();
      unlocked = admitted;
    }
    if (auto passed = check_entry(rules, located->found.entry.get(), occasion.now); !passed)
      co_return passed.error();
    if (!unlocked) co_return unlocked.error();
    co_return std::move(*located);
  }
  co_return Error(store::Error::kBusy);
}

Task<Result<Changed>> change_entry(store::Occasion& occasion, const Tree& tree, const Path& path,
                                   const Rules& rules, const Edit& edit) {
  Admitting admitting;  // Until the change is durable.
  Changed changed;
  std::optional<Located> watched;
  auto decide = [&](store::Attempt& attempt) -> Task<Result<void>> {
    auto located = co_await locate_admitted(attempt, tree, path, rules, admitting);
    if (!located) co_return located.error();
    TreeCommit commit(attempt, tree.space, tree.usage);
    if (auto begun = co_await commit.begin(); !begun) co_return Error(begun.error());
    changed = {std::make_unique<Entry>(*located->found.entry), located->found.parent};
    Entry& entry = *changed.entry;
    if (auto edited = co_await edit(entry, attempt.commit, *located); !edited)
      co_return edited.error();
    auto room = tree.promise_room(located->found.entry->content.length, entry.content.length);
    if (!room) co_return room.error();
    admitting.room = std::move(*room);
    auto replaced = co_await commit.replace(located->way, &located->found, &entry);
    if (!replaced) co_return Error(replaced.error());
    if (is_watched(tree)) watched = std::move(*located);
    co_return Result<void>();
  };
  if (auto done = co_await store::transact(occasion, decide); !done) co_return done.error();
  if (watched) {
    const Entry& before = *watched->found.entry;
    announce_changed(tree, place_at(watched->way, before), before, *changed.entry);
  }
  co_return std::move(changed);
}

// --- Creation ---

EntryId new_id() {
  while (true) {
    if (const EntryId id = random_u64(); id != kRootId) return id;
  }
}

namespace {

// With what it takes over from a file whose place it takes.
Entry new_entry(const Way& way, const Creation& creation, const SeenEntry* before, Time now) {
  Entry entry;
  entry.directory = creation.directory;
  if (before == nullptr) {
    entry.name = way.name;
    entry.id = creation.id != 0 ? creation.id : new_id();
    entry.changed = now;
  } else {
    entry.name = before->entry->name;
    entry.id = before->entry->id;
    entry.changed = before->entry->changed;
    entry.lease = before->entry->lease;
    touch(entry, now);
  }
  return entry;
}

}  // namespace

Result<void> check_replaced(const Creation& creation, const Entry* before, Time now) {
  if (before != nullptr && before->directory) return Error(Reason::kIsDirectory);
  const Rules rules{Kind::kFile, FileOperation::kCreateFile, concurrency::LeaseUse::kExclusive,
                    true,        creation.ignores_read_only, creation.lease_id};
  if (auto passed = check_entry(rules, before, now); !passed) return passed.error();
  if (before != nullptr && !creation.may_replace) return Error(Reason::kMayNotReplace);
  return {};
}

Task<Result<Changed>> create_entry(store::Occasion& occasion, const Tree& tree, const Path& path,
                                   const Creation& creation, const Fill& fill) {
  CHECK(!tree.shown);
  Admitting admitting;  // Until the change is durable.
  Changed changed;
  struct Entered {
    Way way;
    std::shared_ptr<const Entry> before;
  };
  std::optional<Entered> watched;
  auto decide = [&](store::Attempt& attempt) -> Task<Result<void>> {
    admitting.begin();
    auto way = co_await follow(occasion, tree, path);
    if (!way) co_return way.error();
    std::vector<store::Key> keys{entry_key(tree.space, way->parent(), way->folded)};
    if (auto turn = co_await attempt.wait_for(std::move(keys)); !turn)
      co_return Error(turn.error());
    auto found = co_await find_entry(occasion, tree, *way);
    if (!found) co_return found.error();
    const SeenEntry* before = *found ? &**found : nullptr;
    // Into a directory that waits to be deleted nothing can be put; over a file that is open only
    // what its openers allow. Who replaces nothing disturbs nobody.
    const bool replaces = before != nullptr && creation.replaces;
    const auto touched = tree.key(before != nullptr ? before->entry->id : way->parent());
    const FileOperation replacing =
        creation.pending ? FileOperation::kBeginCopy : FileOperation::kCreateFile;
    auto admitted = tree.open_files->admit(
        touched, replaces ? replacing : FileOperation::kListFiles, admitting.awaited);
    if (!admitted) co_return co_await not_admitted(attempt, tree, touched, admitted.error());
    admitting.admission = std::move(*admitted);
    if (before != nullptr && !creation.replaces) co_return Error(Reason::kExists);
    if (creation.replaces) {
      const Entry* replaced = before != nullptr ? before->entry.get() : nullptr;
      if (auto passed = check_replaced(creation, replaced, occasion.now); !passed)
        co_return passed.error();
    }
    TreeCommit commit(attempt, tree.space, tree.usage);
    if (auto begun = co_await commit.begin(); !begun) co_return Error(begun.error());
    commit.enter(*way);
    changed = {std::make_unique<Entry>(new_entry(*way, creation, before, occasion.now)),
               way->parent()};
    Entry& entry = *changed.entry;
    if (auto filled = co_await fill(entry, *way, attempt.commit); !filled) co_return filled.error();
    const uint64_t old = before != nullptr ? before->entry->content.length : 0;
    auto room = tree.promise_room(old, entry.content.length);
    if (!room) co_return room.error();
    admitting.room = std::move(*room);
    auto replaced = co_await commit.replace(*way, before, &entry);
    if (!replaced) co_return Error(replaced.error());
    if (is_watched(tree))
      watched = Entered{std::move(*way), before != nullptr ? before->entry : nullptr};
    co_return Result<void>();
  };
  if (auto done = co_await store::transact(occasion, decide); !done) co_return done.error();
  if (watched && watched->before != nullptr) {
    announce_changed(tree, place_at(watched->way, *changed.entry), *watched->before,
                     *changed.entry);
  } else if (watched) {
    announce_added(tree, place_at(watched->way, *changed.entry), *changed.entry);
  }
  co_return std::move(changed);
}

}  // namespace kyanite::tree
