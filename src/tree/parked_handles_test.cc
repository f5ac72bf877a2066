// Handles whose clients are away.
#include <gtest/gtest.h>

#include "tree/caching_test_support.h"

namespace kyanite::tree {
namespace {

class ParkedHandles : public CachingTest {
 protected:
  struct Removed final : OpenFiles::Remover {
    void remove(const Handle& last, std::shared_ptr<void>, OpenFiles::Admission removal) override {
      path = last.path;
      admission = std::move(removal);
    }
    void ended(const std::shared_ptr<void>& front) override { fronts.push_back(front); }
    std::string path;
    std::vector<std::shared_ptr<void>> fronts;
    OpenFiles::Admission admission;
  };

  kyanite::Result<OpenFiles::Reclaimed, Refusal> reclaim(HandleId handle, bool is_it = true) {
    return table.reclaim(
        handle, [&](const Handle&, const void*) { return is_it; }, 9, "10.0.0.1:7", b);
  }
};

TEST_F(ParkedHandles, ComeBack) {
  const HandleId handle = must_open(table, wanting("RWH", a, '1'));
  ASSERT_TRUE(RunLoop::run(table.lock(handle, {{{0, 1}, true}})).ok());
  EXPECT_FALSE(reclaim(handle).ok()) << "its client is not away";
  const auto front = std::make_shared<int>(5);
  ASSERT_TRUE(table.park(handle, 60, front));
  clock.advance_seconds(59);
  table.pass_time();
  EXPECT_FALSE(reclaim(handle, false).ok());
  auto back = reclaim(handle);
  ASSERT_TRUE(back.ok());
  EXPECT_EQ(back->front, front);
  EXPECT_EQ(back->handle.session, 9u);
  EXPECT_EQ(back->handle.client, "10.0.0.1:7");
  EXPECT_EQ(back->handle.reconnected, clock.now());
  EXPECT_EQ(held(handle), "RWH");
  EXPECT_EQ(verdict(table, FileOperation::kPutRange), Refusal::kLockConflict) << "locks stay";
  // From now on its client is reached again.
  const auto other = begin_open(wanting("", a));
  EXPECT_EQ(b->told(), "RWH>RH!");
  clock.advance_seconds(2);
  table.pass_time();
  EXPECT_TRUE(table.find(handle));
  EXPECT_TRUE(table.close(handle).ok());
  EXPECT_TRUE(other->result) << "there is nobody to wait for any more";
}

TEST_F(ParkedHandles, AreClosedAtTheirTime) {
  const HandleId handle = must_open(table, wanting("RWH", a));
  ASSERT_TRUE(table.park(handle, 60, nullptr));
  clock.advance_seconds(60);
  table.pass_time();
  EXPECT_FALSE(table.find(handle));
  EXPECT_FALSE(reclaim(handle).ok());
  EXPECT_TRUE(table.list(kRootKey, true, 0, 10).empty());
  EXPECT_EQ(verdict(table, FileOperation::kDeleteFile), std::nullopt);
}

TEST_F(ParkedHandles, TellWhoeverParkedThemThatTheyAreClosed) {
  const auto front = std::make_shared<int>(5);
  const auto park = [&](OpenFiles& files) {
    const HandleId handle = must_open(files, wanting("RWH", a, '1'));
    EXPECT_TRUE(files.park(handle, 60, front));
    return handle;
  };
  using End = std::function<void(OpenFiles&, HandleId)>;
  const std::pair<const char*, End> ends[] = {
      {"their time is over",
       [&](OpenFiles& files, HandleId) {
         clock.advance_seconds(60);
         files.pass_time();
       }},
      {"another open",
       [&](OpenFiles& files, HandleId) { must_open(files, file_open(kReadAccess, kFullAccess)); }},
      {"by force",
       [&](OpenFiles& files, HandleId handle) { files.force_close(kFileKey, false, handle); }},
      {"the share is deleted",
       [&](OpenFiles& files, HandleId) { files.force_close_share(kShare); }},
  };
  for (const auto& [why, end] : ends) {
    OpenFiles files(clock);
    Removed removed;
    files.set_remover(&removed);
    const HandleId handle = park(files);
    end(files, handle);
    EXPECT_EQ(removed.fronts, std::vector<std::shared_ptr<void>>{front}) << why;
  }
  // Not when their client is back.
  Removed removed;
  table.set_remover(&removed);
  const HandleId handle = park(table);
  ASSERT_TRUE(reclaim(handle).ok());
  ASSERT_TRUE(table.close(handle).ok());
  EXPECT_TRUE(removed.fronts.empty());
}

TEST_F(ParkedHandles, GiveWay) {
  struct Row {
    const char* what;
    AccessSet share;
    bool other_shares;
  };
  // To an open that conflicts, and to one that takes what is cached; nobody waits.
  for (const auto share : {kNoAccess, kFullAccess}) {
    OpenFiles files(clock);
    FileOpen request = wanting("RWH", a, '1');
    request.mode.share = share;
    const HandleId handle = must_open(files, request);
    ASSERT_TRUE(files.park(handle, 60, nullptr));
    must_open(files, file_open(kReadAccess, kFullAccess));
    EXPECT_FALSE(files.find(handle));
    EXPECT_EQ(a->told(), "");
  }
  for (const auto operation : {FileOperation::kDeleteFile, FileOperation::kPutRange}) {
    OpenFiles files(clock);
    const HandleId handle = must_open(files, wanting("RWH", a, '1'));
    ASSERT_TRUE(files.park(handle, 60, nullptr));
    EXPECT_EQ(verdict(files, operation), std::nullopt);
    EXPECT_FALSE(files.find(handle));
  }
  // Not to one that takes nothing.
  const HandleId handle = must_open(table, wanting("RH", a, '1'));
  ASSERT_TRUE(table.park(handle, 60, nullptr));
  must_open(table, file_open(kReadAccess, kFullAccess));
  EXPECT_TRUE(reclaim(handle).ok());
}

TEST_F(ParkedHandles, OnlyWhoCachesAHandleMayLeaveIt) {
  const HandleId plain = must_open(table, file_open(kReadAccess, kFullAccess));
  EXPECT_FALSE(table.park(plain, 60, nullptr));
  const HandleId reading = must_open(table, wanting("R", a, '1'));
  EXPECT_FALSE(table.park(reading, 60, nullptr));
  const HandleId kept = must_open(table, wanting("RH", a, '2'));
  EXPECT_TRUE(table.park(kept, 60, nullptr));
}

TEST_F(ParkedHandles, MarkWhatOthersHaveOpenForWhoeverTheyGiveWayTo) {
  FileOpen request = wanting("RWH", a, '1');
  request.mode.access = kFullAccess;
  request.delete_on_close = true;
  const HandleId handle = must_open(table, request);
  FileOpen look = file_open(kNoAccess, kFullAccess);
  look.reach = concurrency::OpenReach::kAttributes;
  const HandleId looking = must_open(table, look);
  ASSERT_TRUE(table.park(handle, 60, nullptr));
  const auto refused = RunLoop::run(table.open(file_open(kReadAccess, kFullAccess)));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error(), Refusal::kDeletePending);
  EXPECT_FALSE(table.find(handle));
  EXPECT_TRUE(table.close(looking)->removal);
}

TEST_F(ParkedHandles, RemoveWhatTheyWereToDelete) {
  Removed removed;
  table.set_remover(&removed);
  FileOpen request = wanting("RWH", a, '1');
  request.mode.access = kFullAccess;
  request.delete_on_close = true;
  const HandleId handle = must_open(table, request);
  ASSERT_TRUE(table.park(handle, 60, nullptr));
  const auto second = begin_open(file_open(kReadAccess, kFullAccess));
  EXPECT_EQ(removed.path, "directory/file");
  EXPECT_FALSE(second->result) << "until it is removed";
  EXPECT_EQ(verdict(table, FileOperation::kGetFile), Refusal::kDeletePending);
  removed.admission = {};
  EXPECT_TRUE(second->result);
}

}  // namespace
}  // namespace kyanite::tree
