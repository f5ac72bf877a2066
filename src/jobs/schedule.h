// Which job does a step, when, and for which account; and what became of it.
//
// Accounts take turns: a job does one step for one of them, then for another one. A job never does
// two steps at once. After a step it rests as long as the step took, so that it takes half a
// processor at most.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/task.h"
#include "jobs/job.h"
#include "store/store.h"

namespace kyanite::jobs {

// The space of all stored cursors. Its first bit is that of directories, which no new space has.
inline constexpr store::SpaceId kCursorSpace = (store::SpaceId{1} << 63) | 0x6a6f6273;  // "jobs"

// Where a job stands. Counts are since the start of the process, over all accounts.
struct Status {
  enum class State { kResting, kInRound, kRunning, kFailing };

  std::string name;
  State state = State::kResting;
  uint64_t steps = 0;
  uint64_t rounds = 0;
  uint64_t looked = 0;
  uint64_t changed = 0;
  uint64_t failures = 0;      // steps that failed, and records that could not be read
  double seconds = 0;         // in steps
  uint64_t open_rounds = 0;   // accounts in the midst of one
  uint64_t open_looked = 0;   // looked at in those so far
  uint64_t usual_looked = 0;  // looked at in the last rounds of the same accounts
  Time last_end;              // of a round
  Time last_failure;
  std::string last_failure_text;
};

class Schedule {
 public:
  // Between two steps of one round.
  static constexpr int64_t kPauseSeconds = 1;
  // A step that failed is done again after a second, then after twice as long each time, up to
  // this. One that found all places for scans taken (kBusy) comes back after a pause.
  static constexpr int64_t kMostBackOffSeconds = 600;
  // A cursor that moves is stored as often as this. As long is what a restart repeats.
  static constexpr int64_t kStoreSeconds = 60;

  // The store and the clock must outlive this.
  Schedule(store::Store& store, const Clock& clock, std::vector<std::string> accounts);
  Schedule(const Schedule&) = delete;
  Schedule& operator=(const Schedule&) = delete;

  // Before the first step. No two jobs have one name.
  void add(std::vector<Job> jobs);
  // From now on the jobs are done for this account, too. One that has them already keeps them.
  void add_account(std::string account);

  // Does one step that is due; false when there is none. May be called from several threads.
  Task<bool> run_one();
  // Does all that is due now.
  Task<void> run_due();
  // When the next step is due; nothing while all jobs are under way, or once stopped.
  std::optional<Moment> next_due() const;
  // Steps under way end soon and no more are begun.
  void stop() { stopping_ = true; }

  std::vector<Status> status() const;

 private:
  // An account's round of a job.
  struct Round {
    // Of whoever runs the job's step.
    bool loaded = false;  // The stored cursor was asked for.
    std::string cursor;
    std::string stored;
    std::optional<Moment> stored_at;
    // Under the mutex.
    bool open = false;
    uint64_t looked = 0;
    uint64_t last_looked = 0;
    int failures = 0;  // in a row
  };
  // Whose turn is next: by the moment it is due, then by who has waited longest.
  using Turns = std::map<std::pair<Moment, uint64_t>, size_t>;
  struct Entry {
    Job job;
    std::deque<Round> rounds;  // one an account
    Turns turns;
    bool running = false;
    Moment rests_until;
    Status counts;
  };
  struct Taken {
    Entry* entry;
    size_t account;
    Round* round;
    const std::string* account_name;
    Moment began;
  };

  static store::Key cursor_key(const std::string& account, const std::string& job);
  std::optional<Taken> take();
  Task<void> load_cursor(const Taken& taken);
  Task<void> store_cursor(const Taken& taken);
  void finish(const Taken& taken, const Step& step, const store::Result<bool>& result);
  void give_turns(Entry& entry, size_t account) REQUIRES(mutex_);
  void count_failure(Entry& entry, std::string what) REQUIRES(mutex_);

  store::Store& store_;
  const Clock& clock_;
  std::atomic<bool> stopping_{false};
  mutable Mutex mutex_;  // Guards what is in the entries as well, but for what is said of Round.
  std::deque<std::string> accounts_ GUARDED_BY(mutex_);  // They stay where they are.
  std::vector<std::unique_ptr<Entry>> entries_ GUARDED_BY(mutex_);
  uint64_t turns_given_ GUARDED_BY(mutex_) = 0;
};

}  // namespace kyanite::jobs
