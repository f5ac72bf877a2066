#include "jobs/schedule.h"

#include <algorithm>

#include "base/check.h"
#include "base/log.h"
#include "store/fields.h"

namespace kyanite::jobs {

namespace {

constexpr store::Family kCursors = 'J';  // partition: account, row: name of the job

struct StoredCursor {
  std::string cursor;
  template <class Io>
  void fields(Io& io) {
    io(1, cursor);
  }
};

int64_t back_off_seconds(int failures) {
  constexpr int kMostDoublings = 20;
  return std::min(int64_t{1} << std::min(failures - 1, kMostDoublings),
                  Schedule::kMostBackOffSeconds);
}

}  // namespace

Schedule::Schedule(store::Store& store, const Clock& clock, std::vector<std::string> accounts)
    : store_(store), clock_(clock), accounts_(accounts.begin(), accounts.end()) {}

void Schedule::add(std::vector<Job> jobs) {
  MutexLock lock(mutex_);
  for (auto& job : jobs) {
    for (const auto& other : entries_) CHECK(other->job.name != job.name);
    auto entry = std::make_unique<Entry>();
    entry->counts.name = job.name;
    entry->job = std::move(job);
    for (size_t i = 0; i < accounts_.size(); ++i) give_turns(*entry, i);
    entries_.push_back(std::move(entry));
  }
}

void Schedule::add_account(std::string account) {
  MutexLock lock(mutex_);
  if (std::find(accounts_.begin(), accounts_.end(), account) != accounts_.end()) return;
  accounts_.push_back(std::move(account));
  for (const auto& entry : entries_) give_turns(*entry, accounts_.size() - 1);
}

void Schedule::give_turns(Entry& entry, size_t account) {
  entry.rounds.emplace_back();
  entry.turns.emplace(std::pair(clock_.moment(), ++turns_given_), account);
}

std::optional<Schedule::Taken> Schedule::take() {
  MutexLock lock(mutex_);
  if (stopping_) return std::nullopt;
  const Moment now = clock_.moment();
  Entry* next = nullptr;
  for (const auto& entry : entries_) {
    if (entry->running || entry->turns.empty() || entry->rests_until > now) continue;
    const auto& turn = entry->turns.begin()->first;
    if (turn.first <= now && (next == nullptr || turn < next->turns.begin()->first))
      next = entry.get();
  }
  if (next == nullptr) return std::nullopt;
  const size_t account = next->turns.begin()->second;
  next->turns.erase(next->turns.begin());
  next->running = true;
  return Taken{next, account, &next->rounds[account], &accounts_[account], now};
}

std::optional<Moment> Schedule::next_due() const {
  MutexLock lock(mutex_);
  std::optional<Moment> next;
  if (stopping_) return next;
  for (const auto& entry : entries_) {
    if (entry->running || entry->turns.empty()) continue;
    const Moment due = std::max(entry->turns.begin()->first.first, entry->rests_until);
    if (!next || due < *next) next = due;
  }
  return next;
}

Task<bool> Schedule::run_one() {
  const auto taken = take();
  if (!taken) co_return false;
  Entry& entry = *taken->entry;
  Round& round = *taken->round;
  co_await load_cursor(*taken);
  Step step(store_, clock_, *taken->account_name, entry.job.budget, round.cursor, &stopping_);
  auto result = co_await entry.job.run(step);
  round.cursor = result && *result ? std::string() : step.cursor;
  co_await store_cursor(*taken);
  finish(*taken, step, result);
  co_return true;
}

Task<void> Schedule::run_due() {
  bool ran = true;
  while (ran) ran = co_await run_one();
}

store::Key Schedule::cursor_key(const std::string& account, const std::string& job) {
  return store::Key(kCursorSpace, kCursors, account, job);
}

// A cursor that cannot be had is one that was lost.
Task<void> Schedule::load_cursor(const Taken& taken) {
  Round& round = *taken.round;
  if (std::exchange(round.loaded, true)) co_return;
  const auto key = cursor_key(*taken.account_name, taken.entry->job.name);
  const auto record = co_await store_.get(key);
  if (!record || *record == nullptr) co_return;
  auto stored = store::decode<StoredCursor>((*record)->value);
  if (stored) round.cursor = round.stored = std::move(stored->cursor);
}

// A cursor that cannot be stored is tried again with the next step. It must not keep the job from
// its work: on a full disk that is what makes room.
Task<void> Schedule::store_cursor(const Taken& taken) {
  Round& round = *taken.round;
  const Moment now = clock_.moment();
  const bool again = round.stored_at && now < after_seconds(*round.stored_at, kStoreSeconds);
  if (round.cursor == round.stored || (again && !round.cursor.empty())) co_return;
  auto record = std::make_shared<store::SharedRecord>();
  record->value = store::encode(StoredCursor{round.cursor});
  store::Commit commit;
  commit.put(cursor_key(*taken.account_name, taken.entry->job.name),
             round.cursor.empty() ? nullptr : record);
  if (auto done = co_await store_.commit(std::move(commit)); !done) co_return;
  round.stored = round.cursor;
  round.stored_at = now;
}

void Schedule::count_failure(Entry& entry, std::string what) {
  log_warning("job " + entry.job.name + ": " + what);
  entry.counts.last_failure = clock_.now();
  entry.counts.last_failure_text = std::move(what);
}

void Schedule::finish(const Taken& taken, const Step& step, const store::Result<bool>& result) {
  MutexLock lock(mutex_);
  Entry& entry = *taken.entry;
  Round& round = *taken.round;
  Status& counts = entry.counts;
  const Moment now = clock_.moment();
  const int64_t took = now.ticks - taken.began.ticks;
  ++counts.steps;
  counts.looked += step.looked();
  counts.changed += step.changed();
  // All places for scans are taken: not the job's fault, and no reason to come back ever later.
  const bool busy = !result && result.error() == store::Error::kBusy;
  const bool failed = !result && !busy;
  counts.failures += step.unreadable() + (failed ? 1 : 0);
  counts.seconds += static_cast<double>(took) / kTicksPerSecond;
  if (step.unreadable() > 0)
    count_failure(entry, std::to_string(step.unreadable()) + " records cannot be read");
  round.looked += step.looked();
  round.open = !result || !*result;
  int64_t rest_s = kPauseSeconds;
  if (failed) {
    rest_s = back_off_seconds(++round.failures);
    count_failure(entry, std::string(store::describe(result.error())) + "; again in " +
                             std::to_string(rest_s) + " s");
  } else if (!busy) {
    round.failures = 0;
  }
  if (result && *result) {
    ++counts.rounds;
    counts.last_end = clock_.now();
    round.last_looked = std::exchange(round.looked, 0);
    rest_s = std::max(entry.job.rest_s, kPauseSeconds);
  }
  entry.turns.emplace(std::pair(after_seconds(now, rest_s), ++turns_given_), taken.account);
  entry.rests_until = {now.ticks + took};
  entry.running = false;
}

std::vector<Status> Schedule::status() const {
  MutexLock lock(mutex_);
  std::vector<Status> all;
  all.reserve(entries_.size());
  for (const auto& entry : entries_) {
    Status status = entry->counts;
    bool fails = false;
    for (const auto& round : entry->rounds) {
      fails |= round.failures > 0;
      if (!round.open) continue;
      ++status.open_rounds;
      status.open_looked += round.looked;
      status.usual_looked += round.last_looked;
    }
    if (status.open_rounds > 0) status.state = Status::State::kInRound;
    if (fails) status.state = Status::State::kFailing;
    if (entry->running) status.state = Status::State::kRunning;
    all.push_back(std::move(status));
  }
  return all;
}

}  // namespace kyanite::jobs
