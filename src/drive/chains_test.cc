// Chains of messages, credits, waiting and cancelling.
#include <gtest/gtest.h>

#include <thread>

#include "drive/test_support.h"
#include "smb/create.h"
#include "smb/file_io.h"
#include "smb/query.h"
#include "smb/session.h"

namespace kyanite::drive {
namespace {

using smb::Command;
using smb::Status;
constexpr uint32_t kRelated = smb::header_flag::kRelated;

class Chains : public testing::Test {
 protected:
  Chains() {
    client.come_in();
    client.connect("\\\\s\\data");
  }
  std::string echo(uint32_t flags = 0) {
    return client.message(Command::kEcho, smb::EchoRequest(), flags);
  }
  std::string disconnect(uint32_t flags = 0) {
    return client.message(Command::kTreeDisconnect, smb::TreeDisconnectRequest(), flags);
  }
  std::vector<Received> ask(std::vector<std::string> messages) {
    EXPECT_TRUE(client.give(client.protect(std::move(messages))));
    return client.take();
  }
  TestWorld world;
  TestClient client{world};
};

TEST_F(Chains, AreAnsweredInOneFrameEachSigned) {
  for (const bool sealed : {false, true}) {
    client.sealed = sealed;
    client.asked_credits = 3;
    const auto answers = ask({echo(), echo(), echo()});
    ASSERT_EQ(answers.size(), 3u);
    for (size_t i = 0; i < answers.size(); ++i) {
      EXPECT_EQ(answers[i].status(), Status::kSuccess);
      EXPECT_EQ(answers[i].header.message_id, client.next_id - 3 + i);
      EXPECT_EQ(answers[i].sealed, sealed);
      EXPECT_EQ(answers[i].signature_right, !sealed);
      EXPECT_EQ(answers[i].header.credits, i == 2 ? 9 : 0);  // The last has them all.
    }
  }
}

TEST_F(Chains, RelatedOnesTakeSessionAndTreeOver) {
  const uint64_t session = client.session_id;
  const uint32_t tree = client.tree_id;
  std::vector<std::string> messages = {echo()};
  client.session_id = UINT64_MAX;
  client.tree_id = UINT32_MAX;
  messages.push_back(disconnect(kRelated));
  messages.push_back(disconnect(kRelated));
  client.session_id = session;
  client.tree_id = tree;
  const auto answers = ask(std::move(messages));
  ASSERT_EQ(answers.size(), 3u);
  EXPECT_EQ(answers[1].status(), Status::kSuccess);
  EXPECT_EQ(answers[1].header.session_id, session);
  EXPECT_EQ(answers[1].header.tree_id, tree);
  EXPECT_TRUE(answers[1].signature_right);
  EXPECT_EQ(answers[2].status(), Status::kNetworkNameDeleted);
}

TEST_F(Chains, UnrelatedOnesStandAlone) {
  std::vector<std::string> messages = {disconnect()};
  client.tree_id = 4711;
  messages.push_back(disconnect());
  messages.push_back(echo());
  const auto answers = ask(std::move(messages));
  ASSERT_EQ(answers.size(), 3u);
  EXPECT_EQ(answers[0].status(), Status::kSuccess);
  EXPECT_EQ(answers[1].status(), Status::kNetworkNameDeleted);
  EXPECT_EQ(answers[2].status(), Status::kSuccess);
}

TEST_F(Chains, FirstCannotBeRelated) {
  const auto answers = ask({echo(kRelated), disconnect(kRelated), disconnect()});
  ASSERT_EQ(answers.size(), 3u);
  EXPECT_EQ(answers[0].status(), Status::kInvalidParameter);
  EXPECT_EQ(answers[1].status(), Status::kInvalidParameter);
  EXPECT_EQ(answers[2].status(), Status::kSuccess);
}

TEST_F(Chains, NothingIsRelatedToASessionThatIsNot) {
  ++client.session_id;
  const auto answers = ask({disconnect(), disconnect(kRelated)});
  ASSERT_EQ(answers.size(), 2u);
  EXPECT_EQ(answers[0].status(), Status::kUserSessionDeleted);
  EXPECT_EQ(answers[1].status(), Status::kInvalidParameter);
}

TEST_F(Chains, FailedCreateFailsWhatIsRelated) {
  client.connect("\\\\s\\ipc$");
  const auto answers =
      ask({client.message(Command::kCreate, smb::CreateRequest()),
           client.message(Command::kQueryInfo, smb::QueryInfoRequest(), kRelated),
           client.message(Command::kClose, smb::CloseRequest(), kRelated), echo()});
  ASSERT_EQ(answers.size(), 4u);
  for (size_t i = 0; i < 3; ++i) EXPECT_EQ(answers[i].status(), Status::kObjectNameNotFound);
  EXPECT_EQ(answers[3].status(), Status::kSuccess);
}

TEST_F(Chains, UnknownCommandsAreInvalid) {
  const auto answers = ask({client.message(static_cast<Command>(0x13), smb::EmptyBody()),
                            client.message(static_cast<Command>(0xFFFF), smb::EmptyBody())});
  ASSERT_EQ(answers.size(), 2u);
  EXPECT_EQ(answers[0].status(), Status::kInvalidParameter);
  EXPECT_EQ(answers[1].status(), Status::kInvalidParameter);
}

TEST_F(Chains, WrongBodiesAreInvalid) {
  for (const Command command : {Command::kLogoff, Command::kTreeConnect, Command::kTreeDisconnect,
                                Command::kEcho, Command::kIoctl, Command::kSessionSetup}) {
    smb::Header header = client.next_header(command);
    std::string message;
    smb::append_fields(message, header);
    message += "\x07\x07";
    const auto answers = ask({message});
    ASSERT_EQ(answers.size(), 1u);
    EXPECT_EQ(answers[0].status(), Status::kInvalidParameter) << smb::name(command);
  }
}

TEST_F(Chains, IdsThatWereNotGrantedEndTheConnection) {
  client.next_id = 1'000'000;
  EXPECT_FALSE(client.give(client.protect({echo()})));
  EXPECT_TRUE(client.carrier.is_cut);
  TestClient again(world);
  again.come_in();
  --again.next_id;
  EXPECT_FALSE(again.give(again.protect({again.message(Command::kEcho, smb::EchoRequest())})));
}

TEST_F(Chains, RequestsPayForWhatTheyMove) {
  smb::ReadRequest read;
  const auto status = [&](uint32_t length, uint16_t charge) {
    read.length = length;
    client.charge = charge;
    client.asked_credits = 200;
    return client.ask(Command::kRead, read)->status();
  };
  EXPECT_NE(status(65536, 1), Status::kInvalidParameter);
  EXPECT_EQ(status(65537, 1), Status::kInvalidParameter);
  EXPECT_NE(status(65537, 2), Status::kInvalidParameter);
  EXPECT_NE(status(kMaxTransferBytes, 128), Status::kInvalidParameter);
  EXPECT_EQ(status(kMaxTransferBytes + 1, 129), Status::kInvalidParameter);
}

// A request that waits, without any handler that does.
class Waiting : public Chains {
 protected:
  // The messages of a frame as if they had arrived.
  std::unique_ptr<Chain> arrive(size_t count) {
    auto chain = std::make_unique<Chain>();
    for (size_t i = 0; i < count; ++i) {
      texts_.push_back(echo());
      smb::Reader reader(texts_.back());
      Incoming& request = chain->requests.emplace_back();
      reader(request.message.header);
      request.message.bytes = texts_.back();
    }
    return chain;
  }
  void cancel(uint64_t id, bool async) {
    smb::Header header;
    header.command = Command::kCancel;
    header.session_id = client.session_id;
    header.message_id = id;
    if (async) {
      header.flags = smb::header_flag::kAsync;
      header.async_id = id;
    }
    client.give(client.protect({smb::encode(header, smb::CancelRequest())}));
    EXPECT_TRUE(client.carrier.frames.empty());
  }

 private:
  std::deque<std::string> texts_;
};

TEST_F(Waiting, ClientIsToldOnceAndMayCancel) {
  const auto chain = arrive(1);
  Exchange exchange(client.connection, *chain, 0);
  exchange.session = client.connection.find_session(client.session_id);
  client.asked_credits = 5;
  int woken = 0;
  exchange.when_cancelled([&] { ++woken; });
  EXPECT_EQ(exchange.go_async(), Exchange::Async::kTold);
  EXPECT_EQ(exchange.go_async(), Exchange::Async::kTold);
  ASSERT_EQ(client.carrier.frames.size(), 1u);
  const auto interim = client.take().at(0);
  EXPECT_EQ(interim.status(), Status::kPending);
  EXPECT_TRUE(interim.header.has(smb::header_flag::kAsync));
  EXPECT_FALSE(interim.header.has(smb::header_flag::kSigned));
  EXPECT_EQ(interim.header.async_id, exchange.async_id());
  EXPECT_GT(interim.header.credits, 0);
  EXPECT_EQ(world.drive.metrics.waiting, 1u);

  cancel(exchange.async_id() + 1, true);
  EXPECT_FALSE(exchange.cancelled());
  client.signs = false;  // Anybody's.
  cancel(exchange.async_id(), true);
  EXPECT_FALSE(exchange.cancelled());
  const uint64_t session = std::exchange(client.session_id, 0);
  cancel(exchange.async_id(), true);
  EXPECT_FALSE(exchange.cancelled());
  client.session_id = session;
  client.signs = true;
  cancel(exchange.async_id(), true);
  EXPECT_EQ(exchange.cancelled(), Exchange::Cancelled::kByClient);
  cancel(exchange.async_id(), true);
  EXPECT_EQ(woken, 1);
}

TEST_F(Waiting, CancelByMessageId) {
  const auto chain = arrive(1);
  Exchange exchange(client.connection, *chain, 0);
  exchange.session = client.connection.find_session(client.session_id);
  cancel(exchange.header.message_id, false);
  EXPECT_EQ(exchange.cancelled(), Exchange::Cancelled::kByClient);
  int woken = 0;
  exchange.when_cancelled([&] { ++woken; });
  EXPECT_EQ(woken, 1);  // It has happened.
}

TEST_F(Waiting, NotInTheMiddleOfAChain) {
  const auto chain = arrive(2);
  Exchange first(client.connection, *chain, 0);
  EXPECT_EQ(first.go_async(), Exchange::Async::kInChain);
  EXPECT_TRUE(client.carrier.frames.empty());
  Exchange last(client.connection, *chain, 1);
  EXPECT_EQ(last.go_async(), Exchange::Async::kTold);
}

TEST_F(Waiting, EndsWithItsSessionTreeOrConnection) {
  const auto chain = arrive(3);
  Exchange of_tree(client.connection, *chain, 0);
  Exchange of_session(client.connection, *chain, 1);
  Exchange of_nobody(client.connection, *chain, 2);
  const auto session = client.connection.find_session(client.session_id);
  of_tree.session = of_session.session = session;
  of_tree.tree = session->find_tree(client.tree_id);
  ask({disconnect()});
  EXPECT_EQ(of_tree.cancelled(), Exchange::Cancelled::kEnded);
  EXPECT_FALSE(of_session.cancelled());
  client.ask(Command::kLogoff, smb::LogoffRequest());
  EXPECT_EQ(of_session.cancelled(), Exchange::Cancelled::kEnded);
  EXPECT_FALSE(of_nobody.cancelled());
  client.end();
  EXPECT_EQ(of_nobody.cancelled(), Exchange::Cancelled::kEnded);
}

TEST_F(Waiting, OnlySoManyMayWait) {
  std::vector<std::unique_ptr<Chain>> chains;
  std::deque<Exchange> exchanges;
  client.asked_credits = 1;
  for (size_t i = 0; i < kMaxWaiting; ++i) {
    chains.push_back(arrive(1));
    exchanges.emplace_back(client.connection, *chains.back(), 0);
    ASSERT_EQ(exchanges.back().go_async(), Exchange::Async::kTold);
  }
  const auto one_more = arrive(1);
  {
    Exchange exchange(client.connection, *one_more, 0);
    EXPECT_EQ(exchange.go_async(), Exchange::Async::kTooMany);
    exchanges.pop_back();
    EXPECT_EQ(exchange.go_async(), Exchange::Async::kTold);
  }
  exchanges.clear();
  EXPECT_EQ(world.drive.metrics.waiting, 0u);
}

// What follows in a chain when its connection is gone does not wait for anybody.
class EndedChains : public Chains {
 protected:
  smb::FileId create(const std::string& name, uint32_t options = 0) {
    smb::CreateRequest request;
    request.name = name;
    request.desired_access = smb::kGenericAllMeans;
    request.share_access = 7;
    request.disposition = smb::Disposition::kOpenIf;
    request.options = options;
    const auto answer = client.ask(Command::kCreate, request);
    CHECK(answer && answer->status() == Status::kSuccess);
    return answer->body<smb::CreateReply>().file;
  }
  std::string lock(const smb::FileId& file, uint32_t flags) {
    smb::LockRequest request;
    request.file = file;
    request.locks.push_back({0, 1, flags});
    return client.message(Command::kLock, request);
  }
  // Whether the connection ends while a request is served that the other one follows.
  bool ends_before(std::string waits) {
    Pending<bool> gate;
    world.shares.gate = &gate;
    smb::TreeConnectRequest slow;
    slow.path = "\\\\s\\slow";
    std::vector<std::string> messages = {std::move(waits)};
    messages.insert(messages.begin(), client.message(Command::kTreeConnect, slow));
    client.give(client.protect(std::move(messages)));
    bool over = false;
    const auto end = [](Connection& connection, bool& out) -> Detached {
      co_await connection.end(false);
      out = true;
    };
    end(client.connection, over);
    world.loop.run_ready();
    EXPECT_FALSE(over);
    gate.set(true);
    world.loop.run_ready();
    return over;
  }
};

TEST_F(EndedChains, DoNotWaitForLocks) {
  const smb::FileId holder = create("file");
  const smb::FileId waiter = create("file");
  ASSERT_EQ(ask({lock(holder, smb::lock_flag::kExclusive)}).at(0).status(), Status::kSuccess);
  EXPECT_TRUE(ends_before(lock(waiter, smb::lock_flag::kExclusive)));
}

// Others have their turn after so many messages, and the connection may end then.
TEST_F(EndedChains, AreFoundWhileOthersHaveTheirTurn) {
  const smb::FileId holder = create("file");
  const smb::FileId waiter = create("file");
  client.asked_credits = 100;
  ASSERT_EQ(ask({lock(holder, smb::lock_flag::kExclusive)}).at(0).status(), Status::kSuccess);
  std::vector<std::string> messages;
  while (messages.size() + 1 < kMessagesATurn) messages.push_back(echo());
  messages.push_back(lock(waiter, smb::lock_flag::kExclusive));
  const auto arrive = [](Connection& connection, std::string frame) -> Detached {
    EXPECT_TRUE(co_await connection.receive(Buffer::copy_of(frame)));
  };
  arrive(client.connection, client.protect(std::move(messages)));
  EXPECT_TRUE(client.connection.busy()) << "it rests";
  client.end();
  EXPECT_EQ(world.drive.metrics.waiting, 0u);
}

// What waits for however long holds up nothing behind it, and keeps little.
TEST_F(EndedChains, LocksWaitOnlyAtTheEndOfSmallOnes) {
  const smb::FileId holder = create("file");
  const smb::FileId waiter = create("file");
  client.asked_credits = 10;
  ASSERT_EQ(ask({lock(holder, smb::lock_flag::kExclusive)}).at(0).status(), Status::kSuccess);
  const auto answers = ask({lock(waiter, smb::lock_flag::kExclusive), echo()});
  ASSERT_EQ(answers.size(), 2u);
  EXPECT_EQ(answers[0].status(), Status::kLockNotGranted);
  EXPECT_EQ(answers[1].status(), Status::kSuccess);
  const std::string padding(kMaxWaitingFrameBytes, '\0');
  EXPECT_EQ(ask({lock(waiter, smb::lock_flag::kExclusive) + padding}).at(0).status(),
            Status::kInsufficientResources);
  EXPECT_EQ(ask({lock(waiter, smb::lock_flag::kExclusive)}).at(0).status(), Status::kPending);
}

// Whose signature counts is said by the session that a message names.
TEST_F(Chains, NobodyLogsOnInTheNameOfTheMessageBefore) {
  client.asked_credits = 10;
  const uint64_t session = std::exchange(client.session_id, 0);
  client.signs = false;
  std::vector<std::string> messages = {echo()};
  client.session_id = session;
  smb::SessionSetupRequest logon;
  logon.token = "x";
  messages.push_back(client.message(Command::kSessionSetup, logon, smb::header_flag::kRelated));
  const auto answers = ask(std::move(messages));
  ASSERT_EQ(answers.size(), 2u);
  EXPECT_EQ(answers[1].status(), Status::kInvalidParameter);
  client.signs = true;
  EXPECT_EQ(ask({echo()}).at(0).status(), Status::kSuccess) << "the session is still there";
}

// What follows a CANCEL is about the session of what was before it, and has to be signed by that.
TEST_F(Chains, NobodyIsServedInTheNameOfAnotherSession) {
  client.asked_credits = 10;
  ASSERT_EQ(ask({echo()}).at(0).status(), Status::kSuccess);
  const uint64_t victim = client.session_id;
  client.ntlm.user = "other";
  client.ntlm.password = "Other!";
  client.established = false;
  client.signer.reset();
  ASSERT_EQ(client.log_on()->status(), Status::kSuccess);
  const uint64_t own = client.session_id;
  ASSERT_NE(victim, own);
  client.tree_id = 0;
  smb::TreeConnectRequest connect;
  connect.path = "\\\\s\\data";
  const size_t trees = world.drive.metrics.trees;
  client.session_id = victim;
  std::vector<std::string> messages = {echo()};
  client.session_id = own;
  messages.push_back(client.message(Command::kCancel, smb::CancelRequest()));
  messages.push_back(client.message(Command::kTreeConnect, connect, kRelated));
  smb::link_chain(messages);
  client.signer->sign(messages[2]);
  ASSERT_TRUE(client.give(messages[0] + messages[1] + messages[2]));
  const auto answers = client.take();
  ASSERT_EQ(answers.size(), 2u);
  EXPECT_EQ(answers[0].status(), Status::kAccessDenied);
  EXPECT_EQ(answers[1].status(), Status::kAccessDenied);
  EXPECT_EQ(world.drive.metrics.trees, trees);
}

// A CANCEL names its session itself.
TEST_F(Chains, NobodyCancelsInTheNameOfTheMessageBefore) {
  smb::ChangeNotifyRequest notify;
  smb::CreateRequest directory;
  directory.name = "d";
  directory.desired_access = smb::kGenericAllMeans;
  directory.disposition = smb::Disposition::kOpenIf;
  directory.options = smb::create_option::kDirectoryFile;
  client.asked_credits = 10;
  notify.file = client.ask(Command::kCreate, directory)->body<smb::CreateReply>().file;
  notify.filter = 1;
  notify.output_length = 1024;
  const uint64_t waiting = client.next_id;
  ASSERT_EQ(client.ask(Command::kChangeNotify, notify)->status(), Status::kPending);
  for (const bool related : {true, false}) {
    std::vector<std::string> messages = {echo()};
    const uint64_t next = std::exchange(client.next_id, waiting);
    messages.push_back(
        client.message(Command::kCancel, smb::CancelRequest(), related ? kRelated : 0));
    client.next_id = next;
    ASSERT_TRUE(client.give(client.protect(std::move(messages))));
    world.loop.run_ready();
    EXPECT_EQ(client.take().at(0).status(), Status::kSuccess);
    EXPECT_EQ(client.take().empty(), related);
    EXPECT_EQ(world.drive.metrics.waiting, related ? 1u : 0u);
  }
}

TEST_F(EndedChains, DoNotWaitForChanges) {
  smb::ChangeNotifyRequest notify;
  notify.file = create("directory", smb::create_option::kDirectoryFile);
  notify.filter = 1;
  notify.output_length = 1024;
  EXPECT_TRUE(ends_before(client.message(Command::kChangeNotify, notify)));
}

TEST_F(Chains, NotificationsComeFromAnyThread) {
  const auto mailbox = client.connection.mailbox();
  const auto post = [&] {
    mailbox->post([&](Connection* connection) {
      if (connection == nullptr) return;
      smb::Header header;
      header.command = Command::kOplockBreak;
      header.flags = smb::header_flag::kReply;
      header.message_id = smb::kUnsolicited;
      connection->notify(nullptr, smb::encode(header, smb::OplockBreak()));
    });
  };
  std::thread(post).join();
  EXPECT_TRUE(client.carrier.frames.empty());  // Not on that thread.
  world.loop.run_ready();
  const auto notice = client.take();
  ASSERT_EQ(notice.size(), 1u);
  EXPECT_EQ(notice[0].header.message_id, smb::kUnsolicited);
  EXPECT_FALSE(notice[0].header.has(smb::header_flag::kSigned));
  post();
  client.end();  // Before its turn came.
  world.loop.run_ready();
  bool ended = false;
  mailbox->post([&](Connection* connection) { ended = connection == nullptr; });
  EXPECT_TRUE(ended);
}

TEST_F(Chains, NotificationsOfEncryptedSessionsAreEncrypted) {
  TestClient far(world, "10.0.0.1");
  far.come_in();
  smb::Header header;
  header.command = Command::kOplockBreak;
  header.flags = smb::header_flag::kReply;
  header.message_id = smb::kUnsolicited;
  far.connection.notify(far.connection.find_session(far.session_id)->channel,
                        smb::encode(header, smb::OplockBreak()));
  EXPECT_TRUE(far.take().at(0).sealed);
}

TEST_F(Chains, WhoTakesNoRepliesIsReadNoMore) {
  client.asked_credits = 2000;
  ask({echo()});
  Pending<bool> held;
  client.carrier.held = &held;
  client.charge = 128;
  smb::ReadRequest read;
  read.length = kMaxTransferBytes;
  bool room = false;
  const auto wait = [](Connection& connection, bool& out) -> Detached {
    out = false;
    out = co_await connection.wait_for_room();
  };
  size_t given = 0;
  for (wait(client.connection, room); room; wait(client.connection, room)) {
    ASSERT_TRUE(client.give(client.protect({client.message(Command::kRead, read)})));
    ++given;
  }
  EXPECT_EQ(given, kMaxBytesInMemory / kMaxTransferBytes);
  EXPECT_TRUE(client.connection.busy());
  client.carrier.held = nullptr;
  held.set(true);
  world.loop.run_ready();
  EXPECT_TRUE(room);
  EXPECT_FALSE(client.connection.busy());
  EXPECT_EQ(client.carrier.frames.size(), given);
}

}  // namespace
}  // namespace kyanite::drive
