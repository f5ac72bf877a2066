#include "datalake/flat_move.h"

#include <algorithm>
#include <utility>

#include "auth/authorize.h"
#include "blob/blocks.h"
#include "blob/deletion.h"
#include "blob/names.h"
#include "datalake/drafts.h"
#include "datalake/flat_tree.h"

namespace kyanite::datalake {

using blob::Blob;
using blob::Change;
using blob::Checks;
using blob::Place;
using service::Call;
using wire::Code;

namespace {

// The content lies in the partition of the name, so it is listed anew; its bytes stay.
Task<store::Result<void>> take_content(Call& call, const Change& leaving, Change& coming) {
  Blob& moved = *coming.blob;
  const Blob& before = *leaving.before;
  const store::Guard head = leaving.head();
  const content::Place from = leaving.place.content();
  const content::Place to = coming.place.content();
  auto copied = co_await content::copy(call.store(), coming.commit, from, before.content, to, head,
                                       call.deadline);
  if (!copied) co_return copied.error();
  moved.content = *copied;
  if (before.committed_blocks == 0 || before.type != blob::BlobType::kBlock)
    co_return store::Result<void>();
  auto list = co_await call.store().get(blob::block_list_key(from, before.content.id));
  if (!list) co_return list.error();
  if (*list == nullptr) co_return store::Error::kConflict;
  coming.commit.put(blob::block_list_key(to, moved.content.id), *list);
  co_return store::Result<void>();
}

// What a commit is to write there.
store::RecordPtr written(const store::Commit& commit, const store::Key& key) {
  store::RecordPtr record;
  for (const store::Write& write : commit.writes) {
    if (write.key == key) record = write.record;
  }
  return record;
}

// `is_done`: it leaves its old place by the same commit.
Blob arrived(const FlatMove& move, const Change& leaving, const Change& coming, bool is_done) {
  Blob moved = *leaving.blob;
  if (move.properties) {
    moved.metadata = blob::is_folder(moved) ? marked(*move.properties) : *move.properties;
  }
  // A lease is of a name: that of the source ends, that of the destination goes on.
  moved.lease = coming.blob ? coming.blob->lease : headers::StoredLease();
  moved.content_shared = false;
  moved.arrival.reset();
  if (!is_done && coming.blob && coming.blob->arrival)
    moved.arrival = blob::Arrival{coming.blob->arrival->from, false};
  return moved;
}

}  // namespace

bool marks_way(const Blob& blob) { return blob.arrival && blob::is_folder(blob); }

blob::Rules leaving_rules() {
  blob::Rules rules = blob::kChanges;
  rules.takes_directories = true;
  rules.keep = blob::Keep::kState;
  return rules;
}

blob::Rules coming_rules() {
  blob::Rules rules = blob::kCreates;
  rules.takes_directories = true;
  rules.key = blob::KeyUse::kIgnores;
  return rules;
}

Checks unconditional(const blob::Rules& rules) {
  Checks checks{rules, {}, {}, {}, {}, {}};
  checks.asked.operation = rules.operation;
  return checks;
}

wire::Result<void> FlatMover::check_leaving(const Checks& checks, const Blob& blob,
                                            bool has_snapshots) const {
  if (auto passed = blob::check_blob(from_.call, checks, blob); !passed) return passed.error();
  // Held blobs stay where they are, even where a version would keep their state.
  if (auto allowed = blob::check_deletable(from_.call, blob); !allowed) return allowed.error();
  if (has_snapshots) return wire::Error(Code::kSnapshotsPresent);
  return {};
}

Task<wire::Result<bool>> FlatMover::begin_leaving(const Checks& checks, Change& leaving) {
  auto begun = co_await blob::begin_change(from_.call, checks, leaving);
  if (!begun && begun.error().code == Code::kBlobNotFound) co_return false;
  if (!begun) co_return begun.error();
  auto snapshots = co_await blob::list_snapshots(from_.call, leaving.place);
  if (!snapshots) co_return snapshots.error();
  auto passed = check_leaving(checks, *leaving.blob, !snapshots->empty());
  if (!passed) co_return passed.error();
  co_return true;
}

// Two blobs have one ETag, and came to be at one instant, where one is a copy on its way.
bool FlatMover::is_own(const FlatMove& move, const Change& leaving, const Blob& there) const {
  if (is_within_one()) return false;
  const auto is_copy = [&](const Blob& of) {
    return there.changed == of.changed && there.created == of.created &&
           there.content.length == of.content.length && there.type == of.type &&
           there.http.content_md5 == of.http.content_md5;
  };
  return is_copy(*leaving.blob) || std::any_of(again_.begin(), again_.end(), [&](const auto& made) {
           return made.first == move.to && is_copy(made.second);
         });
}

wire::Result<void> FlatMover::check_over(const FlatMove& move, const Checks& checks,
                                         const Change& leaving, const Change& coming) const {
  if (!coming.blob) return {};
  const Blob& there = *coming.blob;
  if (marks_way(there) && move.over == FlatMove::Over::kDirectory) {
    // Another rename came to the place of the one that this was to end.
    if (there.arrival->from != move.mark) return wire::Error(Code::kPathAlreadyExists);
    return {};
  }
  if (is_own(move, leaving, there)) return {};
  // For its own copy the conditions were met before.
  if (!again_.empty()) {
    if (auto passed = blob::check_blob(to_.call, checks, coming.blob); !passed)
      return passed.error();
  }
  const bool fits = move.over == FlatMove::Over::kAnything ||
                    (move.over == FlatMove::Over::kDirectory && blob::is_folder(there));
  if (!fits) return wire::Error(Code::kPathAlreadyExists);
  if (blob::is_folder(there) != blob::is_folder(*leaving.blob))
    return wire::Error(Code::kInvalidSourceOrDestinationResourceType);
  if (!auth::may_overwrite(to_.call.caller)) return wire::Error(Code::kUnauthorizedBlobOverwrite);
  return {};
}

// It is a version of its own, later than those that are there.
Task<wire::Result<void>> FlatMover::name_version(Change& coming) {
  coming.blob->version = {};
  if (!to_.call.settings().blob_versioning) co_return wire::Result<void>();
  Time first = to_.call.now;
  if (coming.before && coming.before->version >= first) first = {coming.before->version.ticks + 1};
  auto version = co_await blob::free_instant(to_.call, coming.place, blob::version_row, first);
  if (!version) co_return version.error();
  coming.blob->version = *version;
  co_return wire::Result<void>();
}

Task<wire::Result<FlatMover::Brought>> FlatMover::bring(const FlatMove& move, const Checks& checks,
                                                        const Change& leaving,
                                                        store::Commit& commit) {
  Call& call = to_.call;
  // What came below the source since all was looked at may be called anything.
  if (auto named = blob::check_blob_name(move.to); !named) co_return named.error();
  call.target.object = move.to;  // The index of tags tells blobs by it.
  Change coming(Place(to_.space, move.to), commit);
  Checks first = checks;
  if (!again_.empty()) first.asked = unconditional(checks.rules).asked;
  if (auto begun = co_await blob::begin_change(call, first, coming); !begun)
    co_return begun.error();
  if (auto fits = check_over(move, checks, leaving, coming); !fits) co_return fits.error();
  auto dropped = co_await blob::drop_blocks(call, coming.place, commit);
  if (!dropped) co_return dropped.error();
  // What was made only for this leaves nothing behind.
  if (coming.blob && (marks_way(*coming.blob) || is_own(move, leaving, *coming.blob))) {
    if (auto may = blob::check_deletable(call, *coming.blob); !may) co_return may.error();
    first.rules.keep = blob::Keep::kNothing;
  }
  const bool is_first = !coming.blob;
  coming.blob = arrived(move, leaving, coming, is_within_one());
  if (auto named = co_await name_version(coming); !named) co_return named.error();
  if (auto taken = co_await take_content(call, leaving, coming); !taken)
    co_return service::storage_error(taken.error());
  if (const uint64_t draft = leaving.blob->draft; draft != 0) {
    auto appended = co_await move_appended(from_.call, leaving.place, coming.place, draft,
                                           is_within_one(), commit);
    if (!appended) co_return appended.error();
  }
  if (auto done = co_await blob::finish_change(call, first, coming); !done) co_return done.error();
  co_return Brought{std::move(*coming.blob), is_first};
}

Task<wire::Result<void>> FlatMover::wait_for(store::Attempt& attempt,
                                             std::span<const FlatMove> moves, bool leaving,
                                             bool coming) const {
  std::vector<store::Key> keys;
  for (const FlatMove& move : moves) {
    if (leaving) keys.push_back(blob::head_key(Place(from_.space, move.from)));
    if (coming) keys.push_back(blob::head_key(Place(to_.space, move.to)));
  }
  if (auto turn = co_await attempt.wait_for(std::move(keys)); !turn)
    co_return service::storage_error(turn.error());
  co_return wire::Result<void>();
}

Task<wire::Result<FlatMover::Moved>> FlatMover::move_within(std::span<const FlatMove> moves,
                                                            const Checks& leaving_checks,
                                                            const Checks& coming_checks) {
  auto decide = [&](store::Attempt& attempt) -> Task<wire::Result<Moved>> {
    if (auto turn = co_await wait_for(attempt, moves, true, true); !turn) co_return turn.error();
    Moved moved;
    for (const FlatMove& move : moves) {
      if (is_enough(attempt.commit)) break;
      ++moved.taken;
      Change leaving(Place(from_.space, move.from), attempt.commit);
      auto is_there = co_await begin_leaving(leaving_checks, leaving);
      if (!is_there) co_return is_there.error();
      if (!*is_there) continue;
      auto brought = co_await bring(move, coming_checks, leaving, attempt.commit);
      if (!brought) co_return brought.error();
      moved.last = std::move(brought->blob);
      leaving.blob.reset();
      auto left = co_await blob::finish_change(from_.call, leaving_checks, leaving);
      if (!left) co_return left.error();
    }
    co_return std::move(moved);
  };
  co_return co_await store::transact(to_.call, decide);
}

Task<wire::Result<FlatMover::Moved>> FlatMover::copy(std::span<const FlatMove> moves,
                                                     const Checks& leaving_checks,
                                                     const Checks& coming_checks, Copies& copies) {
  auto decide = [&](store::Attempt& attempt) -> Task<wire::Result<Moved>> {
    if (auto turn = co_await wait_for(attempt, moves, false, true); !turn) co_return turn.error();
    Moved moved;
    copies.clear();
    for (const FlatMove& move : moves) {
      if (is_enough(attempt.commit)) break;
      ++moved.taken;
      store::Commit none;
      Change leaving(Place(from_.space, move.from), none);
      auto is_there = co_await begin_leaving(leaving_checks, leaving);
      if (!is_there) co_return is_there.error();
      copies.emplace_back();
      if (!*is_there) continue;
      auto brought = co_await bring(move, coming_checks, leaving, attempt.commit);
      if (!brought) co_return brought.error();
      copies.back() = Copied{leaving.found, *leaving.blob, nullptr};
      // Two empty copies cannot be told apart, as they have no content of their own.
      if (brought->is_first && brought->blob.content.id != 0)
        copies.back()->made = written(attempt.commit, blob::head_key(Place(to_.space, move.to)));
      moved.last = std::move(brought->blob);
    }
    co_return std::move(moved);
  };
  co_return co_await store::transact(to_.call, decide);
}

Task<wire::Result<std::vector<FlatMove>>> FlatMover::leave(std::span<const FlatMove> moves,
                                                           Copies& copies) {
  const Checks checks = unconditional(leaving_rules());
  std::vector<FlatMove> changed;
  std::vector<std::pair<std::string, Blob>> again;
  auto decide = [&](store::Attempt& attempt) -> Task<wire::Result<void>> {
    if (auto turn = co_await wait_for(attempt, moves, true, false); !turn) co_return turn.error();
    changed.clear();
    again.clear();
    for (size_t i = 0; i < moves.size(); ++i) {
      if (!copies[i]) continue;
      Change leaving(Place(from_.space, moves[i].from), attempt.commit);
      auto found = co_await service::load<Blob>(from_.call, blob::head_key(leaving.place));
      if (!found) co_return found.error();
      copies[i]->is_orphan = !found->value || !blob::is_visible(*found->value, from_.call.now);
      if (copies[i]->is_orphan) continue;
      if (!is_same(found->record, copies[i]->record)) {
        changed.push_back(moves[i]);
        again.emplace_back(moves[i].to, copies[i]->blob);
        continue;
      }
      // Its lease and its conditions were looked at with this very state.
      leaving.found = std::move(found->record);
      leaving.before = leaving.blob = copies[i]->blob;
      attempt.commit.expect(blob::head_key(leaving.place), leaving.found);
      leaving.blob.reset();
      auto left = co_await blob::finish_change(from_.call, checks, leaving);
      if (!left) co_return left.error();
    }
    co_return wire::Result<void>();
  };
  if (auto left = co_await store::transact(from_.call, decide); !left) co_return left.error();
  std::move(again.begin(), again.end(), std::back_inserter(again_));
  co_return std::move(changed);
}

// The source was read before the copy was committed, and could not be guarded. So if it is gone,
// its blob may have come to this place by another rename and have been deleted here: a copy that is
// still as it was made, where nothing was, would bring it back.
Task<wire::Result<size_t>> FlatMover::take_back(std::span<const FlatMove> moves,
                                                const Copies& copies) {
  blob::Rules rules = leaving_rules();
  rules.keep = blob::Keep::kNothing;
  const Checks checks = unconditional(rules);
  auto decide = [&](store::Attempt& attempt) -> Task<wire::Result<size_t>> {
    size_t taken = 0;
    for (size_t i = 0; i < moves.size(); ++i) {
      if (!copies[i] || !copies[i]->is_orphan || copies[i]->made == nullptr) continue;
      Change coming(Place(to_.space, moves[i].to), attempt.commit);
      auto found = co_await service::load<Blob>(to_.call, blob::head_key(coming.place));
      if (!found) co_return found.error();
      if (!is_same(found->record, copies[i]->made)) continue;
      coming.found = std::move(found->record);
      coming.before = std::move(found->value);
      attempt.commit.expect(blob::head_key(coming.place), coming.found);
      auto gone = co_await blob::finish_change(to_.call, checks, coming);
      if (!gone) co_return gone.error();
      ++taken;
    }
    co_return taken;
  };
  co_return co_await store::transact(to_.call, decide);
}

Task<wire::Result<FlatMover::Moved>> FlatMover::move_across(std::span<const FlatMove> moves,
                                                            const Checks& leaving,
                                                            const Checks& coming) {
  again_.clear();
  Copies copies;
  auto moved = co_await copy(moves, leaving, coming, copies);
  if (!moved) co_return moved.error();
  const std::span<const FlatMove> copied_moves = moves.first(moved->taken);
  auto changed = co_await leave(copied_moves, copies);
  if (!changed) co_return changed.error();
  auto taken_back = co_await take_back(copied_moves, copies);
  if (!taken_back) co_return taken_back.error();
  if (*taken_back == copied_moves.size()) moved->last.reset();
  for (int tries = 1; !changed->empty(); ++tries) {
    if (tries == store::kMaxTries) co_return service::storage_error(store::Error::kBusy);
    const std::vector<FlatMove> rest = std::move(*changed);
    auto copied = co_await copy(rest, leaving, coming, copies);
    if (!copied) co_return copied.error();
    if (copied->last) moved->last = std::move(copied->last);
    changed = co_await leave(std::span(rest).first(copied->taken), copies);
    if (!changed) co_return changed.error();
    changed->insert(changed->end(), rest.begin() + static_cast<ptrdiff_t>(copied->taken),
                    rest.end());
  }
  co_return std::move(moved);
}

Task<wire::Result<FlatMover::Moved>> FlatMover::move(std::span<const FlatMove> moves,
                                                     const Checks& leaving, const Checks& coming) {
  if (is_within_one()) return move_within(moves, leaving, coming);
  return move_across(moves, leaving, coming);
}

}  // namespace kyanite::datalake
