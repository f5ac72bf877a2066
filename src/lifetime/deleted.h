// Deleted containers and shares that are not gone yet: those that can be restored, and those whose
// name stays taken for a while. The record moves from the family of the living to that of the
// deleted; when its time is over its space is dead (lifetime/dead_spaces.h).
//
// T is the record of a container or share: it has a space and a lease.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/task.h"
#include "jobs/walk.h"
#include "lifetime/dead_spaces.h"
#include "lifetime/directory.h"
#include "service/call.h"
#include "service/storage.h"
#include "store/fields.h"
#include "store/store.h"

namespace kyanite::lifetime {

template <class T>
struct Deleted {
  T value;
  Time deleted;
  Time removal;    // From then on it is gone for good.
  Time name_free;  // Until then its name stays taken.
  template <class Io>
  void fields(Io& io) {
    io(1, value);
    io(2, deleted);
    io(3, removal);
    io(4, name_free);
  }
};

// The families of an account's directory where one kind of thing goes.
struct Graves {
  store::Family deleted;  // partition: name, row: instant of deletion
  store::Family dead;
  store::Family kept;  // partition: name
};
inline constexpr Graves kContainerGraves{kDeletedContainersFamily, kDeadContainersFamily,
                                         kKeptContainersFamily};
inline constexpr Graves kShareGraves{kDeletedSharesFamily, kDeadSharesFamily, kKeptSharesFamily};

// Says until when the last deletion of a name keeps it. Whoever takes the name is guarded by it, so
// that nothing can be created and deleted unnoticed meanwhile.
struct KeptName {
  Time free;
  template <class Io>
  void fields(Io& io) {
    io(1, free);
  }
};
inline store::Key kept_key(std::string_view account, const Graves& graves, std::string_view name) {
  return store::Key(directory_space(account), graves.kept, name);
}

store::Key deleted_key(std::string_view account, const Graves& graves, std::string_view name,
                       Time deleted);
// How clients name a deletion: x-ms-deleted-container-version, x-ms-deleted-share-version.
std::string deletion_version(Time deleted);
std::optional<Time> instant_of_deletion(std::string_view version);
// RemainingRetentionDays of a listing.
uint64_t remaining_days(Time removal, Time now);

template <class T>
struct Deletion {
  store::Key key;
  store::RecordPtr record;
  Deleted<T> deleted;
};

template <class T>
store::Result<Deletion<T>> read_deletion(const store::View::Cursor& cursor) {
  auto record = cursor.record();
  if (!record) return record.error();
  auto value = store::decode<Deleted<T>>((*record)->value);
  if (!value) return store::Error::kCorrupt;
  return Deletion<T>{store::Key::from_bytes(std::string(cursor.key())), *record, std::move(*value)};
}

// Creates the addressed thing, unless a deleted one still keeps its name: `kept` is the error then.
// `make(std::optional<T>&)` sees what there is and returns what came of it, as in update().
template <class T, class Make>
auto create_named(service::Call& call, const Graves& graves, store::Key key, wire::Code kept,
                  Make make) -> Task<decltype(make(std::declval<std::optional<T>&>()))> {
  using Made = decltype(make(std::declval<std::optional<T>&>()));
  const auto name_key = kept_key(call.target.account, graves, call.target.container);
  auto decide = [&](store::Attempt& attempt) -> Task<Made> {
    store::Commit& commit = attempt.commit;
    auto loaded = co_await service::load<T>(call, key);
    if (!loaded) co_return loaded.error();
    commit.expect(key, loaded->record);
    if (call.settings().deletion_window_s > 0) {
      auto name = co_await service::load<KeptName>(call, name_key);
      if (!name) co_return name.error();
      if (name->value && call.now < name->value->free && !loaded->value)
        co_return wire::Error(kept);
      commit.expect(name_key, name->record);
    }
    Made made = make(loaded->value);
    if (!made) co_return std::move(made);
    commit.put(key, service::to_record(*loaded->value));
    co_return std::move(made);
  };
  co_return co_await store::transact(call, key, decide);
}

// Adds to the commit what the deletion of the addressed thing leaves: something that can come back,
// or whose name stays taken, or a space to be cleaned.
template <class T>
void leave_remains(const service::Call& call, const Graves& graves, const T& value,
                   uint32_t retention_days, store::Commit& commit) {
  const auto& [account, name] = std::tie(call.target.account, call.target.container);
  const uint32_t window_s = call.settings().deletion_window_s;
  if (retention_days == 0 && window_s == 0) {
    commit.writes.push_back(bury(account, graves.dead, name, value.space, call.now));
    return;
  }
  Deleted<T> deleted{value, call.now, after_seconds(call.now, int64_t{retention_days} * 24 * 3600),
                     after_seconds(call.now, window_s)};
  deleted.value.lease = {};
  // Not in the place of an earlier deletion, whatever the clock says.
  const auto key = deleted_key(account, graves, name, call.now);
  commit.expect_absent(key);
  commit.put(key, service::to_record(deleted));
  if (window_s > 0)
    commit.writes.push_back(
        {kept_key(account, graves, name), service::to_record(KeptName{deleted.name_free})});
}

// Brings back the deletion of the addressed name that clients call `version`. `missing` when there
// is none that can come back, `exists` when the name is in use again. `edit(T&)` changes what comes
// back before it is stored, and what it returns is the result.
template <class T, class Edit>
auto restore(service::Call& call, const Graves& graves, store::Key key, std::string_view version,
             wire::Code missing, wire::Code exists, Edit edit)
    -> Task<wire::Result<decltype(edit(std::declval<T&>()))>> {
  const auto instant = instant_of_deletion(version);
  // No instant that ever was.
  const auto place =
      deleted_key(call.target.account, graves, call.target.container, instant.value_or(Time()));
  using Edited = decltype(edit(std::declval<T&>()));
  auto decide = [&](store::Attempt& attempt) -> Task<wire::Result<Edited>> {
    auto current = co_await service::load<T>(call, key);
    if (!current) co_return current.error();
    if (current->value) co_return wire::Error(exists);
    auto chosen = co_await service::load<Deleted<T>>(call, place);
    if (!chosen) co_return chosen.error();
    if (!chosen->value || chosen->value->removal <= call.now) co_return wire::Error(missing);
    T& value = chosen->value->value;
    Edited edited = edit(value);
    store::Commit& commit = attempt.commit;
    commit.expect_absent(key);
    commit.expect(place, chosen->record);
    commit.put(key, service::to_record(value));
    commit.remove(place);
    // What is there keeps its name itself.
    commit.writes.push_back(
        {kept_key(call.target.account, graves, call.target.container), nullptr});
    co_return std::move(edited);
  };
  co_return co_await store::transact(call, key, decide);
}

// Moves a thing whose time is over to the dead, whose spaces are cleaned.
template <class T>
Task<store::Result<void>> end_deletion(jobs::Step& step, Graves graves,
                                       const Deletion<T>& deletion) {
  store::Store& store = step.store();
  store::Commit commit;
  commit.expect(deletion.key, deletion.record);
  commit.remove(deletion.key);
  const std::string name = deletion.key.partition();
  commit.writes.push_back(
      bury(step.account(), graves.dead, name, deletion.deleted.value.space, step.now()));
  // Unless a later deletion keeps it.
  const auto name_key = kept_key(step.account(), graves, name);
  auto kept = co_await store.get(name_key);
  if (!kept) co_return kept.error();
  if (*kept != nullptr) {
    const auto value = store::decode<KeptName>((*kept)->value);
    if (!value) co_return store::Error::kCorrupt;
    commit.expect(name_key, *kept);
    if (value->free <= step.now()) commit.remove(name_key);
  }
  auto done = co_await store.commit(std::move(commit));
  if (done) step.count_changes();
  // Restored meanwhile: not overdue after all.
  if (!done && done.error() != store::Error::kConflict) co_return done.error();
  co_return store::Result<void>();
}

template <class T>
Task<store::Result<bool>> end_deletions(jobs::Step& step, Graves graves) {
  std::vector<Deletion<T>> overdue;
  const jobs::See see = [&](const store::View&,
                            const store::View::Cursor& cursor) -> store::Result<bool> {
    auto deletion = read_deletion<T>(cursor);
    if (!deletion) return deletion.error();
    if (deletion->deleted.removal <= step.now() && deletion->deleted.name_free <= step.now())
      overdue.push_back(std::move(*deletion));
    return overdue.size() < step.changes_left();
  };
  std::string next = step.cursor;
  std::vector<store::Range> ranges(
      1, store::Range::family(directory_space(step.account()), graves.deleted));
  auto at_end = co_await jobs::walk(step, std::move(ranges), next, see);
  if (!at_end) co_return at_end;
  for (const auto& deletion : overdue) {
    if (auto ended = co_await end_deletion(step, graves, deletion); !ended) co_return ended.error();
    if (!step.in_time()) co_return false;
  }
  step.cursor = std::move(next);
  co_return at_end;
}

// The job that ends what was deleted for longer than it is kept.
template <class T>
jobs::Job end_deletions_job(std::string name, Graves graves) {
  constexpr int64_t kRestSeconds = 10;
  return {std::move(name), kRestSeconds, {}, [graves](jobs::Step& step) {
            return end_deletions<T>(step, graves);
          }};
}

// One name of a listing: a living thing, or a deletion of one.
template <class T>
struct Listed {
  std::string name;
  T value;
  std::optional<Deleted<T>> deletion;  // Its value is moved to `value`.
};

// Walks living and, if asked for, deleted things in the order of their names; the deletions of a
// name come first.
template <class T>
class DirectoryWalk {
 public:
  // `start` is the first name to show, empty for the beginning.
  DirectoryWalk(const service::Call& call, const store::View& view, store::Family living,
                std::optional<store::Family> deleted, std::string_view prefix,
                std::string_view start)
      : now_(call.now), living_(scan(call, view, living, prefix, start)) {
    if (deleted) deleted_ = scan(call, view, *deleted, prefix, start);
  }

  // Nothing at the end.
  store::Result<std::optional<Listed<T>>> next() {
    if (auto status = moved(); !status) return status.error();
    while (deleted_ && deleted_->valid() &&
           (!living_->valid() || name_of(*deleted_) <= name_of(*living_))) {
      auto taken = take<Deleted<T>>(*deleted_);
      if (!taken) return taken.error();
      auto& [name, deletion] = *taken;
      if (now_ < deletion.removal) {
        Listed<T> listed{std::move(name), std::move(deletion.value), std::move(deletion)};
        return std::optional<Listed<T>>(std::move(listed));
      }
    }
    if (!living_->valid()) {
      if (auto status = moved(); !status) return status.error();
      return std::optional<Listed<T>>();
    }
    auto taken = take<T>(*living_);
    if (!taken) return taken.error();
    return std::optional<Listed<T>>({std::move(taken->first), std::move(taken->second), {}});
  }

 private:
  using Cursor = store::View::Cursor;

  // A cursor that failed looks as if it were through.
  store::Result<void> moved() const {
    if (auto status = living_->status(); !status) return status;
    return deleted_ ? deleted_->status() : store::Result<void>();
  }
  static std::unique_ptr<Cursor> scan(const service::Call& call, const store::View& view,
                                      store::Family family, std::string_view prefix,
                                      std::string_view start) {
    const auto directory = directory_space(call.target.account);
    auto cursor = view.scan(store::Range::partition_prefix(directory, family, prefix));
    if (!start.empty()) cursor->seek(store::Key(directory, family, start).bytes());
    return cursor;
  }
  static std::string name_of(const Cursor& cursor) {
    return store::Key::from_bytes(std::string(cursor.key())).partition();
  }
  template <class Record>
  static store::Result<std::pair<std::string, Record>> take(Cursor& cursor) {
    auto record = cursor.record();
    if (!record) return record.error();
    auto value = store::decode<Record>((*record)->value);
    if (!value) return store::Error::kCorrupt;
    std::pair<std::string, Record> taken(name_of(cursor), std::move(*value));
    cursor.next();
    return taken;
  }

  Time now_;
  std::unique_ptr<Cursor> living_;
  std::unique_ptr<Cursor> deleted_;
};

struct Walk {
  store::Family living;
  std::optional<store::Family> deleted;
  std::string prefix;
  std::string start;  // The first name to show, empty for the beginning.
};

// Shows what a DirectoryWalk finds to `see(listed, view)`, which says whether to go on; in turns
// with other scans.
template <class T, class See>
Task<store::Result<void>> walk_directory(const service::Call& call, Walk walk, See see) {
  const auto snapshot = call.store().snapshot();
  bool more = true;
  const store::Look look = [&](const store::View& view) -> store::Result<void> {
    DirectoryWalk<T> at(call, view, walk.living, walk.deleted, walk.prefix, walk.start);
    std::string last;
    while (more) {
      auto listed = at.next();
      if (!listed) return listed.error();
      if (!*listed) break;
      // What has one name is seen in one turn.
      const bool enough = view.enough() && !last.empty();
      if (enough && (*listed)->name != last) {
        walk.start = (*listed)->name;
        return {};
      }
      last = (*listed)->name;
      auto goes_on = see(**listed, view);
      if (!goes_on) return goes_on.error();
      more = *goes_on;
    }
    more = false;
    return {};
  };
  while (true) {
    if (call.deadline.over()) co_return store::Error::kTimeout;
    if (auto looked = co_await snapshot->scan(look); !looked) co_return looked.error();
    if (!more) co_return store::Result<void>();
  }
}

}  // namespace kyanite::lifetime
