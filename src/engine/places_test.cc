// Each kind of waiting has its own place: what fills one leaves the others as they are.
#include <future>
#include <semaphore>

#include "engine/engine.h"
#include "engine/test_location.h"

namespace kyanite::engine {
namespace {

using store::Error;

constexpr int kRows = 200;
constexpr int kBeyondTheFirstTurn = 100;

store::Key row_key(int i) { return store::Key(1, 'r', "p", std::to_string(1000 + i)); }

class Places : public testing::Test {
 protected:
  void SetUp() override {
    Options options = location_.options();
    options.scan_threads = 1;
    options.most_waiting = 4;
    options.first_scan_turn = std::chrono::microseconds(0);
    options.scan_turn = std::chrono::microseconds(0);
    options.unawaited_turn = std::chrono::hours(1);
    auto opened = Engine::open(options);
    ASSERT_TRUE(opened.ok());
    engine_ = std::move(*opened);
    store::Commit commit;
    for (int i = 0; i < kRows; ++i) commit.put(row_key(i), store::record_of("v"));
    ASSERT_TRUE(RunLoop::run(engine_->commit(std::move(commit))).ok());
  }

  // Runs scans side by side on threads of their own; tells how they ended.
  std::future<store::Result<void>> start_scan(store::See see) {
    return std::async(std::launch::async, [this, see = std::move(see)] {
      return RunLoop::run(store::scan(*engine_, store::Range::family(1, 'r'), see));
    });
  }

  TestLocation location_;
  std::unique_ptr<Engine> engine_;
};

// A scan that a slow disk has stopped, and as many that wait for it as may.
TEST_F(Places, AppendsAndReadsDoNotWaitForScans) {
  std::promise<void> begun;
  std::promise<void> go;
  int seen = 0;
  auto stopped = start_scan([&](const store::View::Cursor&) -> store::Result<bool> {
    if (++seen == kBeyondTheFirstTurn) {
      begun.set_value();
      go.get_future().wait();
    }
    return true;
  });
  begun.get_future().wait();
  std::atomic<int> shown = 0;
  std::vector<std::future<store::Result<void>>> waiting;
  for (int i = 0; i < 4; ++i) {
    waiting.push_back(start_scan([&](const store::View::Cursor&) -> store::Result<bool> {
      ++shown;
      return true;
    }));
  }
  while (engine_->metrics().waiting_scans < 4) std::this_thread::yield();

  const auto refused = RunLoop::run(
      store::scan(*engine_, store::Range::family(1, 'r'),
                  [](const store::View::Cursor&) -> store::Result<bool> { return true; }));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error(), Error::kBusy);
  const auto ref = append(*engine_, "bytes");
  ASSERT_TRUE(ref.ok());
  EXPECT_EQ(bytes_of(*engine_, *ref), "bytes");
  EXPECT_TRUE(put(*engine_, "written", "meanwhile", {*ref}).ok());
  EXPECT_TRUE(RunLoop::run(engine_->look([](const store::View& view) -> store::Result<void> {
                return view.get(row_key(1)).ok() ? store::Result<void>() : Error::kIo;
              })).ok());

  EXPECT_LT(shown, 4 * kBeyondTheFirstTurn);
  go.set_value();
  EXPECT_TRUE(stopped.get().ok());
  for (auto& scan : waiting) EXPECT_TRUE(scan.get().ok());
  EXPECT_EQ(shown, 4 * (kRows));
}

// With one thread and no time for a turn scans alternate; none runs to its end before the others
// have begun.
TEST_F(Places, ScansTakeTurns) {
  std::promise<void> begun;
  std::promise<void> go;
  std::atomic<int> others_done = 0;
  int done_at_end = 0;
  int seen = 0;
  auto lengthy = start_scan([&](const store::View::Cursor&) -> store::Result<bool> {
    if (++seen == kBeyondTheFirstTurn) {
      begun.set_value();
      go.get_future().wait();
    }
    if (seen == kRows) done_at_end = others_done;
    return true;
  });
  begun.get_future().wait();
  std::vector<std::future<store::Result<void>>> others;
  for (int i = 0; i < 3; ++i) {
    others.push_back(
        start_scan([&, left = 20](const store::View::Cursor&) mutable -> store::Result<bool> {
          if (--left > 0) return true;
          ++others_done;
          return false;  // All it wants, in two turns or three.
        }));
  }
  while (engine_->metrics().waiting_scans < 3) std::this_thread::yield();
  go.set_value();
  EXPECT_TRUE(lengthy.get().ok());
  for (auto& scan : others) EXPECT_TRUE(scan.get().ok());
  EXPECT_EQ(seen, kRows);
  EXPECT_EQ(done_at_end, 3);
}

// What is short never waits for what is long.
TEST_F(Places, ShortScansDoNotWaitForLongOnes) {
  std::promise<void> begun;
  std::promise<void> go;
  int seen = 0;
  auto lengthy = start_scan([&](const store::View::Cursor&) -> store::Result<bool> {
    if (++seen == kBeyondTheFirstTurn) {
      begun.set_value();
      go.get_future().wait();
    }
    return true;
  });
  begun.get_future().wait();
  auto brief = start_scan([](const store::View::Cursor&) -> store::Result<bool> { return false; });
  EXPECT_TRUE(brief.get().ok());
  go.set_value();
  EXPECT_TRUE(lengthy.get().ok());
}

// A thread of which a test says whether others wait for it.
class Desk final : public Executor {
 public:
  Desk() { set_current(this); }
  ~Desk() override { set_current(nullptr); }
  bool is_awaited() override { return ++asked > unawaited_asks; }
  void post(std::coroutine_handle<> coroutine) override {
    posted = coroutine;
    is_posted.release();
  }

  // Whether a look goes on over all rows right here; it ends where it has had enough, or after
  // `most` times all rows.
  bool look_here(store::Snapshot& snapshot, int most) {
    bool is_here = false;
    const auto here = std::this_thread::get_id();
    bool done = false;
    [](store::Snapshot& over, store::Look look,
       bool& flag) -> Detached {
      EXPECT_TRUE((co_await over.look(std::move(look))).ok());
      flag = true;
    }(
                       snapshot,
                       [&](const store::View& view) -> store::Result<void> {
                         is_here = std::this_thread::get_id() == here;
                         for (times = 0; times < most && !view.enough(); ++times) {
                           for (auto cursor = view.scan(store::Range::family(1, 'r'));
                                cursor->valid();)
                             cursor->next();
                         }
                         return {};
                       },
                       done);
    if (!done) {
      is_posted.acquire();
      posted.resume();
    }
    EXPECT_TRUE(done);
    return is_here;
  }

  int unawaited_asks = 0;
  int asked = 0;
  int times = 0;  // The last look went over all rows.
  std::coroutine_handle<> posted;
  std::binary_semaphore is_posted{0};
};

// What has had enough here goes on elsewhere, so that others on this thread come first.
TEST_F(Places, ALongLookOverASnapshotLeavesItsThreadToOthers) {
  const auto snapshot = engine_->snapshot();
  Desk desk;
  EXPECT_TRUE(desk.look_here(*snapshot, 1000));
  EXPECT_EQ(desk.times, 2) << "as many steps as a look may take without asking";
  EXPECT_FALSE(desk.look_here(*snapshot, 1000));
  EXPECT_FALSE(desk.look_here(*snapshot, 1000));
}

// Where nobody waits it stays, look after look.
TEST_F(Places, ALongLookStaysWhereNobodyWaits) {
  const auto snapshot = engine_->snapshot();
  Desk desk;
  desk.unawaited_asks = 1000;
  for (int look = 0; look < 3; ++look) {
    EXPECT_TRUE(desk.look_here(*snapshot, 20));
    EXPECT_EQ(desk.times, 20);
  }
  EXPECT_GT(desk.asked, 20) << "now and then";
  EXPECT_LT(desk.asked, 100);
  desk.asked = 0;
  desk.unawaited_asks = 3;  // Until somebody comes.
  EXPECT_TRUE(desk.look_here(*snapshot, 1000));
  EXPECT_LT(desk.times, 20);
  EXPECT_FALSE(desk.look_here(*snapshot, 20));
}

// But not for ever, whoever waits where nobody can see it.
TEST_F(Places, ALongLookLeavesItsThreadAfterItsTurn) {
  engine_.reset();
  Options options = location_.options();
  options.unawaited_turn = std::chrono::microseconds(0);
  auto opened = Engine::open(options);
  ASSERT_TRUE(opened.ok());
  engine_ = std::move(*opened);
  const auto snapshot = engine_->snapshot();
  Desk desk;
  desk.unawaited_asks = 1000;
  desk.look_here(*snapshot, 2);  // Reads what is not in memory.
  const auto warm = engine_->snapshot();
  EXPECT_TRUE(desk.look_here(*warm, 1000));
  EXPECT_EQ(desk.times, 2);
  EXPECT_FALSE(desk.look_here(*warm, 1000));
}

}  // namespace
}  // namespace kyanite::engine
