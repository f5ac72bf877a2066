#include "tree/former.h"

#include <vector>

#include "base/bytes.h"
#include "content/content.h"
#include "jobs/walk.h"
#include "store/fields.h"
#include "store/stored.h"
#include "tree/records.h"

namespace kyanite::tree {

namespace {

struct Former {
  store::Key key;
  store::RecordPtr record;
  Entry entry;
};

// The instant, in generations, at which a former state was replaced: the end of its row.
Generation until_of(const store::Key& key) {
  const auto row = key.row();
  return row.size() < 8 ? 0 : read_be64(row.data() + row.size() - 8);
}

// How far the walk through a share has come. It is over only if nothing was done with snapshots
// since it began.
struct Walked {
  std::string began;  // the share's state then, as it is stored
  std::string key;
  template <class Io>
  void fields(Io& io) {
    io(1, began);
    io(2, key);
  }
};

// Snapshots only come later than all former states, so what none shows none will ever show.
Task<store::Result<void>> remove_state(jobs::Step& step, const Former& former) {
  store::Commit commit;
  commit.expect(former.key, former.record);
  commit.remove(former.key);
  const content::Place place{former.key.space(), kSharePartition};
  auto removed = co_await content::remove(step.store(), commit, place, former.entry.content);
  if (!removed) co_return removed.error();
  auto done = co_await step.store().commit(std::move(commit));
  if (done) step.count_changes();
  if (!done && done.error() != store::Error::kConflict) co_return done.error();
  co_return store::Result<void>();
}

// A portion of the states that no snapshot shows.
Task<store::Result<bool>> remove_portion(jobs::Step& step, store::SpaceId space,
                                         const ShareState& state, std::string& key) {
  std::vector<Former> unseen;
  const jobs::See see = [&](const store::View&,
                            const store::View::Cursor& cursor) -> store::Result<bool> {
    auto record = cursor.record();
    if (!record) return record.error();
    auto entry = store::decode<Entry>((*record)->value);
    if (!entry) return store::Error::kCorrupt;
    auto found = store::Key::from_bytes(std::string(cursor.key()));
    if (!state.shows(entry->generation, until_of(found)))
      unseen.push_back({std::move(found), *record, std::move(*entry)});
    return unseen.size() < step.changes_left();
  };
  std::vector<store::Range> former(1, store::Range::family(space, kFormer));
  std::string next = key;
  auto at_end = co_await jobs::walk(step, std::move(former), next, see);
  if (!at_end) co_return at_end;
  for (const auto& each : unseen) {
    if (auto removed = co_await remove_state(step, each); !removed) co_return removed.error();
    if (!step.in_time()) co_return false;
  }
  key = std::move(next);
  co_return at_end;
}

}  // namespace

Task<store::Result<bool>> remove_unseen_states(jobs::Step& step, std::string, store::SpaceId space,
                                               std::string& key) {
  auto record = co_await step.store().get(state_key(space));
  if (!record) co_return record.error();
  if (*record == nullptr) co_return true;
  auto state = store::decode<ShareState>((*record)->value);
  if (!state) co_return store::Error::kCorrupt;
  if (!state->purge) co_return true;
  auto walked = store::decode<Walked>(key).value_or(Walked());
  if (walked.began != (*record)->value) walked = {(*record)->value, {}};
  auto at_end = co_await remove_portion(step, space, *state, walked.key);
  key = store::encode(walked);
  if (!at_end || !*at_end) co_return at_end;
  store::Commit commit;
  state->purge = false;
  commit.expect(state_key(space), *record);
  commit.put(state_key(space), store::to_record(*state));
  auto done = co_await step.store().commit(std::move(commit));
  // A snapshot came or went meanwhile: once more.
  if (!done && done.error() == store::Error::kConflict) co_return false;
  if (!done) co_return done.error();
  co_return true;
}

}  // namespace kyanite::tree
