// What is left after the process or the power is gone: everything acknowledged, and of the rest
// each commit whole or not at all.
#include <gtest/gtest.h>

#include <condition_variable>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <set>
#include <sstream>
#include <thread>

#include "base/random.h"
#include "engine/sweep.h"
#include "engine/test_location.h"
#include "engine/test_process.h"
#include "os/directory.h"
#include "os/fault.h"

namespace kyanite::engine {
namespace {

using store::pattern;
namespace fs = std::filesystem;

constexpr int kWriters = 3;

std::string content(int number) {
  return pattern(100 + static_cast<size_t>(number) * 1237 % 40'000, static_cast<uint64_t>(number));
}

// One commit makes two records, one of them with bytes.
Task<bool> commit_pair(Engine& engine, int number) {
  const auto hold = engine.hold();
  auto ref = co_await engine.append(Buffer::copy_of(content(number)));
  if (!ref.ok()) co_return false;
  const std::string partition = std::to_string(number);
  const auto record = store::record_of(partition, {*ref});
  store::Commit commit;
  commit.guards = {{store::Key(1, 'l', partition), nullptr}};
  commit.writes = {{store::Key(1, 'l', partition), record},
                   {store::Key(1, 'r', partition), store::record_of("right")}};
  co_return (co_await engine.commit(std::move(commit))).ok();
}

// Commits pairs for ever, several at a time, and tells of each that is acknowledged.
void write_pairs(Engine& engine, const std::function<bool(int)>& acknowledged) {
  std::atomic<int> next{0};
  std::vector<std::thread> writers;
  for (int i = 0; i < kWriters; ++i) {
    writers.emplace_back([&] {
      while (true) {
        const int number = next++;
        if (!RunLoop::run(commit_pair(engine, number))) return;
        if (!acknowledged(number)) return;
      }
    });
  }
  for (auto& writer : writers) writer.join();
}

// Every acknowledged pair is there with its bytes; every other is whole or absent.
void check_pairs(const TestLocation& location, const std::set<int>& acknowledged) {
  auto engine = location.open();
  const int beyond = (acknowledged.empty() ? 0 : *acknowledged.rbegin()) + 2 * kWriters;
  for (int number = 0; number <= beyond; ++number) {
    const std::string partition = std::to_string(number);
    auto left = RunLoop::run(engine->get(store::Key(1, 'l', partition)));
    auto right = RunLoop::run(engine->get(store::Key(1, 'r', partition)));
    ASSERT_TRUE(left.ok() && right.ok());
    EXPECT_EQ(*left == nullptr, *right == nullptr) << number << " is half there";
    EXPECT_TRUE(*left != nullptr || !acknowledged.contains(number)) << number << " is lost";
    if (*left == nullptr) continue;
    EXPECT_TRUE(bytes_of(*engine, (*left)->refs.front()) == content(number)) << number;
  }
  EXPECT_TRUE(RunLoop::run(commit_pair(*engine, beyond + 1))) << "not writable any more";
}

TEST(RecoveryProcess, DISABLED_WritesPairs) {
  const auto location = TestProcess::location();
  auto engine = location.open();
  write_pairs(*engine, TestProcess::say);
}

TEST(Recovery, OfAKilledProcess) {
  for (int round = 0; round < 6; ++round) {
    TestLocation location;
    TestProcess process("RecoveryProcess.DISABLED_WritesPairs", location);
    std::set<int> acknowledged;
    const size_t enough = 1 + random_u64() % 200;
    int number = 0;
    while (acknowledged.size() < enough && process.hear(number)) acknowledged.insert(number);
    process.kill_it();
    process.wait();
    // Those acknowledged between what we heard last and the kill count too.
    while (process.hear(number)) acknowledged.insert(number);
    EXPECT_GE(acknowledged.size(), enough);
    check_pairs(location, acknowledged);
  }
}

// Keeps, beside a location, what would be on its disk if the power went now: of each file what it
// held at its last sync.
class SyncedCopy {
 public:
  explicit SyncedCopy(const TestLocation& original) : original_(original) {
    os::set_fault_hook([this](os::SystemCall call, std::string_view path) {
      if (call == os::SystemCall::kSync) keep(std::string(path));
      return os::Fault{};
    });
  }
  ~SyncedCopy() { os::set_fault_hook({}); }

  // Makes the copy a location of its own. Names are taken as durable; contents are not.
  void cut_power() {
    std::lock_guard lock(mutex_);
    fs::remove_all(copy_.path());
    fs::copy(original_.path(), copy_.path(), fs::copy_options::recursive);
    for (const auto& file : fs::recursive_directory_iterator(copy_.path())) {
      const auto name = fs::relative(file.path(), copy_.path()).string();
      if (!name.ends_with(".log") && !name.ends_with(".ext") && !name.ends_with(".sst")) continue;
      // Written without os/, whose calls would come back here.
      std::ofstream(file.path(), std::ios::trunc) << synced_[name];
    }
  }
  const TestLocation& copy() const { return copy_; }

 private:
  void keep(const std::string& path) {
    if (!path.starts_with(original_.path()) || fs::is_directory(path)) return;
    std::lock_guard lock(mutex_);
    std::stringstream bytes;
    bytes << std::ifstream(path).rdbuf();
    synced_[fs::relative(path, original_.path()).string()] = bytes.str();
  }

  const TestLocation& original_;
  TestLocation copy_;
  std::mutex mutex_;
  std::map<std::string, std::string> synced_;
};

TEST(Recovery, OfAPowerCut) {
  TestLocation location;
  SyncedCopy disk(location);
  auto engine = location.open();
  std::set<int> acknowledged;
  std::mutex mutex;
  write_pairs(*engine, [&](int number) {
    std::lock_guard lock(mutex);
    acknowledged.insert(number);
    if (acknowledged.size() % 20 == 0) {
      const std::set<int> so_far = acknowledged;
      disk.cut_power();
      check_pairs(disk.copy(), so_far);
    }
    return acknowledged.size() < 100 && !testing::Test::HasFailure();
  });
}

// As cp and tar do: one file after the other, in any order, while the engine goes on.
void copy_plainly(const TestLocation& from, const TestLocation& to) {
  std::vector<fs::path> files;
  for (const auto& file : fs::recursive_directory_iterator(from.path())) {
    const auto copy = to.path() / fs::relative(file.path(), from.path());
    if (file.is_directory()) {
      fs::create_directories(copy);
    } else {
      files.push_back(file.path());
    }
  }
  for (size_t left = files.size(); left > 0; --left) {
    std::swap(files[random_u64() % left], files[left - 1]);
    std::error_code gone;  // Deleted meanwhile.
    fs::copy_file(files[left - 1], to.path() / fs::relative(files[left - 1], from.path()), gone);
  }
}

// What README says of it: its files are of different moments, so it may be refused. Where it
// starts, or is made to by ACCEPT_LOSS, all that was acknowledged before the copy began is there.
TEST(Recovery, OfAPlainCopyOfARunningDirectory) {
  constexpr size_t kCopies = 12;
  constexpr size_t kBetween = 40;     // Acknowledged from one copy to the next at least,
  constexpr size_t kMostAhead = 200;  // and while one is made and read at most.
  TestLocation location;
  auto engine = location.open();
  std::mutex mutex;
  std::set<int> acknowledged;
  std::condition_variable more;
  size_t wanted = 0;
  bool enough = false;
  std::thread writing([&] {
    write_pairs(*engine, [&](int number) {
      std::unique_lock lock(mutex);
      acknowledged.insert(number);
      more.notify_all();
      more.wait(lock, [&] { return enough || acknowledged.size() < wanted + kMostAhead; });
      return !enough;
    });
  });
  size_t refused = 0;
  for (size_t i = 0; i < kCopies; ++i) {
    std::set<int> before;
    {
      std::unique_lock lock(mutex);
      wanted = acknowledged.size() + kBetween;
      more.notify_all();
      more.wait(lock, [&] { return acknowledged.size() >= wanted; });
      before = acknowledged;
    }
    TestLocation copy;
    copy_plainly(location, copy);
    if (auto opened = Engine::open(copy.options()); !opened.ok()) {
      ++refused;
      EXPECT_NE(opened.error().find("ACCEPT_LOSS"), std::string::npos) << opened.error();
      std::ofstream(copy.path() + "/ACCEPT_LOSS").flush();
    }
    auto opened = copy.open();
    for (const int number : before) {
      const std::string partition = std::to_string(number);
      auto left = RunLoop::run(opened->get(store::Key(1, 'l', partition)));
      const bool there = left.ok() && *left != nullptr;
      EXPECT_TRUE(there) << number << " of copy " << i << " is lost";
      if (!there) continue;
      EXPECT_TRUE(bytes_of(*opened, (*left)->refs.front()) == content(number)) << number;
    }
  }
  {
    std::lock_guard lock(mutex);
    enough = true;
  }
  more.notify_all();
  writing.join();
  std::printf("%zu of %zu copies were refused\n", refused, kCopies);
}

TEST(Recovery, OfATornLog) {
  // The part of the log that the last commit wrote is cut at every length: the commit before is
  // untouched.
  TestLocation location;
  auto engine = location.open();
  auto log_path = [&] {
    for (const auto& file : fs::directory_iterator(location.path() + "/records")) {
      if (file.path().extension() == ".log") return file.path().string();
    }
    return std::string();
  };
  // Without the zeros written ahead.
  auto log_bytes = [&] { return os::read_text(log_path())->find_last_not_of('\0') + 1; };
  ASSERT_TRUE(put(*engine, "a", "acknowledged").ok());
  const size_t before = log_bytes();
  const std::string ledger = os::read_text(location.path() + "/LOGS").value();
  ASSERT_TRUE(put(*engine, "b", "torn").ok());
  const size_t after = log_bytes();
  ASSERT_GT(after, before);
  for (size_t length = before; length < after; ++length) {
    for (bool zeros : {false, true}) {
      TestLocation torn;
      fs::copy(location.path(), torn.path(), fs::copy_options::recursive);
      const std::string path = torn.path() + log_path().substr(location.path().size());
      fs::resize_file(path, length);
      if (zeros) fs::resize_file(path, 1 << 20);
      // Where the second commit was acknowledged the cut is no power cut.
      const auto refused = Engine::open(torn.options());
      ASSERT_FALSE(refused.ok());
      EXPECT_NE(refused.error().find(".log"), std::string::npos) << refused.error();
      std::ofstream(torn.path() + "/LOGS", std::ios::binary) << ledger;
      auto recovered = torn.open();
      ASSERT_NE(get(*recovered, "a").value(), nullptr) << length;
      EXPECT_EQ(get(*recovered, "b").value(), nullptr) << length;
      EXPECT_TRUE(put(*recovered, "c", "writable").ok());
    }
  }
}

TEST(Recovery, OfADamagedLog) {
  // A bit turns over in a commit that others follow: the engine says so and loses nothing.
  TestLocation location;
  auto engine = location.open();
  for (const char* name : {"a", "b", "c"}) ASSERT_TRUE(put(*engine, name, pattern(300, 1)).ok());
  ASSERT_TRUE(put(*engine, "large", pattern(100'000, 2)).ok());
  TestLocation damaged;  // As after a kill.
  fs::copy(location.path(), damaged.path(), fs::copy_options::recursive);
  std::string log;
  for (const auto& file : fs::directory_iterator(damaged.path() + "/records")) {
    if (file.path().extension() == ".log") log = file.path().string();
  }
  auto flip = [&](size_t at) {
    std::fstream file(log, std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(static_cast<std::streamoff>(at));
    const char byte = static_cast<char>(file.get() ^ 4);
    file.seekp(static_cast<std::streamoff>(at));
    file.put(byte);
  };
  // Every part of the first record, of its header above all, and some of the next.
  std::set<size_t> places{0, 1, 2, 3, 4, 5, 6};
  for (size_t at = 7; at < 900; at += 50) places.insert(at);
  for (const size_t at : places) {
    flip(at);
    auto refused = Engine::open(damaged.options());
    ASSERT_FALSE(refused.ok()) << at;
    EXPECT_NE(refused.error().find(".log is damaged"), std::string::npos) << refused.error();
    flip(at);
  }
  flip(50'000);  // In the last commit: only the ledger knows that it was acknowledged.
  auto refused = Engine::open(damaged.options());
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().find("acknowledged commits"), std::string::npos) << refused.error();
  damaged.forget_logs();  // Now it looks as if the power had gone while it was written.
  auto recovered = damaged.open();
  for (const char* name : {"a", "b", "c"})
    EXPECT_NE(get(*recovered, name).value(), nullptr) << name;
  EXPECT_EQ(get(*recovered, "large").value(), nullptr);
}

TEST(Recovery, OfTwoLogs) {
  // As after a kill while the records of the older log are being written to a table. When the
  // newer one has commits, the older one was complete.
  constexpr int kCommits = 4;
  constexpr size_t kFromNewer = 2;  // Which commits are in the newer one.
  TestLocation location;
  auto engine = location.open();
  for (int i = 0; i < kCommits; ++i)
    ASSERT_TRUE(put(*engine, std::to_string(i), pattern(300, 1)).ok());
  const std::string name = [&] {
    for (const auto& file : fs::directory_iterator(location.path() + "/records"))
      if (file.path().extension() == ".log") return file.path().filename().string();
    return std::string();
  }();
  const std::string log = os::read_text(location.path() + "/records/" + name).value();
  std::vector<std::string> records;
  for (size_t at = 0; log[at + 6] != 0;) {
    const size_t size =
        7 + static_cast<uint8_t>(log[at + 4]) + 256 * static_cast<uint8_t>(log[at + 5]);
    records.push_back(log.substr(at, size));
    at += size;
  }
  ASSERT_EQ(records.size(), kCommits + 1);
  const std::string of_start = records.front();
  records.erase(records.begin());

  auto damaged = records[kFromNewer - 1];
  damaged[100] = static_cast<char>(damaged[100] ^ 4);
  const auto cut = records[kFromNewer - 1].substr(0, 100);
  struct Case {
    std::string last_of_older;
    bool opens;
  };
  for (const auto& [last, opens] : {Case{records[kFromNewer - 1], true}, Case{damaged, false},
                                    Case{cut, false}, Case{"", false}}) {
    TestLocation copy;
    fs::copy(location.path(), copy.path(), fs::copy_options::recursive);
    const auto older = copy.path() + "/records/" + name;
    const auto newer = copy.path() + "/records/999999.log";
    copy.forget_logs();
    std::ofstream(older, std::ios::binary)
        << of_start << records[0] << last << std::string(100, '\0');
    std::ofstream(newer, std::ios::binary) << records[2] << records[3] << std::string(100, '\0');
    auto opened = Engine::open(copy.options());
    ASSERT_EQ(opened.ok(), opens) << last.size();
    if (!opens) {
      EXPECT_NE(opened.error().find(name + " is damaged at its end"), std::string::npos)
          << opened.error();
      continue;
    }
    for (int i = 0; i < kCommits; ++i)
      EXPECT_NE(get(**opened, std::to_string(i)).value(), nullptr) << i;
  }
}

}  // namespace
}  // namespace kyanite::engine
