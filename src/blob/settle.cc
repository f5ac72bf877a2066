// What becomes of a blob's former state: a version, a soft-deleted head, or nothing; and of content
// that no head names any more.
#include <vector>

#include "blob/blob.h"
#include "blob/dead_trees.h"
#include "blob/deleted_paths.h"
#include "blob/deletion.h"
#include "blob/heads.h"

namespace kyanite::blob {

using service::Call;

Task<wire::Result<Time>> free_instant(Call& call, const Place& place, std::string (*row)(Time),
                                      Time first) {
  Time instant = first;
  for (int tries = 0; tries < store::kMaxTries; ++tries) {
    if (call.deadline.over()) co_return wire::Error(wire::Code::kOperationTimedOut);
    auto taken = co_await call.store().get(head_key(place, row(instant)));
    if (!taken) co_return service::storage_error(taken.error());
    if (*taken == nullptr) co_return instant;
    ++instant.ticks;
  }
  co_return service::storage_error(store::Error::kConflict);
}

Task<wire::Result<std::vector<Head>>> list_snapshots(Call& call, const Place& place) {
  std::vector<Head> heads;
  const store::See see = [&](const store::View::Cursor& cursor) -> store::Result<bool> {
    auto record = cursor.record();
    if (!record) return record.error();
    auto blob = store::decode<Blob>((*record)->value);
    if (!blob) return store::Error::kCorrupt;
    if (blob->deleted.set()) return true;
    const auto key = store::Key::from_bytes(std::string(cursor.key()));
    heads.push_back({std::string(key.row()), *record, std::move(*blob)});
    return true;
  };
  auto listed = co_await store::scan(call.store(), former_rows(place, "s"), see, call.deadline);
  if (!listed) co_return service::storage_error(listed.error());
  co_return std::move(heads);
}

void put_former(Change& change, std::string_view row, const Blob& blob) {
  const auto key = head_key(change.place, row);
  change.commit.expect_absent(key);
  change.commit.put(key, service::to_record(blob));
}

namespace {

// A former state has no lease of its own.
Blob former(const Blob& before) {
  Blob blob = before;
  blob.lease = {};
  return blob;
}

bool has_same_content(const Change& change) {
  return change.before && change.blob && change.before->content.id == change.blob->content.id;
}

// Two heads of one content: both name it, unless it is written in place. Then the former state gets
// a list of pieces of its own.
Task<wire::Result<void>> part(Call& call, Change& change, Blob& past) {
  if (!past.content.sparse) {
    past.content_shared = change.blob->content_shared = true;
    co_return wire::Result<void>();
  }
  const store::Guard head = change.head();
  const content::Place place = change.place.content();
  auto copied = co_await content::copy(call.store(), change.commit, place, past.content, place,
                                       head, call.deadline);
  if (!copied) co_return service::storage_error(copied.error());
  past.content = *copied;
  co_return wire::Result<void>();
}

// A soft-deleted blob whose name is taken by a new one lives on among the deleted snapshots.
Task<wire::Result<void>> keep_deleted(Call& call, Change& change) {
  const Blob& before = *change.before;
  const auto instant = co_await free_instant(call, change.place, snapshot_row, before.deleted);
  if (!instant) co_return instant.error();
  put_former(change, snapshot_row(*instant), former(before));
  co_return wire::Result<void>();
}

Task<wire::Result<void>> keep_version(Call& call, Change& change) {
  Blob past = former(*change.before);
  if (!past.version.set()) {
    // Nobody was told an id yet.
    const auto version = co_await free_instant(call, change.place, version_row, past.changed);
    if (!version) co_return version.error();
    past.version = *version;
  }
  if (has_same_content(change)) {
    if (auto parted = co_await part(call, change, past); !parted) co_return parted.error();
  }
  put_former(change, version_row(past.version), past);
  co_return wire::Result<void>();
}

// Where soft delete is on; else false.
Task<wire::Result<bool>> keep_soft_deleted(Call& call, Change& change) {
  auto properties = co_await account::load_properties(call);
  if (!properties) co_return properties.error();
  const auto& retention = (*properties)->delete_retention;
  if (!retention.enabled) co_return false;
  Blob past = former(*change.before);
  if (has_same_content(change)) {
    if (auto parted = co_await part(call, change, past); !parted) co_return parted.error();
  }
  past.deleted = call.now;
  past.removal = after_seconds(call.now, int64_t{retention.days} * 24 * 3600);
  if (change.blob) {
    put_former(change, snapshot_row(call.now), past);
  } else {
    change.commit.put(head_key(change.place), service::to_record(past));
  }
  co_return true;
}

// Where there are directories: a deleted path is kept as a whole where the account says so, and
// what lies under its id stays; else that goes as well. True: kept.
Task<wire::Result<bool>> settle_deleted_path(Call& call, Keep keep, Change& change) {
  if (keep == Keep::kState) {
    auto kept = co_await keep_deleted_path(call, change);
    if (!kept || *kept) co_return kept;
  }
  if (change.before->is_directory()) {
    bury_tree(change.place.space(), change.place.id(), call.now, change.commit);
  } else {
    auto snapshots = co_await list_snapshots(call, change.place);
    if (!snapshots) co_return snapshots.error();
    const account::RetentionPolicy none;
    auto taken =
        co_await delete_heads(call, change.place, std::move(*snapshots), none, change.commit);
    if (!taken) co_return taken.error();
  }
  co_return false;
}

}  // namespace

Task<wire::Result<void>> settle(Call& call, Keep keep, Change& change) {
  const std::optional<Blob>& before = change.before;
  const std::optional<Blob>& after = change.blob;
  bool kept = false;
  if (before && change.place.is_apart()) {
    if (!after) {
      auto path = co_await settle_deleted_path(call, keep, change);
      if (!path) co_return path.error();
      kept = *path;
    }
  } else if (before && before->deleted.set()) {
    if (after) {
      if (auto lives = co_await keep_deleted(call, change); !lives) co_return lives.error();
    }
    kept = after.has_value();
  } else if (before && keep != Keep::kNothing && call.settings().blob_versioning) {
    if (auto version = co_await keep_version(call, change); !version) co_return version.error();
    kept = true;
  } else if (before && keep == Keep::kState) {
    auto soft = co_await keep_soft_deleted(call, change);
    if (!soft) co_return soft.error();
    kept = *soft;
    if (kept && !after) co_return wire::Result<void>();  // The head stays, as deleted.
  }
  // A version's id is its own once it is told, whatever the clock said when others got theirs.
  if (after && after->version.set() && (!before || before->version != after->version))
    change.commit.expect_absent(head_key(change.place, version_row(after->version)));
  if (before && !kept && !has_same_content(change)) {
    std::vector<Head> leaving;
    leaving.push_back({{}, nullptr, *before});
    auto removed = co_await remove_heads(call.store(), change.place, leaving, change.commit);
    if (!removed) co_return service::storage_error(removed.error());
  }
  // The last write to a key wins.
  change.commit.put(head_key(change.place), after ? service::to_record(*after) : nullptr);
  co_return wire::Result<void>();
}

}  // namespace kyanite::blob
