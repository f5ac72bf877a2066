// What one share has copied from another stays when the other is gone, with all that the disk had
// of it.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "engine/sweep.h"
#include "engine/test_location.h"
#include "tree/handles_test_support.h"

namespace kyanite::server {
namespace {

constexpr uint64_t kBytes = 600'000;

class CopiedContent : public testing::Test {
 protected:
  // Opens again, so that the sweep looks at all extents there are.
  void seal_all() {
    engine_.reset();
    engine_ = location_.open();
  }
  // As the job does that removes what deleted shares leave behind.
  void remove_records(store::SpaceId space) {
    store::Commit commit;
    const store::Look look = [&](const store::View& view) -> store::Result<void> {
      auto cursor = view.scan(store::Range::space(space));
      for (; cursor->valid(); cursor->next())
        commit.remove(store::Key::from_bytes(std::string(cursor->key())));
      return cursor->status();
    };
    ASSERT_TRUE(RunLoop::run(engine_->look(look)).ok());
    ASSERT_FALSE(commit.writes.empty());
    ASSERT_TRUE(RunLoop::run(engine_->commit(std::move(commit))).ok());
  }

  engine::TestLocation location_;
  std::unique_ptr<engine::Engine> engine_ = location_.open();
};

TEST_F(CopiedContent, OutlivesTheShareThatItIsFrom) {
  const std::string bytes = store::pattern(kBytes, 1);
  constexpr store::SpaceId kSource = 8;
  {
    tree::HandleTree source(*engine_);
    source.tree.space = kSource;
    tree::HandleTree target(*engine_);
    tree::Opened from = source.open("from");
    tree::Opened other = source.open("not copied");
    tree::Opened to = target.open("to");
    ASSERT_EQ(source.write(from, 0, bytes), "ok");
    ASSERT_EQ(source.write(other, 0, store::pattern(kBytes, 2)), "ok");
    ASSERT_EQ(source.flush(from), "ok");
    store::Occasion occasion(*engine_, target.lines, target.clock);
    ASSERT_TRUE(RunLoop::run(tree::copy_range(occasion, from, 0, to, 0, kBytes)).ok());
    for (tree::Opened* each : {&from, &other}) ASSERT_EQ(source.close(*each), "ok");
    ASSERT_EQ(target.close(to), "ok");
  }
  seal_all();
  remove_records(kSource);
  seal_all();
  const auto report = engine_->sweep_now();
  ASSERT_TRUE(report.ok());
  EXPECT_GE(report->reclaimed_bytes, kBytes) << "what was not copied is gone";
  EXPECT_LT(report->reclaimed_bytes, 2 * kBytes);
  tree::HandleTree target(*engine_);
  tree::Opened to = target.open("to");
  EXPECT_TRUE(target.read(to) == bytes);
  EXPECT_EQ(target.close(to), "ok");
}

}  // namespace
}  // namespace kyanite::server
