#include "blob/cleaner.h"

#include <gtest/gtest.h>

#include "base/executor.h"
#include "blob/records.h"
#include "service/directory.h"
#include "service/storage.h"
#include "store/memory.h"

namespace kyanite::blob {
namespace {

constexpr store::SpaceId kDead = 7;
constexpr store::SpaceId kAlive = 8;
const Time kDeleted = Time::from_unix_seconds(1'700'000'000);

class CleanerTest : public testing::Test {
 protected:
  CleanerTest() {
    for (int i = 0; i < 10; ++i) {
      put(store::Key(kDead, kHeads, "blob" + std::to_string(i)), Blob());
      put(store::Key(kAlive, kHeads, "blob" + std::to_string(i)), Blob());
    }
    put(dead_key(), DeadContainer{kDead, kDeleted});
  }

  store::Key dead_key() const {
    return store::Key(service::directory_space("acme"), service::kDeadContainersFamily, "photos",
                      "incarnation");
  }
  template <class T>
  void put(const store::Key& key, const T& value) {
    store::Commit commit;
    commit.writes.push_back({key, service::to_record(value)});
    ASSERT_TRUE(RunLoop::run(store_.commit(std::move(commit))));
  }
  size_t count(store::SpaceId space) {
    size_t found = 0;
    auto counted = RunLoop::run(store_.read([&](const store::View& view) -> store::Result<void> {
      for (auto cursor = view.scan(store::Range::space(space)); cursor->valid(); cursor->next())
        ++found;
      return {};
    }));
    EXPECT_TRUE(counted);
    return found;
  }
  Cleaned clean(uint64_t most, Time now) {
    auto cleaned = RunLoop::run(clean_dead_containers(store_, account_, most, now));
    EXPECT_TRUE(cleaned);
    return *cleaned;
  }

  store::MemoryStore store_;
  const auth::Account account_{"acme", {}};
};

TEST_F(CleanerTest, RemovesTheDeadAndNothingElse) {
  EXPECT_EQ(clean(1000, kDeleted).records, 10u);
  EXPECT_EQ(count(kDead), 0u);
  EXPECT_EQ(count(kAlive), 10u);
}

TEST_F(CleanerTest, GoesOnWhereItStopped) {
  EXPECT_EQ(clean(4, kDeleted).records, 4u);
  EXPECT_EQ(count(kDead), 6u);
  EXPECT_EQ(clean(1000, kDeleted).records, 6u);
}

TEST_F(CleanerTest, LooksAgainForWritesThatCameLate) {
  clean(1000, kDeleted);
  put(store::Key(kDead, kHeads, "late"), Blob());
  const Time before = after_seconds(kDeleted, kForgetAfterSeconds - 1);
  EXPECT_EQ(clean(1000, before).records, 1u);
  EXPECT_EQ(clean(1000, before).containers, 0u);
  EXPECT_EQ(clean(1000, after_seconds(kDeleted, kForgetAfterSeconds)).containers, 1u);
  EXPECT_EQ(RunLoop::run(store_.get(dead_key())).value(), nullptr);
}

}  // namespace
}  // namespace kyanite::blob
