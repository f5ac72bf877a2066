// A client of SMB in memory, for tests and fuzzers: speaks by the codec's structures and shows
// every message. What it asks runs at once, on the calling thread.
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "drive/connection.h"
#include "drive/drive.h"
#include "drive/test_client.h"
#include "store/memory.h"

namespace kyanite::drive {

// Runs what is posted to it when it is told to. One thread's at a time.
class TestLoop final : public Executor {
 public:
  TestLoop() : before_(current()) { set_current(this); }
  ~TestLoop() override { set_current(before_); }

  void post(std::coroutine_handle<> coroutine) override {
    const std::lock_guard lock(mutex_);
    ready_.push_back(coroutine);
    wake_.notify_one();
  }

  void run_ready() {
    while (const auto next = take()) next.resume();
  }
  // Also waits for other threads to post; false after a time that no working server needs.
  template <class Condition>
  bool run_until(Condition condition) {
    while (!condition()) {
      std::unique_lock lock(mutex_);
      if (!wake_.wait_for(lock, std::chrono::seconds(30), [&] { return !ready_.empty(); }))
        return false;
      lock.unlock();
      run_ready();
    }
    return true;
  }

 private:
  std::coroutine_handle<> take() {
    const std::lock_guard lock(mutex_);
    if (ready_.empty()) return {};
    const auto next = ready_.front();
    ready_.pop_front();
    return next;
  }

  Executor* before_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::coroutine_handle<>> ready_;
};

// One account or two, each with the same shares: "data", one called "slow", which is found when
// `gate` opens, and all whose names begin with "long".
class TestShares final : public Shares {
 public:
  // Passwords with the serial numbers of the keys that they are. Whoever changes them counts up.
  std::map<std::string, std::vector<auth::ntlm::Password>, std::less<>> accounts = {
      {"acct", {{"Passw0rd!", 1}, {"second", 2}}}, {"other", {{"Other!", 3}}}};
  uint64_t changes = 1;
  AccountRules account_rules;
  bool encrypts = true;  // Some account does.
  tree::OpenFiles open_files;
  std::optional<store::Error> failure;
  store::SpaceId space = 7;
  bool deleted = false;
  std::optional<tree::Generation> snapshot;  // The one of each share, taken at any time.
  std::function<void()> snapshot_found = [] {};
  Pending<bool>* gate = nullptr;

  std::vector<auth::ntlm::Password> passwords(std::string_view account) const override {
    const auto found = accounts.find(account);
    return found == accounts.end() ? std::vector<auth::ntlm::Password>() : found->second;
  }
  uint64_t generation() const override { return changes; }
  bool has_key(std::string_view account, uint64_t serial) const override {
    const auto known = passwords(account);
    return std::any_of(known.begin(), known.end(),
                       [&](const auto& each) { return each.key_serial == serial; });
  }
  AccountRules rules(std::string_view) const override { return account_rules; }
  bool may_encrypt() const override { return encrypts; }
  Task<Result<std::optional<Share>, store::Error>> find(store::Occasion& occasion, std::string_view,
                                                        std::string_view name) override {
    if (failure) co_return *failure;
    if (name == "slow" && gate != nullptr) {
      Pending<bool>& opened = *gate;
      co_await opened;
    }
    const bool known = name == "data" || name == "slow" || name.starts_with("long");
    if (deleted || !known) co_return std::optional<Share>();
    Share share;
    share.name = name;
    share.tree = {space, occasion.now, &open_files};
    co_return std::optional<Share>(std::move(share));
  }
  Task<Result<std::vector<Time>, store::Error>> snapshots(store::Occasion&, const Share&,
                                                          size_t) override {
    co_return std::vector<Time>();
  }
  Task<Result<std::optional<tree::Tree>, store::Error>> find_snapshot(store::Occasion&,
                                                                      const Share& share,
                                                                      Time) override {
    if (!snapshot) co_return std::optional<tree::Tree>();
    tree::Tree tree = share.tree;
    tree.shown = snapshot;
    snapshot_found();
    co_return std::optional<tree::Tree>(std::move(tree));
  }
};

// Keeps what is written, and passes no time.
class MemoryCarrier final : public Carrier {
 public:
  MemoryCarrier(TestLoop& loop, std::string peer) : loop_(loop), peer_(std::move(peer)) {}

  Executor& loop() const override { return loop_; }
  std::string_view peer() const override { return peer_; }
  std::string local() const override { return local_address; }
  Task<bool> write(std::span<iovec> pieces, bool) override {
    if (held != nullptr) {
      Pending<bool>& taken = *held;
      co_await taken;
    }
    if (is_cut) co_return false;
    for (const iovec& piece : pieces)
      take({static_cast<const char*>(piece.iov_base), piece.iov_len});
    co_return true;
  }
  Task<bool> write_file(os::FileSlice slice) override {
    std::string bytes(slice.length, '\0');
    const auto got = slice.file->read_at(bytes.data(), bytes.size(), slice.offset);
    if (is_cut || !got || *got != bytes.size()) co_return false;
    slices.push_back(std::move(slice));
    take(bytes);
    co_return true;
  }
  bool all_arrived() const override { return arrived; }
  Task<void> sleep(std::chrono::milliseconds time) override {
    slept += time;
    co_return;
  }
  void cut() override { is_cut = true; }

  std::deque<std::string> frames;     // With their prefixes.
  std::vector<os::FileSlice> slices;  // Of them, what was sent from files.
  std::chrono::milliseconds slept{0};
  bool is_cut = false;
  bool arrived = true;  // What was written, at the peer's machine.
  std::string local_address = "127.0.0.1";
  Pending<bool>* held = nullptr;  // The peer takes nothing until this is set.

 private:
  void take(std::string_view bytes) {
    frame_ += bytes;
    if (frame_.size() < smb::kPrefixBytes) return;
    const auto prefix = smb::make_prefix(frame_.size() - smb::kPrefixBytes);
    if (!frame_.starts_with(std::string_view(prefix.data(), prefix.size()))) return;
    frames.push_back(std::exchange(frame_, {}));
  }

  TestLoop& loop_;
  const std::string peer_;
  std::string frame_;  // As far as it was written.
};

// A server without listeners.
struct TestWorld {
  TestWorld() : own_workers(std::in_place, 1), workers(*own_workers) {}
  // For worlds that come and go: threads take long to make.
  explicit TestWorld(Workers& shared) : workers(shared) {}

  TestLoop loop;
  store::MemoryStore store;
  store::KeyedLocks locks;
  std::optional<Workers> own_workers;
  Workers& workers;
  ManualClock clock{Time::from_unix_seconds(1'800'000'000)};
  TestShares shares;
  Drive drive{store, locks, workers, clock, shares};
};

class TestClient : public ClientSide {
 public:
  explicit TestClient(TestWorld& world, std::string peer = "127.0.0.1")
      : world_(world), carrier(world.loop, std::move(peer)), connection(world.drive, carrier) {}
  ~TestClient() override { end(); }

  // Gives the server a frame; false when it ends the connection.
  bool give(std::string_view frame) {
    std::optional<bool> kept;
    const auto drive = [](TestClient& self, Buffer bytes, std::optional<bool>& out) -> Detached {
      out = co_await self.connection.receive(std::move(bytes));
    };
    drive(*this, Buffer::copy_of(frame), kept);
    world_.loop.run_until([&] { return kept.has_value(); });
    world_.loop.run_ready();
    return *kept && !carrier.is_cut;
  }
  // The next frame that the server sent, taken apart.
  std::vector<Received> take() {
    if (carrier.frames.empty()) return {};
    std::string frame = carrier.frames.front().substr(smb::kPrefixBytes);
    carrier.frames.pop_front();
    return take_apart(std::move(frame));
  }
  std::vector<Received> converse(std::string_view frame) override {
    give(frame);
    return take();
  }
  void end() {
    if (std::exchange(ended_, true)) return;
    bool over = false;
    const auto drive = [](TestClient& self, bool& out) -> Detached {
      co_await self.connection.end(false);
      out = true;
    };
    drive(*this, over);
    CHECK(world_.loop.run_until([&] { return over; }));
  }

 private:
  TestWorld& world_;
  bool ended_ = false;

 public:
  MemoryCarrier carrier;
  Connection connection;
};

}  // namespace kyanite::drive
