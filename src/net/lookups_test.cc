#include "net/lookups.h"

#include <gtest/gtest.h>

#include <condition_variable>
#include <map>
#include <mutex>
#include <set>
#include <string>

#include "base/executor.h"
#include "base/started.h"

namespace kyanite::net {
namespace {

using std::chrono::milliseconds;

// Name servers that answer when the test says so. Shared, as threads may outlive the test.
struct Names {
  Result<std::vector<Address>, std::string> resolve(const std::string& host) {
    std::unique_lock lock(mutex);
    ++asked[host];
    changed.notify_all();
    changed.wait(lock, [&] { return answered.contains(host) || answered.contains("all"); });
    if (host.starts_with("unknown")) return Failure{std::string("no such name")};
    Address address;
    address.storage.ss_family = AF_INET;
    return std::vector<Address>{address};
  }
  void answer(const std::string& host) {
    std::lock_guard lock(mutex);
    answered.insert(host);
    changed.notify_all();
  }
  void wait_until_asked(const std::string& host) {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return asked.contains(host); });
  }

  std::mutex mutex;
  std::condition_variable changed;
  std::map<std::string, int> asked;
  std::set<std::string> answered;
};

class LookupsTest : public testing::Test {
 protected:
  ~LookupsTest() override { names_->answer("all"); }

  static std::string told(const Lookups::Addresses& found) {
    if (found) return "port " + std::to_string(found->front().port());
    switch (found.error()) {
      case Lookups::Error::kUnknown:
        return "unknown";
      case Lookups::Error::kLate:
        return "late";
      case Lookups::Error::kBusy:
        return "busy";
    }
    return "";
  }
  // On behalf of an account of the same name, unless the test says of whom.
  Started<Lookups::Addresses> ask(std::string host, uint16_t port = 1, int64_t now_ms = 0) {
    return Started<Lookups::Addresses>(lookups_.find(host, port, host, now_ms));
  }
  Started<Lookups::Addresses> ask_for(Lookups& lookups, std::string account, std::string host) {
    return Started<Lookups::Addresses>(lookups.find(std::move(host), 1, std::move(account), 0));
  }
  static std::string join(Started<Lookups::Addresses>& asked) {
    return told(RunLoop::run(asked.join()));
  }

  std::shared_ptr<Names> names_ = std::make_shared<Names>();
  const Lookups::Resolve resolve_ = [names = names_](const std::string& host, uint16_t) {
    return names->resolve(host);
  };
  Lookups lookups_{{.threads = 2, .waiting = 2, .longest = milliseconds(100)}, resolve_};
};

TEST_F(LookupsTest, AnswersWithThePortAskedFor) {
  names_->answer("a");
  names_->answer("unknown");
  auto known = ask("a", 80);
  auto unknown = ask("unknown");
  EXPECT_EQ(join(known), "port 80");
  EXPECT_EQ(join(unknown), "unknown");
  EXPECT_FALSE(lookups_.anyone_waits());
}

TEST_F(LookupsTest, ThoseWhoAskForOneNameShareTheAnswer) {
  auto first = ask("a", 1);
  auto second = ask("a", 2);
  names_->answer("a");
  EXPECT_EQ(join(first), "port 1");
  EXPECT_EQ(join(second), "port 2");
  EXPECT_EQ(names_->asked["a"], 1);
}

TEST_F(LookupsTest, OthersAreAnsweredBesideANameThatIsNot) {
  auto stuck = ask("stuck");
  names_->answer("a");
  auto other = ask("a");
  EXPECT_EQ(join(other), "port 1");
  lookups_.expire(100);
  EXPECT_EQ(join(stuck), "late");
}

TEST_F(LookupsTest, RefusesMoreNamesThanItsLimits) {
  auto first = ask("one");
  auto second = ask("two");
  names_->wait_until_asked("one");
  names_->wait_until_asked("two");
  auto third = ask("three");
  auto fourth = ask("four");
  auto fifth = ask("five");
  EXPECT_EQ(join(fifth), "busy");
  auto shared = ask("one", 9);  // Waits for what is asked already.
  names_->answer("all");
  for (auto* each : {&first, &second, &third, &fourth}) EXPECT_EQ(join(*each), "port 1");
  EXPECT_EQ(join(shared), "port 9");
}

TEST_F(LookupsTest, OneAccountTakesNeitherAllThreadsNorAllPlaces) {
  Lookups lookups({.threads = 4, .waiting = 6, .longest = milliseconds(100)}, resolve_);
  std::vector<Started<Lookups::Addresses>> slow;
  for (const char* host : {"s1", "s2"}) {
    slow.push_back(ask_for(lookups, "greedy", host));
    names_->wait_until_asked(host);
  }
  for (const char* host : {"s3", "s4", "s5", "s6"})
    slow.push_back(ask_for(lookups, "greedy", host));
  // Of the four that wait, three are a half of the places.
  EXPECT_EQ(join(slow[5]), "busy");
  names_->answer("quick");
  names_->answer("s3");
  auto quick = ask_for(lookups, "modest", "quick");
  EXPECT_EQ(join(quick), "port 1");
  // Nor does it keep others from a name that it asked for first.
  auto shared = ask_for(lookups, "modest", "s3");
  EXPECT_EQ(join(shared), "port 1");
  EXPECT_EQ(join(slow[2]), "port 1");
  {
    std::lock_guard lock(names_->mutex);
    EXPECT_EQ(names_->asked.count("s4"), 0u);
  }
  names_->answer("all");
  for (const size_t i : {0, 1, 3, 4}) EXPECT_EQ(join(slow[i]), "port 1");
}

TEST_F(LookupsTest, EveryWaitEnds) {
  auto first = ask("one");
  auto second = ask("two");
  names_->wait_until_asked("one");
  names_->wait_until_asked("two");
  auto early = ask("three", 1, 0);
  auto later = ask("four", 1, 50);
  lookups_.expire(99);
  EXPECT_TRUE(lookups_.anyone_waits());
  lookups_.expire(100);
  for (auto* each : {&first, &second, &early}) EXPECT_EQ(join(*each), "late");
  EXPECT_TRUE(lookups_.anyone_waits());
  // The place of the one that gave up is free again.
  auto next = ask("five", 5, 100);
  names_->answer("all");
  EXPECT_EQ(join(later), "port 1");
  EXPECT_EQ(join(next), "port 5");
  EXPECT_EQ(names_->asked.count("three"), 0u);
  EXPECT_FALSE(lookups_.anyone_waits());
}

TEST_F(LookupsTest, EndsWhileANameIsNotAnswered) {
  auto late = ask("stuck");
  names_->wait_until_asked("stuck");
  lookups_.expire(100);
  EXPECT_EQ(join(late), "late");
}

}  // namespace
}  // namespace kyanite::net
