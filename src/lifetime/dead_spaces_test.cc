#include "lifetime/dead_spaces.h"

#include <gtest/gtest.h>

#include "base/executor.h"
#include "concurrency/lease.h"
#include "jobs/test_support.h"
#include "lifetime/deleted.h"
#include "store/memory.h"
#include "store/test_support.h"

namespace kyanite::lifetime {
namespace {

struct Box {
  store::SpaceId space = 1;
  concurrency::Lease lease;
  template <class Io>
  void fields(Io& io) {
    io(1, space);
  }
};

class DeadSpaces : public testing::Test {
 protected:
  void write(store::Key key, store::RecordPtr record) {
    store::Commit commit;
    commit.put(std::move(key), std::move(record));
    ASSERT_TRUE(RunLoop::run(store.commit(std::move(commit))).ok());
  }
  // A space with so many records that is dead from now on.
  void bury_space(store::SpaceId space, int records) {
    for (int i = 0; i < records; ++i)
      write(store::Key(space, 'X', std::to_string(i)), store::record_of("x"));
    auto note = bury("account", kDeadQueuesFamily, "name", space, clock.now());
    write(note.key, note.record);
  }
  size_t count(store::Range range) {
    size_t found = 0;
    const store::See see = [&](const store::View::Cursor&) -> store::Result<bool> {
      return ++found > 0;
    };
    EXPECT_TRUE(RunLoop::run(store::scan(store, std::move(range), see)).ok());
    return found;
  }
  size_t notes() {
    return count(store::Range::family(directory_space("account"), kDeadQueuesFamily));
  }

  store::MemoryStore store;
  ManualClock clock{Time::from_unix_seconds(1'700'000'000)};
};

TEST_F(DeadSpaces, AreEmptiedInStepsAndForgottenLater) {
  bury_space(1, 5);
  bury_space(2, 3);
  bury_space(3, 4);
  jobs::Job job = clean_spaces_job("dead", kDeadQueuesFamily);
  job.budget.changes = 4;
  jobs::Step first(store, clock, "account", job.budget);
  EXPECT_FALSE(*RunLoop::run(job.run(first)));
  EXPECT_EQ(first.changed(), 4U);
  EXPECT_EQ(count(store::Range::space(1)), 1U);
  EXPECT_EQ(RunLoop::run(jobs::run_round(job, store, clock)), 8U);
  for (const store::SpaceId space : {1, 2, 3}) EXPECT_EQ(count(store::Range::space(space)), 0U);
  EXPECT_EQ(notes(), 3U);
  // What a late request still commits goes as well, as long as the space is not forgotten.
  write(store::Key(2, 'X', "late"), store::record_of("x"));
  clock.advance_seconds(kForgetAfterSeconds);
  EXPECT_EQ(RunLoop::run(jobs::run_round(job, store, clock)), 4U);
  EXPECT_EQ(count(store::Range::space(2)), 0U);
  EXPECT_EQ(notes(), 0U);
}

TEST_F(DeadSpaces, AreThoseOfDeletionsWhoseTimeIsOver) {
  const Time now = clock.now();
  const auto put = [&](const std::string& name, int64_t kept_s, int64_t name_s) {
    const Deleted<Box> deleted{{}, now, after_seconds(now, kept_s), after_seconds(now, name_s)};
    write(deleted_key("account", kContainerGraves, name, now), service::to_record(deleted));
  };
  put("kept", 100, 0);
  put("name", 0, 100);
  for (const auto* name : {"a", "b", "c"}) put(name, 10, 10);
  jobs::Job job = end_deletions_job<Box>("deleted", kContainerGraves);
  job.budget.changes = 2;
  EXPECT_EQ(RunLoop::run(jobs::run_round(job, store, clock)), 0U);
  clock.advance_seconds(10);
  EXPECT_EQ(RunLoop::run(jobs::run_round(job, store, clock)), 3U);
  const auto directory = directory_space("account");
  EXPECT_EQ(count(store::Range::family(directory, kDeletedContainersFamily)), 2U);
  EXPECT_EQ(count(store::Range::family(directory, kDeadContainersFamily)), 3U);
}

}  // namespace
}  // namespace kyanite::lifetime
