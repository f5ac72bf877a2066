#include "jobs/schedule.h"

#include <gtest/gtest.h>

#include <semaphore>
#include <thread>

#include "base/executor.h"
#include "jobs/runner.h"
#include "store/memory.h"

namespace kyanite::jobs {
namespace {

// Counts to so many, one a step, and writes down what it is asked.
Task<store::Result<bool>> count_up(Step& step, size_t most, std::string& steps) {
  steps += step.account() + step.cursor + " ";
  step.count_look();
  step.count_changes();
  step.cursor += "+";
  co_return step.cursor.size() == most;
}

// Counts commits, which fail as long as there is an error.
class FailingStore final : public store::MemoryStore {
 public:
  std::optional<store::Error> error;
  Task<store::Result<void>> commit(store::Commit commit) override {
    ++commits;
    if (error) co_return *error;
    co_return co_await MemoryStore::commit(std::move(commit));
  }
  int commits = 0;
};

class Schedules : public testing::Test {
 protected:
  Job counting(std::string name, size_t most, int64_t rest_s = 100) {
    return {std::move(name), rest_s, {}, [this, most](Step& step) {
              return count_up(step, most, steps);
            }};
  }
  // What is done within the time.
  std::string pass(Schedule& schedule, int64_t seconds) {
    steps.clear();
    for (int64_t i = 0; i < seconds; ++i) {
      clock.advance_seconds(1);
      RunLoop::run(schedule.run_due());
    }
    return steps;
  }
  void start(Schedule& schedule, std::vector<Job> jobs) {
    schedule.add(std::move(jobs));
    steps.clear();
    RunLoop::run(schedule.run_due());
  }

  FailingStore store;
  ManualClock clock{Time::from_unix_seconds(1'700'000'000)};
  std::string steps;
};

TEST_F(Schedules, RoundsGoOnAfterAPauseAndBeginAnewAfterARest) {
  Schedule schedule(store, clock, {"a"});
  start(schedule, {counting("job", 3, 10)});
  EXPECT_EQ(steps, "a ");
  EXPECT_EQ(schedule.next_due(), after_seconds(clock.moment(), Schedule::kPauseSeconds));
  EXPECT_EQ(schedule.status().front().state, Status::State::kInRound);
  EXPECT_EQ(pass(schedule, 2), "a+ a++ ");
  EXPECT_EQ(schedule.status().front().state, Status::State::kResting);
  EXPECT_EQ(pass(schedule, 9), "");
  EXPECT_EQ(pass(schedule, 1), "a ");
  const Status status = schedule.status().front();
  EXPECT_EQ(status.steps, 4U);
  EXPECT_EQ(status.rounds, 1U);
  EXPECT_EQ(status.looked, 4U);
  EXPECT_EQ(status.changed, 4U);
  EXPECT_EQ(status.failures, 0U);
  EXPECT_EQ(status.open_rounds, 1U);
  EXPECT_EQ(status.open_looked, 1U);
  EXPECT_EQ(status.usual_looked, 3U);
}

TEST_F(Schedules, AnAccountMayComeLater) {
  Schedule schedule(store, clock, {"a"});
  start(schedule, {counting("job", 2), counting("another", 1)});
  schedule.add_account("b");
  schedule.add_account("a");
  EXPECT_EQ(pass(schedule, 3), "b b a+ b+ ");
}

TEST_F(Schedules, ARoundGoesOnAfterARestart) {
  {
    Schedule schedule(store, clock, {"a", "b"});
    start(schedule, {counting("job", 3), counting("other", 1)});
    EXPECT_EQ(pass(schedule, 1), "a+ b+ ");
  }
  // The first step's cursor was stored, the second's was not yet.
  Schedule schedule(store, clock, {"a", "b"});
  start(schedule, {counting("job", 3)});
  EXPECT_EQ(steps, "a+ b+ ");
  EXPECT_EQ(pass(schedule, 1), "a++ b++ ");
  // A round that is through begins anew.
  Schedule again(store, clock, {"a"});
  start(again, {counting("job", 3)});
  EXPECT_EQ(steps, "a ");
}

TEST_F(Schedules, CursorsAreStoredNowAndThen) {
  Schedule schedule(store, clock, {"a"});
  start(schedule, {counting("one step", 1, 1)});
  pass(schedule, 1000);
  EXPECT_EQ(store.commits, 0) << "a round of one step has nothing to store";
  Schedule longer(store, clock, {"a"});
  start(longer, {counting("many steps", 1'000'000)});
  pass(longer, 10 * Schedule::kStoreSeconds);
  EXPECT_EQ(store.commits, 11);
}

TEST_F(Schedules, AFailingStepBacksOffAndIsCounted) {
  std::optional<store::Error> error = store::Error::kIo;
  auto run = [&](Step& step) -> Task<store::Result<bool>> {
    steps += step.account() + step.cursor + " ";
    step.cursor = "here";
    if (error) co_return *error;
    co_return true;
  };
  Schedule schedule(store, clock, {"a"});
  start(schedule, {Job{"job", 10, {}, run}});
  EXPECT_EQ(steps, "a ");
  // Again after 1, 2, 4 and 8 seconds, from where it was.
  EXPECT_EQ(pass(schedule, 1), "ahere ");
  EXPECT_EQ(pass(schedule, 2), "ahere ");
  EXPECT_EQ(pass(schedule, 3), "");
  EXPECT_EQ(pass(schedule, 1), "ahere ");
  Status status = schedule.status().front();
  EXPECT_EQ(status.state, Status::State::kFailing);
  EXPECT_EQ(status.failures, 4U);
  EXPECT_EQ(status.rounds, 0U);
  EXPECT_EQ(status.last_failure, clock.now());
  EXPECT_EQ(status.last_failure_text, "the device failed; again in 8 s");
  // Never longer than this.
  pass(schedule, 10'000);
  EXPECT_EQ(pass(schedule, Schedule::kMostBackOffSeconds), "ahere ");
  error.reset();
  EXPECT_EQ(pass(schedule, Schedule::kMostBackOffSeconds).substr(0, 8), "ahere a ");
  EXPECT_EQ(schedule.status().front().state, Status::State::kResting);
}

// Whoever makes room on a full disk has a cursor that cannot be stored.
TEST_F(Schedules, ACursorThatCannotBeStoredDoesNotSlowAJobDown) {
  store.error = store::Error::kFull;
  Schedule schedule(store, clock, {"a"});
  start(schedule, {counting("job", 1'000)});
  EXPECT_EQ(pass(schedule, 3), "a+ a++ a+++ ");
  EXPECT_EQ(store.commits, 4);
  EXPECT_EQ(schedule.status().front().failures, 0U);
  EXPECT_EQ(schedule.status().front().state, Status::State::kInRound);
  // With the next step that can be it is.
  store.error.reset();
  EXPECT_EQ(pass(schedule, 1), "a++++ ");
  Schedule restarted(store, clock, {"a"});
  start(restarted, {counting("job", 1'000)});
  EXPECT_EQ(steps, "a+++++ ");
}

// So that nobody keeps jobs away for long by taking all places.
TEST_F(Schedules, AStepThatFindsNoPlaceComesBackSoon) {
  auto run = [&](Step& step) -> Task<store::Result<bool>> {
    steps += step.account() + " ";
    co_return store::Error::kBusy;
  };
  Schedule schedule(store, clock, {"a"});
  start(schedule, {Job{"job", 10, {}, run}});
  EXPECT_EQ(pass(schedule, 5), "a a a a a ");
  EXPECT_EQ(schedule.status().front().failures, 0U);
  EXPECT_EQ(schedule.status().front().state, Status::State::kInRound);
}

TEST_F(Schedules, UnreadableRecordsAreFailuresButNoReasonToStop) {
  auto run = [](Step& step) -> Task<store::Result<bool>> {
    step.count_unreadable();
    co_return true;
  };
  Schedule schedule(store, clock, {"a"});
  start(schedule, {Job{"job", 10, {}, run}});
  const Status status = schedule.status().front();
  EXPECT_EQ(status.failures, 1U);
  EXPECT_EQ(status.rounds, 1U);
  EXPECT_EQ(status.state, Status::State::kResting);
  EXPECT_EQ(status.last_failure_text, "1 records cannot be read");
}

TEST_F(Schedules, NoAccountWaitsForAnothersRound) {
  auto run = [&](Step& step) -> Task<store::Result<bool>> {
    steps += step.account() + " ";
    step.cursor = "x";
    if (step.account() == "fails") co_return store::Error::kIo;
    co_return step.account() == "small";
  };
  Schedule schedule(store, clock, {"endless", "fails", "small"});
  start(schedule, {Job{"job", 1, {}, run}});
  EXPECT_EQ(steps, "endless fails small ");
  EXPECT_EQ(pass(schedule, 2), "endless fails small endless small ");
}

TEST_F(Schedules, NoTwoStepsOfOneJobAtOnce) {
  std::vector<std::coroutine_handle<>> waiting;
  struct Wait {
    std::vector<std::coroutine_handle<>>& waiting;
    bool await_ready() const { return false; }
    void await_suspend(std::coroutine_handle<> coroutine) { waiting.push_back(coroutine); }
    void await_resume() const {}
  };
  auto run = [&](Step&) -> Task<store::Result<bool>> {
    Wait wait{waiting};
    co_await wait;
    co_return true;
  };
  Schedule schedule(store, clock, {"a", "b"});
  schedule.add({Job{"one", 1, {}, run}});
  std::vector<bool> ran;
  auto begin = [&]() -> Detached { ran.push_back(co_await schedule.run_one()); };
  begin();
  ASSERT_EQ(waiting.size(), 1U);
  EXPECT_EQ(schedule.status().front().state, Status::State::kRunning);
  EXPECT_EQ(schedule.next_due(), std::nullopt);
  begin();
  EXPECT_EQ(ran, (std::vector<bool>{false}));
  clock.advance_seconds(3);
  waiting.front().resume();
  EXPECT_EQ(ran, (std::vector<bool>{false, true}));
  // It rests for as long as it took, although the other account is due.
  begin();
  EXPECT_EQ(waiting.size(), 1U);
  clock.advance_seconds(3);
  begin();
  ASSERT_EQ(waiting.size(), 2U);
  waiting.back().resume();
  EXPECT_EQ(schedule.status().front().rounds, 2U);
  EXPECT_EQ(schedule.status().front().seconds, 3.0);
}

TEST_F(Schedules, AStepKnowsItsBudget) {
  Step step(store, clock, "a", {.looks = 2, .changes = 3, .seconds = 5});
  EXPECT_TRUE(step.may_go_on());
  step.count_look();
  step.count_changes(2);
  EXPECT_EQ(step.changes_left(), 1U);
  EXPECT_TRUE(step.may_go_on());
  clock.advance_seconds(5);
  EXPECT_FALSE(step.in_time());
  EXPECT_FALSE(step.may_go_on());
  Step looks(store, clock, "a", {.looks = 1});
  looks.count_look();
  EXPECT_FALSE(looks.may_go_on());
  EXPECT_TRUE(looks.in_time());
  Step changes(store, clock, "a", {.changes = 3});
  changes.count_changes(4);
  EXPECT_EQ(changes.changes_left(), 0U);
  EXPECT_FALSE(changes.may_go_on());
}

TEST_F(Schedules, StepsUnderWayEndWhenTheServerDoes) {
  std::binary_semaphore begun(0);
  // Would go on for ever.
  auto run = [&](Step& step) -> Task<store::Result<bool>> {
    step.cursor = "kept";
    begun.release();
    while (step.in_time()) std::this_thread::yield();
    co_return false;
  };
  {
    Schedule schedule(store, clock, {"a"});
    schedule.add({Job{"endless", 1, {}, run}});
    const Runner runner(schedule, clock);
    begun.acquire();
  }
  Schedule after(store, clock, {"a"});
  start(after, {counting("endless", 100)});
  EXPECT_EQ(steps, "akept ");
  after.stop();
  EXPECT_EQ(pass(after, 100), "");
  EXPECT_EQ(after.next_due(), std::nullopt);
}

TEST_F(Schedules, TheRunnerRunsWhatIsDue) {
  std::counting_semaphore<> ran(0);
  auto run = [&](Step&) -> Task<store::Result<bool>> {
    ran.release();
    co_return true;
  };
  Schedule schedule(store, clock, {"a", "b", "c"});
  schedule.add({Job{"one", 1, {}, run}, Job{"two", 1, {}, run}});
  const Runner runner(schedule, clock);
  for (int i = 0; i < 6; ++i) ran.acquire();
}

}  // namespace
}  // namespace kyanite::jobs
