#include "lifetime/deleted.h"

#include <gtest/gtest.h>

#include "concurrency/lease.h"
#include "service/test_support.h"

namespace kyanite::lifetime {
namespace {

struct Thing {
  store::SpaceId space = 1;
  concurrency::Lease lease;
  template <class Io>
  void fields(Io& io) {
    io(1, space);
  }
};

// Fails where it would have gone on; what it has is nothing.
class FailedCursor final : public store::View::Cursor {
 public:
  bool valid() const override { return false; }
  std::string_view key() const override { return {}; }
  store::Result<store::RecordPtr> record() const override { return store::Error::kIo; }
  store::Result<std::string_view> value() const override { return store::Error::kIo; }
  void next() override {}
  void seek(std::string_view) override {}
  store::Result<void> status() const override { return store::Error::kIo; }
};

// A view that cannot read one family.
class HalfBlind final : public store::View {
 public:
  HalfBlind(const store::View& view, store::Family unreadable)
      : view_(view), unreadable_(unreadable) {}
  store::Result<store::RecordPtr> get(const store::Key& key) const override {
    return view_.get(key);
  }
  std::unique_ptr<Cursor> scan(const store::Range& range) const override {
    if (static_cast<store::Family>(range.from()[8]) == unreadable_)
      return std::make_unique<FailedCursor>();
    return view_.scan(range);
  }

 private:
  const store::View& view_;
  const store::Family unreadable_;
};

TEST(RemainingDays, AreWholeAndNeverNegative) {
  struct Case {
    int64_t left_s;
    uint64_t days;
  };
  const Time now{1'000'000 * kTicksPerSecond};
  const int64_t day = 24 * 3600;
  const Case cases[] = {{2 * day, 2}, {2 * day - 1, 1}, {day, 1},     {day - 1, 0},
                        {0, 0},       {-1, 0},          {-2 * day, 0}};
  for (const auto& [left_s, days] : cases)
    EXPECT_EQ(remaining_days(after_seconds(now, left_s), now), days) << left_s;
}

TEST(DeletionVersions, AreReadAsTheyAreWritten) {
  const Time instant{638'000'000'000'000'000};
  EXPECT_EQ(instant_of_deletion(deletion_version(instant)), instant);
  for (const std::string_view text : {"", "01", "08da9e1f6f2e40zz", "08da9e1f6f2e4000"})
    EXPECT_EQ(instant_of_deletion(text), std::nullopt) << text;
}

TEST(DirectoryWalk, FailsWhereEitherHalfCannotBeRead) {
  service::TestContext around;
  service::TestCall test(around);
  const Thing thing;
  const Deleted<Thing> gone{thing, test.call.now, after_seconds(test.call.now, 100), {}};
  const auto write = [&](store::Key key, store::RecordPtr record) {
    store::Commit commit;
    commit.put(std::move(key), std::move(record));
    return RunLoop::run(around.memory.commit(std::move(commit))).ok();
  };
  ASSERT_TRUE(write(store::Key(directory_space("account"), kContainersFamily, "living"),
                    service::to_record(thing)));
  ASSERT_TRUE(write(deleted_key("account", kContainerGraves, "gone", test.call.now),
                    service::to_record(gone)));

  for (const store::Family unreadable : {kContainersFamily, kDeletedContainersFamily}) {
    auto looked = RunLoop::run(around.memory.look([&](const store::View& view) {
      const HalfBlind half(view, unreadable);
      DirectoryWalk<Thing> walk(test.call, half, kContainersFamily, kDeletedContainersFamily, {},
                                {});
      auto first = walk.next();
      EXPECT_FALSE(first.ok()) << "a page that begins with " << (*first)->name;
      return store::Result<void>();
    }));
    EXPECT_TRUE(looked.ok());
  }
  auto looked = RunLoop::run(around.memory.look([&](const store::View& view) {
    DirectoryWalk<Thing> walk(test.call, view, kContainersFamily, kDeletedContainersFamily, {}, {});
    std::vector<std::string> names;
    for (auto each = walk.next(); each.ok() && *each; each = walk.next())
      names.push_back((*each)->name);
    EXPECT_EQ(names, (std::vector<std::string>{"gone", "living"}));
    return store::Result<void>();
  }));
  EXPECT_TRUE(looked.ok());
}

}  // namespace
}  // namespace kyanite::lifetime
