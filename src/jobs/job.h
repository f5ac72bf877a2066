// A job is work that no request waits for: removing what has expired, say. It is done in steps,
// each of which belongs to one account and does a bounded amount. Steps that lead once through all
// there is to look at in an account are a round.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "base/clock.h"
#include "base/task.h"
#include "store/store.h"

namespace kyanite::jobs {

// What a step may do at most. It ends with the first of them that is used up.
struct Portion {
  uint64_t looks = 2'000;    // records looked at
  uint64_t changes = 2'000;  // records written or removed
  int64_t seconds = 5;
};

// One step of a job: what it works on, how far it may go, and what it has done so far.
class Step {
 public:
  // `stopping` says when to come to an end whatever is left; null: never. It outlives the step.
  Step(store::Store& store, const Clock& clock, std::string account, Portion budget = {},
       std::string from = {}, const std::atomic<bool>* stopping = nullptr)
      : cursor(std::move(from)),
        store_(store),
        account_(std::move(account)),
        now_(clock.now()),
        budget_(budget),
        deadline_(clock, budget.seconds),
        stopping_(stopping) {}

  // Where the step begins, in words of the job; empty: at the beginning. The job moves it on behind
  // what is done. It is stored, so that the round goes on there after a restart. It may be lost,
  // and be of an earlier version: what it leads to must not matter but for work that is repeated.
  std::string cursor;

  store::Store& store() const { return store_; }
  const std::string& account() const { return account_; }
  Time now() const { return now_; }

  void count_look() { ++looked_; }
  void count_changes(uint64_t count = 1) { changed_ += count; }
  // A record that cannot be read was passed over.
  void count_unreadable() { ++unreadable_; }
  uint64_t looked() const { return looked_; }
  uint64_t changed() const { return changed_; }
  uint64_t unreadable() const { return unreadable_; }

  uint64_t changes_left() const {
    return changed_ < budget_.changes ? budget_.changes - changed_ : 0;
  }
  bool in_time() const { return !deadline_.over() && (stopping_ == nullptr || !stopping_->load()); }
  bool may_go_on() const { return looked_ < budget_.looks && changes_left() > 0 && in_time(); }

 private:
  store::Store& store_;
  const std::string account_;
  const Time now_;
  const Portion budget_;
  const Deadline deadline_;
  const std::atomic<bool>* const stopping_;
  uint64_t looked_ = 0;
  uint64_t changed_ = 0;
  uint64_t unreadable_ = 0;
};

struct Job {
  std::string name;  // for people, metrics and the record of its cursor
  int64_t rest_s;    // from the end of an account's round to the beginning of the next one
  Portion budget;
  // Does a step; true: the round is through. After an error the next step begins at the cursor that
  // this one left. Never called while another call is under way.
  std::function<Task<store::Result<bool>>(Step&)> run;
};

}  // namespace kyanite::jobs
