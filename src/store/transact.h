// Read, decide, commit: the one way in which anything changes.
//
//   auto decide = [&](store::Attempt& attempt) -> Task<wire::Result<Blob>> {
//     ... read, check ...
//     attempt.commit.expect(key, record);  // What was read and must still be so,
//     attempt.commit.put(key, changed);    // and what is to be.
//     co_return blob;
//   };
//   auto changed = co_await store::transact(call, key, decide);
//
// `decide` sees what is stored and returns what came of it, or an error. It may be called again: as
// long as another commit comes first, and it then decides from fresh data. What it returned is the
// result once its commit is durable; with nothing to write, at once. An error ends it and nothing
// is written, but for a conflict that `decide` itself met, which makes it decide again.
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "base/executor.h"
#include "base/task.h"
#include "store/occasion.h"
#include "store/store.h"

namespace kyanite::store {

// How an error type E holds the store's errors. Specialised beside each type that transact() is
// used with.
template <class E>
struct ErrorTraits;

template <>
struct ErrorTraits<Error> {
  static Error from(Error error) { return error; }
  static bool is_conflict(Error error) { return error == Error::kConflict; }
};

// How often a decision is made anew after a conflict. Writers wait in line for a lock first, so one
// more try is the rule.
inline constexpr int kMaxTries = 100;

inline constexpr int kContendedTries = 3;

// One try at a decision.
class Attempt {
 public:
  explicit Attempt(Occasion& occasion) : occasion_(occasion) {}
  Attempt(const Attempt&) = delete;
  Attempt& operator=(const Attempt&) = delete;

  Commit commit;

  Occasion& occasion() const { return occasion_; }
  bool is_first() const { return number_ == 1; }

  // Waits in line with the other writers of these keys, until the attempt ends. For decisions that
  // learn only by reading what they change; once an attempt, before the reads that are guarded.
  // kTimeout when the deadline was over first.
  Task<Result<void>> wait_for(std::vector<Key> keys);

  // Once the commit of this attempt is done, and only then, this happens: something in memory
  // learns of it. Must not wait.
  void after_commit(std::function<void()> effect) { effects_.push_back(std::move(effect)); }

  // For transact().
  // Begins the next one. kTimeout, or kBusy when there were too many.
  Result<void> begin();
  // Lets go of what the last one held.
  void end() { turns_.clear(); }
  void committed() {
    for (const auto& effect : effects_) effect();
  }
  // After many conflicts others have their turn before the next.
  bool is_contended() const { return number_ >= kContendedTries; }

 private:
  Occasion& occasion_;
  int number_ = 0;
  std::vector<KeyedLocks::Turn> turns_;
  std::vector<std::function<void()>> effects_;
};

// Says in the log for whom a commit failed, where that is the server's fault.
void tell_failure(const Occasion& occasion, Error error);

template <class Decide>
auto transact(Occasion& occasion, Decide decide) -> decltype(decide(std::declval<Attempt&>())) {
  using Decided = decltype(decide(std::declval<Attempt&>()).await_resume());
  using Traits = ErrorTraits<typename Decided::Error>;
  Attempt attempt(occasion);
  while (true) {
    if (attempt.is_contended()) co_await Executor::yield();
    if (auto begun = attempt.begin(); !begun) co_return Traits::from(begun.error());
    Decided decided = co_await decide(attempt);
    if (!decided) {
      attempt.end();
      if (!Traits::is_conflict(decided.error())) co_return std::move(decided);
      continue;
    }
    if (attempt.commit.writes.empty()) co_return std::move(decided);
    auto done = co_await occasion.store().commit(std::move(attempt.commit));
    if (done) attempt.committed();
    attempt.end();
    if (done) co_return std::move(decided);
    if (done.error() != Error::kConflict) {
      tell_failure(occasion, done.error());
      co_return Traits::from(done.error());
    }
  }
}

// The same for decisions that know what they change: waits in line for `key` first, and keeps the
// turn until the end.
template <class Decide>
auto transact(Occasion& occasion, const Key& key, Decide decide)
    -> decltype(decide(std::declval<Attempt&>())) {
  const auto turn = co_await occasion.locks().lock(key.bytes());
  co_return co_await transact(occasion, std::move(decide));
}

}  // namespace kyanite::store
