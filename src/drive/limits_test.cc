// Each limit that no other test is about: what is at it goes on, what is past it does not.
#include "drive/limits.h"

#include <gtest/gtest.h>

#include <deque>

#include "base/budget.h"
#include "drive/test_support.h"
#include "smb/create.h"
#include "smb/file_io.h"
#include "smb/query.h"

namespace kyanite::drive {
namespace {

using smb::Command;
using smb::Status;

class Limits : public testing::Test {
 protected:
  Limits() {
    client.asked_credits = 2000;
    client.come_in();
    client.connect("\\\\s\\data");
  }
  Status open(TestClient& by, const std::string& name, smb::FileId* file = nullptr) {
    smb::CreateRequest request;
    request.name = name;
    request.desired_access = smb::access::kReadData | smb::access::kWriteData;
    request.share_access = smb::share_access::kRead | smb::share_access::kWrite;
    request.disposition = smb::Disposition::kOpenIf;
    const auto answer = by.ask(Command::kCreate, request);
    CHECK(answer);
    if (file != nullptr) *file = answer->body<smb::CreateReply>().file;
    return answer->status();
  }
  std::string read(TestClient& by, uint32_t length) {
    smb::ReadRequest request;
    request.length = length;
    by.charge = static_cast<uint16_t>((length + kBytesPerCredit - 1) / kBytesPerCredit);
    auto frame = by.protect({by.message(Command::kRead, request)});
    by.charge = 1;
    return frame;
  }
  // What waits for a change in the root, for however long.
  static smb::ChangeNotifyRequest watch_of(TestClient& by) {
    smb::CreateRequest directory;
    directory.desired_access = smb::access::kReadData;
    directory.share_access = smb::share_access::kRead;
    directory.disposition = smb::Disposition::kOpen;
    smb::ChangeNotifyRequest watch;
    watch.file = by.ask(Command::kCreate, directory)->body<smb::CreateReply>().file;
    watch.filter = smb::notify_filter::kFileName;
    watch.output_length = 1000;
    return watch;
  }
  // Whether the next frame would be received.
  static Detached look_for_room(Connection& connection, bool& room) {
    room = false;
    room = co_await connection.wait_for_room();
  }

  // All that the account gets, from anywhere or from there.
  static std::vector<Places::Place> take_all(Places& places, const std::string& account,
                                             const std::vector<std::string>& peers = {
                                                 "10.0.0.2", "10.0.0.3", "10.0.0.4"}) {
    std::vector<Places::Place> taken;
    for (const std::string& peer : peers) {
      while (auto place = places.take(account, peer)) taken.push_back(std::move(place));
    }
    return taken;
  }

  TestWorld world;
  TestClient client{world};
};

TEST_F(Limits, Sessions) {
  const auto log_on = [&] {
    client.established = false;
    client.signer.reset();
    return client.log_on()->status();
  };
  for (size_t i = 1; i < kMaxSessions; ++i) ASSERT_EQ(log_on(), Status::kSuccess) << i;
  EXPECT_EQ(log_on(), Status::kInsufficientResources);
  EXPECT_EQ(world.drive.sessions.established(), kMaxSessions);
}

TEST_F(Limits, Opens) {
  const auto name = [](size_t i) { return "f" + std::to_string(i / tree::kMaxHandlesPerFile); };
  for (size_t i = 0; i < kMaxOpens; ++i) ASSERT_EQ(open(client, name(i)), Status::kSuccess) << i;
  EXPECT_EQ(open(client, "another"), Status::kTooManyOpenedFiles);
  EXPECT_EQ(world.drive.metrics.opens, kMaxOpens);
  TestClient other(world);
  other.come_in();
  other.connect("\\\\s\\data");
  EXPECT_EQ(open(other, "another"), Status::kSuccess) << "it is the limit of one session";
}

TEST_F(Limits, RequestsBeingServed) {
  Pending<bool> held;
  client.carrier.held = &held;
  const auto give = [&] {
    return client.give(client.protect({client.message(Command::kEcho, smb::EchoRequest())}));
  };
  bool room = false;
  for (size_t i = 1; i < kMaxRunning; ++i) ASSERT_TRUE(give());
  look_for_room(client.connection, room);
  EXPECT_TRUE(room);
  ASSERT_TRUE(give());
  look_for_room(client.connection, room);
  EXPECT_FALSE(room);
  client.carrier.held = nullptr;
  held.set(true);
  world.loop.run_ready();
  EXPECT_TRUE(room);
}

// A stranger has no more to say than a few steps of a logon.
TEST_F(Limits, RequestsOfStrangers) {
  TestClient stranger(world);
  ASSERT_TRUE(stranger.negotiate());
  Pending<bool> held;
  stranger.carrier.held = &held;
  const auto give = [&] {
    return stranger.give(stranger.message(Command::kEcho, smb::EchoRequest()));
  };
  bool room = false;
  for (size_t i = 1; i < kMaxRunningOfStrangers; ++i) ASSERT_TRUE(give());
  look_for_room(stranger.connection, room);
  EXPECT_TRUE(room);
  ASSERT_TRUE(give());
  look_for_room(stranger.connection, room);
  EXPECT_FALSE(room);
  stranger.carrier.held = nullptr;
  held.set(true);
  world.loop.run_ready();
  EXPECT_TRUE(room);
}

// What accounts and peers have together: one leaves something to others.
TEST_F(Limits, SessionsOfAnAccount) {
  const auto taken = take_all(world.drive.sessions_of_all, "acct");
  TestClient more(world);
  ASSERT_TRUE(more.negotiate());
  EXPECT_EQ(more.log_on()->status(), Status::kInsufficientResources);
  EXPECT_FALSE(more.connection.authenticated());
  EXPECT_EQ(world.drive.sessions.established(), 1u);
  TestClient other(world);
  ASSERT_TRUE(other.negotiate());
  other.ntlm.user = "other";
  other.ntlm.password = "Other!";
  EXPECT_EQ(other.log_on()->status(), Status::kSuccess);
  client.end();
  EXPECT_EQ(more.log_on()->status(), Status::kSuccess) << "one has gone";
}

TEST_F(Limits, SessionsOfAPeer) {
  const auto taken = take_all(world.drive.sessions_of_all, "acct", {"127.0.0.1"});
  const auto log_on = [](TestClient& more) {
    EXPECT_TRUE(more.negotiate());
    return more.log_on()->status();
  };
  TestClient same(world);
  EXPECT_EQ(log_on(same), Status::kInsufficientResources);
  TestClient far(world, "10.0.0.1");
  EXPECT_EQ(log_on(far), Status::kSuccess) << "of the same account";
}

// A client that comes back is not refused because of the session that it comes back for.
TEST_F(Limits, WhoComesBackTakesTheirPlace) {
  const auto taken = take_all(world.drive.sessions_of_all, "acct");
  TestClient again(world);
  ASSERT_TRUE(again.negotiate());
  EXPECT_EQ(again.log_on(client.session_id)->status(), Status::kSuccess);
  EXPECT_EQ(world.drive.sessions.established(), 1u);
  TestClient other(world);
  ASSERT_TRUE(other.negotiate());
  other.ntlm.user = "other";
  other.ntlm.password = "Other!";
  const auto taken_by_other =
      take_all(world.drive.sessions_of_all, "other", {"10.0.1.1", "10.0.1.2", "10.0.1.3"});
  EXPECT_EQ(other.log_on(again.session_id)->status(), Status::kInsufficientResources);
  EXPECT_EQ(world.drive.sessions.established(), 1u) << "another account's session stays";
}

TEST_F(Limits, TreesOfAnAccount) {
  const auto taken = take_all(world.drive.trees_of_all, "acct");
  EXPECT_EQ(client.connect("\\\\s\\data")->status(), Status::kInsufficientResources);
  EXPECT_EQ(world.drive.metrics.trees, 1u);
  ASSERT_EQ(client.ask(Command::kTreeDisconnect, smb::TreeDisconnectRequest())->status(),
            Status::kSuccess);
  EXPECT_EQ(client.connect("\\\\s\\data")->status(), Status::kSuccess);
  const size_t all = world.drive.trees_of_all.taken();
  client.end();
  EXPECT_EQ(world.drive.trees_of_all.taken(), all - 1);
}

TEST_F(Limits, TreesOfAPeer) {
  const auto taken = take_all(world.drive.trees_of_all, "acct", {"127.0.0.1"});
  EXPECT_EQ(client.connect("\\\\s\\data")->status(), Status::kInsufficientResources);
  TestClient far(world, "10.0.0.1");
  far.come_in();
  EXPECT_EQ(far.connect("\\\\s\\data")->status(), Status::kSuccess);
}

TEST_F(Limits, NotificationsThatAreNotTaken) {
  Pending<bool> held;
  client.carrier.held = &held;
  const auto notify = [&] {
    smb::Header header;
    header.command = Command::kOplockBreak;
    header.flags = smb::header_flag::kReply;
    header.message_id = smb::kUnsolicited;
    client.connection.notify(nullptr, smb::encode(header, smb::OplockBreak()));
  };
  notify();  // On its way.
  for (size_t i = 0; i < kMaxNotifications; ++i) notify();
  EXPECT_FALSE(client.carrier.is_cut);
  notify();
  EXPECT_TRUE(client.carrier.is_cut);
  client.carrier.held = nullptr;
  held.set(false);
  world.loop.run_ready();
}

TEST_F(Limits, BytesOfOneRequest) {
  smb::FileId file;
  ASSERT_EQ(open(client, "file", &file), Status::kSuccess);
  const auto status_of_read = [&](uint32_t length) {
    client.give(read(client, length));
    return client.take().at(0).status();
  };
  EXPECT_EQ(status_of_read(kMaxTransferBytes), Status::kFileClosed);
  EXPECT_EQ(status_of_read(kMaxTransferBytes + 1), Status::kInvalidParameter);
  EXPECT_GE(client.connection.most_frame_bytes(), kMaxTransferBytes + smb::kHeaderBytes);
}

// What several requests of a chain read may be more than a frame has room for.
TEST_F(Limits, BytesOfOneFrame) {
  ASSERT_TRUE(client.ask(Command::kEcho, smb::EchoRequest()));
  smb::FileId file;
  ASSERT_EQ(open(client, "file", &file), Status::kSuccess);
  smb::WriteRequest last;
  last.file = file;
  last.offset = kMaxTransferBytes - 1;
  last.data = "x";
  ASSERT_EQ(client.ask(Command::kWrite, last)->status(), Status::kSuccess);
  smb::ReadRequest request;
  request.file = file;
  request.length = kMaxTransferBytes;
  for (const bool sealed : {false, true}) {
    client.sealed = sealed;
    std::vector<std::string> reads;
    client.charge = kMaxTransferBytes / kBytesPerCredit;
    for (int i = 0; i < 3; ++i) reads.push_back(client.message(Command::kRead, request));
    client.charge = 1;
    EXPECT_TRUE(client.give(client.protect(std::move(reads))));
    ASSERT_TRUE(world.loop.run_until([&] { return client.carrier.frames.size() == 3; }));
    for (int i = 0; i < 3; ++i) {
      const auto answers = client.take();
      ASSERT_EQ(answers.size(), 1u);
      EXPECT_EQ(answers[0].status(), Status::kSuccess);
      EXPECT_EQ(answers[0].body<smb::ReadReply>().length, kMaxTransferBytes);
      EXPECT_EQ(answers[0].signature_right, !sealed);
      EXPECT_EQ(answers[0].header.credits > 0, i == 2) << "the last has them all";
    }
  }
}

// A peer that is gone while its requests wait for other clients is not waited for.
TEST_F(Limits, RoomOfAPeerThatIsGone) {
  const smb::ChangeNotifyRequest watch = watch_of(client);
  ASSERT_TRUE(client.ask(Command::kEcho, smb::EchoRequest()));
  Pending<bool> held;
  client.carrier.held = &held;
  ASSERT_TRUE(client.give(read(client, kMaxTransferBytes)));
  for (size_t i = 0; i < kMaxRunning; ++i)
    ASSERT_TRUE(client.give(client.protect({client.message(Command::kChangeNotify, watch)})));
  bool room = true;
  bool looked = false;
  const auto look = [](Connection& connection, bool& out, bool& done) -> Detached {
    out = co_await connection.wait_for_room();
    done = true;
  };
  look(client.connection, room, looked);
  EXPECT_FALSE(looked);
  client.carrier.held = nullptr;
  client.carrier.is_cut = true;
  held.set(true);
  world.loop.run_ready();
  EXPECT_TRUE(looked);
  EXPECT_FALSE(room);
}

// What waits for other clients takes little; the replies before it in its chain take what they are.
TEST_F(Limits, MemoryOfRepliesBeforeWhatWaits) {
  const smb::ChangeNotifyRequest watch = watch_of(client);
  smb::ReadRequest request;
  request.length = kMaxTransferBytes;
  ASSERT_TRUE(client.ask(Command::kEcho, smb::EchoRequest()));
  const uint64_t used = reply_memory().used();
  Pending<bool> held;
  client.carrier.held = &held;
  bool room = true;
  uint64_t asked = 0;
  while (asked < kMaxBytesInMemory) {
    look_for_room(client.connection, room);
    ASSERT_TRUE(room) << asked;
    client.charge = kMaxTransferBytes / kBytesPerCredit;
    std::vector<std::string> chain = {client.message(Command::kRead, request)};
    client.charge = 1;
    chain.push_back(client.message(Command::kChangeNotify, watch));
    ASSERT_TRUE(client.give(client.protect(std::move(chain))));
    asked += kMaxTransferBytes;
    EXPECT_GE(reply_memory().used() - used, asked);
  }
  look_for_room(client.connection, room);
  EXPECT_FALSE(room);
  client.carrier.held = nullptr;
  held.set(true);
  world.loop.run_ready();
  EXPECT_TRUE(room) << "what waits keeps nobody out";
  EXPECT_EQ(reply_memory().used(), used);
}

// Who has something waiting still has its requests served one at a time, whatever others hold.
TEST_F(Limits, MemoryOfRepliesBesideWhatWaits) {
  Budget& memory = reply_memory();
  const uint64_t total = memory.total();
  const uint64_t used = memory.used();
  memory.set_total(used + 2 * kMaxBytesInMemory);
  TestClient same_peer(world);
  same_peer.asked_credits = 2000;
  same_peer.come_in();
  same_peer.connect("\\\\s\\data");
  const smb::ChangeNotifyRequest watch = watch_of(same_peer);
  ASSERT_EQ(same_peer.ask(Command::kChangeNotify, watch)->status(), Status::kPending);
  Pending<bool> held;
  client.carrier.held = &held;
  for (uint64_t bytes = 0; bytes < kMaxBytesInMemory; bytes += kMaxTransferBytes)
    ASSERT_TRUE(client.give(read(client, kMaxTransferBytes)));
  EXPECT_TRUE(same_peer.give(read(same_peer, kMaxTransferBytes)));
  EXPECT_EQ(same_peer.carrier.slept, std::chrono::seconds(0));
  client.carrier.held = nullptr;
  held.set(true);
  world.loop.run_ready();
  memory.set_total(total);
}

// An account leaves something to others, from however many addresses.
TEST_F(Limits, MemoryOfRepliesOfAnAccount) {
  Budget& memory = reply_memory();
  const uint64_t total = memory.total();
  memory.set_total(memory.used() + 16 * kMaxTransferBytes);
  std::deque<Pending<bool>> held;
  std::deque<TestClient> clients;
  const auto come = [&](const char* from, const char* user, const char* password) {
    TestClient& added = clients.emplace_back(world, from);
    added.asked_credits = 2000;
    added.ntlm.user = user;
    added.ntlm.password = password;
    added.come_in();
    added.carrier.held = &held.emplace_back();
    return &added;
  };
  const auto ask = [&](TestClient* by, int times) {
    bool all = true;
    for (int i = 0; i < times; ++i) all = by->give(read(*by, kMaxTransferBytes)) && all;
    return all;
  };
  EXPECT_TRUE(ask(come("10.0.0.1", "acct", "Passw0rd!"), 8));
  EXPECT_TRUE(ask(come("10.0.0.2", "acct", "Passw0rd!"), 4));
  EXPECT_TRUE(ask(come("10.0.0.3", "acct", "Passw0rd!"), 2)) << "others do not shut it out";
  EXPECT_FALSE(ask(come("10.0.0.5", "acct", "Passw0rd!"), 1));
  EXPECT_TRUE(ask(come("10.0.0.4", "other", "Other!"), 1));
  for (TestClient& each : clients) std::exchange(each.carrier.held, nullptr)->set(true);
  world.loop.run_ready();
  memory.set_total(total);
}

// Replies that their reader leaves lying there.
TEST_F(Limits, MemoryOfReplies) {
  Budget& memory = reply_memory();
  const uint64_t total = memory.total();
  const uint64_t used = memory.used();
  // Of what this leaves one peer may have a half.
  memory.set_total(used + 2 * kMaxBytesInMemory);
  Pending<bool> held;
  client.carrier.held = &held;
  for (uint64_t bytes = 0; bytes < kMaxBytesInMemory; bytes += kMaxTransferBytes)
    ASSERT_TRUE(client.give(read(client, kMaxTransferBytes)));
  EXPECT_EQ(memory.used() - used, kMaxBytesInMemory);
  TestClient same_peer(world);
  same_peer.asked_credits = 2000;
  same_peer.come_in();
  EXPECT_TRUE(same_peer.give(read(same_peer, 1024))) << "what is small is served";
  EXPECT_TRUE(same_peer.give(read(same_peer, kMaxTransferBytes))) << "one at a time";
  EXPECT_EQ(same_peer.carrier.slept, std::chrono::seconds(0));
  Pending<bool> also_held;
  same_peer.carrier.held = &also_held;
  EXPECT_TRUE(same_peer.give(read(same_peer, kMaxTransferBytes)));
  EXPECT_FALSE(same_peer.give(read(same_peer, kMaxTransferBytes))) << "while that is not taken";
  EXPECT_GE(same_peer.carrier.slept, std::chrono::seconds(60)) << "it is waited for";
  TestClient other_peer(world, "10.0.0.1");
  other_peer.asked_credits = 2000;
  other_peer.come_in();
  EXPECT_TRUE(other_peer.give(read(other_peer, kMaxTransferBytes)));
  client.carrier.held = nullptr;
  held.set(true);
  same_peer.carrier.held = nullptr;
  also_held.set(false);
  world.loop.run_ready();
  EXPECT_EQ(memory.used(), used);
  memory.set_total(total);
}

}  // namespace
}  // namespace kyanite::drive
