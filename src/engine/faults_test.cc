// Every system call the engine makes fails once, and once for good: nothing is acknowledged that is
// not there later, and the engine works again by itself when the device does.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cerrno>
#include <map>
#include <set>

#include "engine/sweep.h"
#include "engine/test_location.h"
#include "os/fault.h"

namespace kyanite::engine {
namespace {

using store::Error;
using store::pattern;

// What the records may be after some commits succeeded and some failed.
class Expected {
 public:
  void tried(const std::string& name, const std::string& value, bool acknowledged) {
    auto& may = values_.try_emplace(name, std::set<std::string>{kAbsent}).first->second;
    if (acknowledged) may.clear();
    may.insert(value);
  }
  void check(Engine& engine, const std::string& when) const {
    for (const auto& [name, may] : values_) {
      auto record = get(engine, name);
      ASSERT_TRUE(record.ok()) << when;
      const std::string value = *record == nullptr ? kAbsent : (*record)->value;
      EXPECT_TRUE(may.contains(value)) << when << ": " << name << " is " << value;
      if (*record == nullptr) continue;
      for (const auto& ref : (*record)->refs) {
        EXPECT_TRUE(bytes_of(engine, ref) == content(name, value)) << when << ": " << name;
      }
    }
  }
  static std::string content(const std::string& name, const std::string& value) {
    return pattern(5'000, std::hash<std::string>{}(name + value));
  }
  static constexpr const char* kAbsent = "(absent)";

 private:
  std::map<std::string, std::set<std::string>> values_;
};

class Client {
 public:
  Client(Engine& engine, Expected& expected) : engine_(engine), expected_(expected) {}

  bool write(const std::string& name, const std::string& value, bool with_bytes) {
    const auto hold = engine_.hold();
    std::vector<store::Ref> refs;
    if (with_bytes) {
      auto ref = append(engine_, Expected::content(name, value));
      if (!ref) return false;
      refs.push_back(*ref);
    }
    const bool done = put(engine_, name, value, refs).ok();
    expected_.tried(name, value, done);
    return done;
  }
  bool erase(const std::string& name) {
    const bool done = remove(engine_, name).ok();
    expected_.tried(name, Expected::kAbsent, done);
    return done;
  }

 private:
  Engine& engine_;
  Expected& expected_;
};

// A bit of everything. `calls` of one run to the next are about the same.
void use(Engine& engine, Expected& expected, const std::string& value) {
  Client client(engine, expected);
  client.write("plain", value, false);
  client.write("bytes", value, true);
  client.write("doomed", value, true);
  client.erase("doomed");
  client.write("plain", value + " again", false);
  client.write("bytes", value + " again", true);
  (void)engine.sweep_now().ok();
}

// Succeeds at the latest when the engine has tried to repair itself a few times.
bool works_again(Engine& engine, Expected& expected) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  Client client(engine, expected);
  while (std::chrono::steady_clock::now() < deadline) {
    if (client.write("bytes", "healed", true) && client.write("plain", "healed", false))
      return true;
  }
  return false;
}

enum class Lasting { kOnce, kForGood };

// Runs everything with the Nth call failing; false when there were fewer calls.
bool run_with_fault(int n, int code, Lasting lasting) {
  SCOPED_TRACE("call " + std::to_string(n) + ", error " + std::to_string(code) +
               (lasting == Lasting::kOnce ? " once" : " for good"));
  TestLocation location;
  Expected expected;
  std::atomic<int> calls{0};
  const auto fault = [&](os::SystemCall, std::string_view) {
    const int call = ++calls;
    return os::Fault{call == n || (call > n && lasting == Lasting::kForGood) ? code : 0};
  };
  os::set_fault_hook(fault);
  if (auto engine = Engine::open(location.options()); engine.ok()) {
    use(**engine, expected, "first");
    os::set_fault_hook({});
    expected.check(**engine, "after the fault");
    EXPECT_TRUE(works_again(**engine, expected));
    expected.check(**engine, "after healing");
    os::set_fault_hook(fault);
  } else {
    EXPECT_FALSE(engine.error().empty());
  }
  const bool reached = calls >= n;
  os::set_fault_hook({});
  auto engine = location.open();
  expected.check(*engine, "after opening again");
  use(*engine, expected, "second");
  expected.check(*engine, "at the end");
  return reached;
}

class Faults : public testing::TestWithParam<std::pair<int, Lasting>> {
 protected:
  void TearDown() override { os::set_fault_hook({}); }
};

TEST_P(Faults, NeverALieWhicheverCallFails) {
  const auto [code, lasting] = GetParam();
  int n = 1;
  while (run_with_fault(n, code, lasting) && !HasFailure()) ++n;
  EXPECT_GT(n, 50) << "the hook sees too few calls to mean anything";
  EXPECT_LT(n, 1000);
}

INSTANTIATE_TEST_SUITE_P(Engine, Faults,
                         testing::Values(std::pair(EIO, Lasting::kOnce),
                                         std::pair(ENOSPC, Lasting::kOnce),
                                         std::pair(EIO, Lasting::kForGood),
                                         std::pair(ENOSPC, Lasting::kForGood)));

class LogFaults : public testing::Test {
 protected:
  void TearDown() override { os::set_fault_hook({}); }
  static void fail_log(os::SystemCall failing, int code) {
    os::set_fault_hook([=](os::SystemCall call, std::string_view path) {
      return os::Fault{call == failing && path.ends_with(".log") ? code : 0};
    });
  }
  TestLocation location_;
  std::unique_ptr<Engine> engine_ = location_.open();
};

TEST_F(LogFaults, NoSpaceIsSaidAndOverAsSoonAsThereIsSome) {
  ASSERT_TRUE(put(*engine_, "a", "1").ok());
  fail_log(os::SystemCall::kWrite, ENOSPC);
  EXPECT_EQ(put(*engine_, "a", "2").error(), Error::kUnknown) << "it was on its way";
  EXPECT_EQ(put(*engine_, "a", "3").error(), Error::kFull);
  EXPECT_EQ(get(*engine_, "a").value()->value, "1") << "reading goes on";
  EXPECT_TRUE(RunLoop::run(engine_->look([](const store::View& view) -> store::Result<void> {
                EXPECT_EQ((*view.get(test_key("a")))->value, "1");
                return {};
              })).ok());
  os::set_fault_hook({});
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (!put(*engine_, "a", "4").ok() && std::chrono::steady_clock::now() < deadline) {
  }
  EXPECT_EQ(get(*engine_, "a").value()->value, "4");
  EXPECT_GE(engine_->metrics().repairs, 1u);
  EXPECT_GE(engine_->metrics().failed_commits, 2u);
}

TEST_F(LogFaults, SnapshotsEndWithARepair) {
  const auto seen_by = [](store::Snapshot& snapshot) {
    return RunLoop::run(snapshot.look([](const store::View& view) -> store::Result<void> {
      auto got = view.get(test_key("a"));
      if (!got) return got.error();
      EXPECT_EQ((*got)->value, "1");
      return {};
    }));
  };
  ASSERT_TRUE(put(*engine_, "a", "1").ok());
  const auto used = engine_->snapshot();
  const auto unused = engine_->snapshot();
  auto dropped = engine_->snapshot();
  EXPECT_TRUE(seen_by(*used).ok());
  EXPECT_TRUE(seen_by(*dropped).ok());
  fail_log(os::SystemCall::kWrite, EIO);
  EXPECT_FALSE(put(*engine_, "b", "1").ok());
  EXPECT_TRUE(seen_by(*used).ok()) << "reading goes on";
  os::set_fault_hook({});
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (!put(*engine_, "b", "2").ok() && std::chrono::steady_clock::now() < deadline) {
  }
  ASSERT_GE(engine_->metrics().repairs, 1u);
  EXPECT_EQ(seen_by(*used).error(), Error::kIo);
  dropped.reset();
  EXPECT_EQ(seen_by(*used).error(), Error::kIo);
  EXPECT_TRUE(seen_by(*unused).ok());
  EXPECT_TRUE(seen_by(*engine_->snapshot()).ok());
}

TEST_F(LogFaults, AFailedSyncIsNeverAcknowledged) {
  ASSERT_TRUE(put(*engine_, "a", "1").ok());
  fail_log(os::SystemCall::kSync, EIO);
  EXPECT_EQ(put(*engine_, "a", "2").error(), Error::kUnknown);
  os::set_fault_hook({});
  // The next commit repairs first, and decides from what is on the disk: either value, but the same
  // for everyone.
  EXPECT_TRUE(put(*engine_, "b", "1").ok());
  const auto seen = get(*engine_, "a").value();
  EXPECT_TRUE(seen->value == "1" || seen->value == "2");
  EXPECT_TRUE(
      RunLoop::run(engine_->commit({{{test_key("a"), seen}}, {{test_key("a"), nullptr}}})).ok());
  engine_.reset();
  engine_ = location_.open();
  EXPECT_EQ(get(*engine_, "a").value(), nullptr);
  EXPECT_EQ(get(*engine_, "b").value()->value, "1");
}

TEST_F(LogFaults, WhatWasReadWhileInDoubtIsReadAgainAfterTheRepair) {
  ASSERT_TRUE(put(*engine_, "a", "1").ok());
  fail_log(os::SystemCall::kSync, EIO);
  EXPECT_EQ(put(*engine_, "a", "2").error(), Error::kUnknown);
  EXPECT_EQ(get(*engine_, "a").value()->value, "1");
  os::set_fault_hook({});
  ASSERT_TRUE(put(*engine_, "b", "1").ok());
  std::string on_disk;
  EXPECT_TRUE(RunLoop::run(engine_->look([&](const store::View& view) -> store::Result<void> {
                on_disk = (*view.get(test_key("a")))->value;
                return {};
              })).ok());
  ASSERT_EQ(on_disk, "2") << "only the sync failed";
  EXPECT_EQ(get(*engine_, "a").value()->value, on_disk);
}

TEST_F(LogFaults, ASweepSparesWhatACommitInDoubtLists) {
  const std::string bytes = pattern(5'000, 1);
  const auto ref = append(*engine_, bytes);
  ASSERT_TRUE(ref.ok());
  engine_.reset();
  engine_ = location_.open();  // Seals the extent, so that it can be swept.
  fail_log(os::SystemCall::kSync, EIO);
  EXPECT_EQ(put(*engine_, "a", "1", {*ref}).error(), Error::kUnknown);
  EXPECT_TRUE(engine_->sweep_now().ok());
  os::set_fault_hook({});
  ASSERT_TRUE(put(*engine_, "b", "1").ok());
  const auto found = get(*engine_, "a").value();
  ASSERT_NE(found, nullptr) << "only the sync failed";
  EXPECT_TRUE(bytes_of(*engine_, found->refs.at(0)) == bytes);
}

// Where the records can only be read they show also what may not be durable: what a commit in doubt
// removes may come back.
TEST_F(LogFaults, NothingIsSweptWhileTheRecordsCanOnlyBeRead) {
  const std::string bytes = pattern(5'000, 1);
  const auto ref = append(*engine_, bytes);
  ASSERT_TRUE(ref.ok() && put(*engine_, "a", "1", {*ref}).ok());
  engine_.reset();
  engine_ = location_.open();  // Seals the extent, so that it can be swept.
  const auto last = append(*engine_, bytes);
  ASSERT_TRUE(last.ok() && put(*engine_, "b", "1", {*last}).ok());
  fail_log(os::SystemCall::kSync, EIO);
  EXPECT_EQ(remove(*engine_, "a").error(), Error::kUnknown);
  os::set_fault_hook([](os::SystemCall call, std::string_view path) {
    const bool table = path.ends_with(".sst") || path.find("MANIFEST") != path.npos;
    return os::Fault{call == os::SystemCall::kOpen && table ? EIO : 0};
  });
  EXPECT_EQ(put(*engine_, "b", "2").error(), Error::kIo) << "the repair fails";
  EXPECT_TRUE(get(*engine_, "b").ok()) << "reading goes on";
  EXPECT_FALSE(engine_->sweep_now().ok());
  EXPECT_TRUE(bytes_of(*engine_, *ref) == bytes);
  os::set_fault_hook({});
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (engine_->metrics().repairs == 0 && std::chrono::steady_clock::now() < deadline)
    (void)put(*engine_, "b", "3").ok();
  EXPECT_TRUE(engine_->sweep_now().ok());
}

// No more files than there are now; as before when it goes.
class NoDescriptors {
 public:
  NoDescriptors() {
    CHECK(getrlimit(RLIMIT_NOFILE, &before_) == 0);
    rlimit none = before_;
    none.rlim_cur = 0;
    CHECK(setrlimit(RLIMIT_NOFILE, &none) == 0);
  }
  ~NoDescriptors() { CHECK(setrlimit(RLIMIT_NOFILE, &before_) == 0); }

 private:
  rlimit before_{};
};

TEST_F(LogFaults, DescriptorsThatComeBackMendItWithoutACommit) {
  ASSERT_TRUE(put(*engine_, "a", "1").ok());
  const auto expect_readable = [&] {  // Not from the cache.
    EXPECT_TRUE(RunLoop::run(engine_->look([](const store::View& view) -> store::Result<void> {
                  auto record = view.get(test_key("a"));
                  if (!record) return record.error();
                  EXPECT_EQ((*record)->value, "1");
                  return {};
                })).ok());
  };
  {
    const NoDescriptors none;
    fail_log(os::SystemCall::kWrite, EIO);
    EXPECT_EQ(put(*engine_, "a", "2").error(), Error::kUnknown);
    os::set_fault_hook({});
    EXPECT_EQ(put(*engine_, "a", "3").error(), Error::kIo) << "nothing can be opened";
    expect_readable();
  }
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (engine_->metrics().repairs == 0 && std::chrono::steady_clock::now() < deadline) {
    expect_readable();
  }
  EXPECT_EQ(engine_->metrics().repairs, 1u) << "nobody has tried to mend it";
  EXPECT_TRUE(put(*engine_, "a", "4").ok());
}

TEST_F(LogFaults, ConflictsAreConflictsEvenBesideFailures) {
  ASSERT_TRUE(put(*engine_, "a", "1").ok());
  fail_log(os::SystemCall::kSync, EIO);
  auto refused = RunLoop::run(
      engine_->commit({{{test_key("a"), nullptr}}, {{test_key("a"), store::record_of("2")}}}));
  EXPECT_EQ(refused.error(), Error::kConflict);
}

TEST_F(LogFaults, ShortWritesAreCompleted) {
  os::set_fault_hook([](os::SystemCall, std::string_view) { return os::Fault{0, 1000}; });
  const std::string bytes = pattern(100'000, 1);
  auto ref = append(*engine_, bytes);
  ASSERT_TRUE(ref.ok());
  ASSERT_TRUE(put(*engine_, "a", bytes, {*ref}).ok());
  engine_.reset();
  engine_ = location_.open();
  EXPECT_TRUE(get(*engine_, "a").value()->value == bytes);
  EXPECT_TRUE(bytes_of(*engine_, *ref) == bytes);
}

}  // namespace
}  // namespace kyanite::engine
