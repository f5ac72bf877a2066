// What a CREATE is refused for, and what others have to do with it: other accounts, shares that are
// deleted, opens whose clients did not come back.
#include "smb/create.h"

#include <gtest/gtest.h>

#include <cstring>
#include <future>
#include <memory>
#include <thread>

#include "drive/durable.h"
#include "drive/test_support.h"
#include "smb/file_io.h"
#include "smb/query.h"
#include "smb/times.h"
#include "tree/access_check.h"
#include "tree/drafts.h"
#include "tree/sddl.h"

namespace kyanite::drive {
namespace {

using smb::Command;
using smb::Disposition;
using smb::Status;
namespace option = smb::create_option;

constexpr uint32_t kAllCaching =
    smb::lease_state::kRead | smb::lease_state::kHandle | smb::lease_state::kWrite;

class Creates : public testing::Test {
 protected:
  static void come_in(TestClient& client, char called = 'c', std::string account = "acct") {
    client.guid = TestClient::filled(called);
    client.ntlm.user = std::move(account);
    client.ntlm.password = world_password(client.ntlm.user);
    client.come_in();
    CHECK(client.connect("\\\\s\\data")->status() == Status::kSuccess);
  }
  static smb::CreateRequest asking(std::string name, Disposition disposition = Disposition::kOpenIf,
                                   uint32_t options = 0) {
    smb::CreateRequest request;
    request.name = std::move(name);
    request.desired_access = smb::kGenericAllMeans;
    request.share_access = 7;
    request.disposition = disposition;
    request.options = options;
    return request;
  }
  // With a lease on all that can be cached.
  static smb::CreateContexts leased(char key) {
    smb::CreateContexts contexts;
    contexts.lease.emplace().version2 = true;
    contexts.lease->key = TestClient::filled(key);
    contexts.lease->state = kAllCaching;
    return contexts;
  }
  static std::string create_message(TestClient& client, smb::CreateRequest request,
                                    const smb::CreateContexts& contexts = {}) {
    const std::string encoded = contexts.encode();
    request.contexts = encoded;
    if (contexts.lease) request.oplock = smb::OplockLevel::kLease;
    return client.protect({client.message(Command::kCreate, request)});
  }
  static Status create(TestClient& client, smb::CreateRequest request,
                       const smb::CreateContexts& contexts = {}) {
    const auto answer = client.converse(create_message(client, std::move(request), contexts));
    return answer.size() == 1 ? answer[0].status() : Status::kUnsuccessful;
  }
  static smb::FileId must_create(TestClient& client, smb::CreateRequest request,
                                 const smb::CreateContexts& contexts = {}) {
    const auto answer = client.converse(create_message(client, std::move(request), contexts));
    CHECK(answer.size() == 1 && answer[0].status() == Status::kSuccess);
    return answer[0].body<smb::CreateReply>().file;
  }
  void delete_share() {
    world.shares.deleted = true;
    world.shares.open_files.force_close_share(world.shares.space);
    world.shares.open_files.drafts().discard_share(world.shares.space);
    world.loop.run_ready();
  }

  TestWorld world;

 private:
  static std::string world_password(const std::string& account) {
    return TestShares().accounts.at(account).front().text;
  }
};

TEST_F(Creates, AreRefusedOnceTheShareIsDeleted) {
  TestClient client{world};
  come_in(client);
  const smb::FileId file = must_create(client, asking("before"));
  smb::QueryDirectoryRequest listing;
  listing.file = must_create(client, asking("", Disposition::kOpen, option::kDirectoryFile));
  listing.pattern = "*";
  listing.output_length = 1024;
  EXPECT_EQ(client.ask(Command::kQueryDirectory, listing)->status(), Status::kSuccess);
  delete_share();
  EXPECT_EQ(client.ask(Command::kQueryDirectory, listing)->status(), Status::kFileClosed);
  smb::FlushRequest flush;
  flush.file = file;
  EXPECT_EQ(client.ask(Command::kFlush, flush)->status(), Status::kFileClosed);
  EXPECT_EQ(world.drive.metrics.opens, 0u);
  for (const Disposition disposition : {Disposition::kOpen, Disposition::kOverwrite})
    EXPECT_EQ(create(client, asking("before", disposition)), Status::kNetworkNameDeleted);
  EXPECT_EQ(create(client, asking("new")), Status::kNetworkNameDeleted);
  // Another share has the name now: it was not this one that was connected.
  world.shares.deleted = false;
  world.shares.space = 8;
  EXPECT_EQ(create(client, asking("new")), Status::kNetworkNameDeleted);
  // The share is restored.
  world.shares.space = 7;
  EXPECT_EQ(create(client, asking("new", Disposition::kOpen)), Status::kObjectNameNotFound);
  EXPECT_EQ(create(client, asking("before", Disposition::kOpen)), Status::kSuccess);
}

TEST_F(Creates, AreRefusedWhenTheShareIsDeletedMeanwhile) {
  TestClient first{world};
  come_in(first, '1');
  TestClient second{world};
  come_in(second, '2');
  ASSERT_EQ(create(first, asking("file"), leased('k')), Status::kSuccess);
  EXPECT_EQ(create(second, asking("file")), Status::kPending) << "for what the first has cached";
  // Its handle is closed, and nobody is in the way any more.
  delete_share();
  const auto answer = second.take();
  ASSERT_EQ(answer.size(), 1u);
  EXPECT_EQ(answer[0].status(), Status::kNetworkNameDeleted);
  EXPECT_TRUE(world.shares.open_files.idle());
}

// All that a program has open is looked at when it opens something elsewhere.
TEST_F(Creates, AProgramThatMovesHasNotTooMuchOpen) {
  TestClient client{world};
  come_in(client, '1');
  client.asked_credits = 100;
  size_t number = 0;
  const auto next = [&](TestClient& from) {
    smb::CreateContexts contexts;
    contexts.app_instance.emplace().id = TestClient::filled('p');
    smb::Guid name = TestClient::filled('n');
    std::memcpy(name.data(), &++number, sizeof number);
    contexts.durable2.emplace().create_guid = name;
    return create(from, asking("file" + std::to_string(number)), contexts);
  };
  for (size_t i = 0; i < kMaxOpensOfProgram; ++i) ASSERT_EQ(next(client), Status::kSuccess) << i;
  EXPECT_EQ(next(client), Status::kInsufficientResources);
  EXPECT_EQ(world.drive.metrics.opens, kMaxOpensOfProgram);
  EXPECT_EQ(create(client, asking("another")), Status::kSuccess) << "others are not limited by it";
  TestClient other{world};
  come_in(other, '2', "other");
  EXPECT_EQ(next(other), Status::kSuccess) << "nor is what other accounts call the same";
}

class CreatesOfSnapshots : public Creates {
 protected:
  static constexpr tree::Generation kShown = 5;

  void SetUp() override {
    come_in(client);
    must_create(client, asking("file"));
    world.shares.snapshot = kShown;
  }
  static smb::CreateContexts then() {
    smb::CreateContexts contexts;
    contexts.snapshot = smb::to_file_time(Time::from_unix_seconds(1'700'000'000));
    return contexts;
  }
  smb::FileId must_open_then(smb::CreateRequest request) {
    request.desired_access = smb::access::kReadData;
    const auto answer = client.converse(create_message(client, std::move(request), then()));
    CHECK(answer.size() == 1 && answer[0].status() == Status::kSuccess);
    return answer[0].body<smb::CreateReply>().file;
  }
  void delete_snapshot(tree::Generation shown = kShown) {
    if (shown == kShown) world.shares.snapshot.reset();
    world.shares.open_files.force_close_snapshot(world.shares.space, shown);
  }

  TestClient client{world};
};

// As opens of the share itself do.
TEST_F(CreatesOfSnapshots, EndWithTheSnapshotAndWithTheShare) {
  const struct {
    const char* what;
    std::function<void()> happens;
    Status status;
  } rows[] = {
      {"another share", [&] { world.shares.open_files.force_close_share(9); }, Status::kSuccess},
      {"another snapshot", [&] { delete_snapshot(kShown + 1); }, Status::kSuccess},
      {"the snapshot", [&] { delete_snapshot(); }, Status::kFileClosed},
      {"the share", [&] { delete_share(); }, Status::kFileClosed},
  };
  for (const auto& [what, happens, status] : rows) {
    world.shares.snapshot = kShown;
    smb::ReadRequest read;
    read.file = must_open_then(asking("file", Disposition::kOpen));
    smb::QueryDirectoryRequest listing;
    listing.file = must_open_then(asking("", Disposition::kOpen, option::kDirectoryFile));
    listing.pattern = "*";
    listing.output_length = 1024;
    smb::CloseRequest close;
    close.file = must_open_then(asking("file", Disposition::kOpen));
    const uint64_t opens = world.drive.metrics.opens;
    happens();
    EXPECT_EQ(client.ask(Command::kRead, read)->status(), status) << what;
    EXPECT_EQ(client.ask(Command::kQueryDirectory, listing)->status(), status) << what;
    EXPECT_EQ(client.ask(Command::kClose, close)->status(), status) << what;
    EXPECT_EQ(world.drive.metrics.opens, opens - (status == Status::kSuccess ? 1 : 3)) << what;
  }
}

TEST_F(CreatesOfSnapshots, AreRefusedWhenTheSnapshotIsDeletedMeanwhile) {
  const uint64_t opens = world.drive.metrics.opens;
  world.shares.snapshot_found = [&] { delete_snapshot(); };
  EXPECT_EQ(create(client, asking("file", Disposition::kOpen), then()),
            Status::kObjectNameNotFound);
  EXPECT_EQ(world.drive.metrics.opens, opens);
  // Another one is deleted.
  world.shares.snapshot = kShown;
  world.shares.snapshot_found = [&] { delete_snapshot(kShown + 1); };
  EXPECT_EQ(create(client, asking("file", Disposition::kOpen), then()), Status::kSuccess);
}

// Nobody writes there: all have the locks that they ask for.
TEST_F(CreatesOfSnapshots, AreLockedByAll) {
  using namespace smb::lock_flag;
  const struct {
    const char* what;
    std::vector<smb::LockElement> locks;
    Status status;
  } rows[] = {
      {"a shared one", {{0, 10, kShared | kFailImmediately}}, Status::kSuccess},
      {"an exclusive one", {{0, 10, kExclusive | kFailImmediately}}, Status::kSuccess},
      {"one that might wait", {{5, 10, kExclusive}}, Status::kSuccess},
      {"what is unlocked", {{0, 10, kUnlock}}, Status::kSuccess},
      {"what is no lock", {{0, 10, kShared | kExclusive}}, Status::kInvalidParameter},
      {"both at once", {{0, 10, kUnlock}, {0, 10, kShared}}, Status::kInvalidParameter},
      {"behind the last byte", {{~uint64_t{0}, 2, kShared}}, Status::kInvalidLockRange},
  };
  const smb::FileId first = must_open_then(asking("file", Disposition::kOpen));
  const smb::FileId second = must_open_then(asking("file", Disposition::kOpen));
  for (const auto& [what, locks, status] : rows) {
    for (const smb::FileId& file : {first, second}) {
      smb::LockRequest lock;
      lock.file = file;
      lock.locks = locks;
      EXPECT_EQ(client.ask(Command::kLock, lock)->status(), status) << what;
    }
  }
}

// Nothing changes there: who waits for that does so to the end.
TEST_F(CreatesOfSnapshots, AreWatchedToTheirEnd) {
  smb::ChangeNotifyRequest notify;
  notify.flags = smb::kWatchTree;
  notify.filter = 0xFFF;
  notify.output_length = 1024;
  uint64_t id = 0;
  const auto watch = [&] {
    world.shares.snapshot = kShown;
    notify.file = must_open_then(asking("", Disposition::kOpen, option::kDirectoryFile));
    id = client.next_id;
    const auto interim = client.ask(Command::kChangeNotify, notify);
    CHECK(interim);
    return interim->status();
  };
  const struct {
    const char* what;
    std::function<void()> happens;
    Status status;
  } rows[] = {
      {"its snapshot is deleted", [&] { delete_snapshot(); }, Status::kNotifyCleanup},
      {"it is cancelled",
       [&] {
         smb::Header cancel = client.next_header(Command::kCancel);
         cancel.message_id = id;
         client.give(client.protect({smb::encode(cancel, smb::CancelRequest())}));
       },
       Status::kCancelled},
      {"its share is deleted", [&] { delete_share(); }, Status::kNotifyCleanup},
  };
  for (const auto& [what, happens, status] : rows) {
    ASSERT_EQ(watch(), Status::kPending) << what;
    delete_snapshot(kShown + 1);
    if (!world.shares.deleted) must_create(client, asking(std::string("new, before ") + what));
    world.loop.run_ready();
    EXPECT_TRUE(client.carrier.frames.empty()) << what;
    happens();
    world.loop.run_ready();
    const auto answer = client.take();
    ASSERT_EQ(answer.size(), 1u) << what;
    EXPECT_EQ(answer[0].status(), status) << what;
    EXPECT_EQ(answer[0].header.message_id, id) << what;
  }
}

TEST_F(CreatesOfSnapshots, TheMostAccessIsWithoutWriting) {
  const auto most = [&](smb::CreateRequest request, smb::CreateContexts contexts) {
    contexts.maximal_access.emplace();
    const auto answer = client.converse(create_message(client, std::move(request), contexts));
    CHECK(answer.size() == 1 && answer[0].status() == Status::kSuccess);
    const auto told = smb::CreateReplyContexts::decode(answer[0].body<smb::CreateReply>().contexts);
    CHECK(told && told->maximal_access);
    return told->maximal_access->access;
  };
  smb::CreateRequest reading = asking("file", Disposition::kOpen);
  reading.desired_access = smb::access::kReadData;
  EXPECT_EQ(most(reading, {}), tree::kAllRights);
  EXPECT_EQ(most(reading, then()), smb::kGenericReadMeans | smb::kGenericExecuteMeans);
  smb::CreateRequest read_only = asking("read-only", Disposition::kCreate);
  read_only.attributes = tree::kReadOnlyAttribute;
  must_create(client, read_only);
  reading.name = "read-only";
  EXPECT_EQ(most(reading, {}),
            tree::kAllRights &
                ~(smb::access::kWriteData | smb::access::kAppendData | smb::access::kDeleteChild));
}

TEST_F(Creates, DeleteOnCloseNeedsTheRightToDelete) {
  TestClient client{world};
  come_in(client);
  // All but deleting, and deleting what is in it.
  const auto parsed = tree::parse_sddl("O:SYG:SYD:P(A;;0x1e01bf;;;WD)");
  ASSERT_TRUE(parsed);
  const std::string binary = tree::write_descriptor(*parsed);
  smb::CreateContexts contexts;
  contexts.security_descriptor = binary;
  ASSERT_EQ(create(client, asking("d", Disposition::kCreate, option::kDirectoryFile), contexts),
            Status::kSuccess);
  ASSERT_EQ(create(client, asking("d\\f", Disposition::kCreate), contexts), Status::kSuccess);
  smb::CreateRequest request = asking("d\\f", Disposition::kOpen, option::kDeleteOnClose);
  for (const uint32_t access : {smb::access::kMaximumAllowed, smb::access::kDelete}) {
    request.desired_access = access;
    EXPECT_EQ(create(client, request), Status::kAccessDenied) << access;
  }
  request.desired_access = smb::access::kMaximumAllowed;
  request.options = 0;
  EXPECT_EQ(create(client, request), Status::kSuccess);
  request.name = "own";
  request.disposition = Disposition::kCreate;
  request.options = option::kDeleteOnClose;
  EXPECT_EQ(create(client, request), Status::kSuccess);
}

TEST_F(Creates, AClientIsNotOneOfAnotherAccountThatCallsItselfTheSame) {
  TestClient other{world};
  come_in(other, 'c', "other");
  TestClient holder{world};
  come_in(holder, 'c');
  TestClient third{world};
  come_in(third, '3');
  ASSERT_EQ(create(holder, asking("file"), leased('k')), Status::kSuccess);
  EXPECT_EQ(create(third, asking("file")), Status::kPending);
  // Who has it is told, and nobody else.
  EXPECT_TRUE(other.carrier.frames.empty());
  const auto told = holder.take();
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(told[0].header.command, Command::kOplockBreak);
  // Nor can anybody else answer, or is kept from a name of its own.
  const smb::LeaseBreak kept{TestClient::filled('k'),
                             smb::lease_state::kRead | smb::lease_state::kHandle};
  EXPECT_EQ(other.ask(Command::kOplockBreak, kept)->status(), Status::kObjectNameNotFound);
  EXPECT_TRUE(third.carrier.frames.empty());
  EXPECT_EQ(create(other, asking("elsewhere"), leased('k')), Status::kSuccess);
  EXPECT_EQ(holder.ask(Command::kOplockBreak, kept)->status(), Status::kSuccess);
  EXPECT_EQ(third.take().at(0).status(), Status::kSuccess);
}

TEST_F(Creates, NamesAreFreeAgainWhenNobodyCameBackForWhatHadThem) {
  Remover remover(world.drive);
  world.shares.open_files.set_remover(&remover);
  smb::CreateContexts named = leased('k');
  named.durable2.emplace().create_guid = TestClient::filled('n');
  {
    TestClient lost{world};
    come_in(lost);
    ASSERT_EQ(create(lost, asking("file"), named), Status::kSuccess);
  }
  TestClient back{world};
  come_in(back);
  EXPECT_EQ(create(back, asking("file"), named), Status::kDuplicateObjectId) << "it waits";
  TestClient other{world};
  come_in(other, 'o');
  EXPECT_EQ(create(other, asking("file")), Status::kSuccess) << "it gives way";
  EXPECT_EQ(create(back, asking("file"), named), Status::kSuccess);
  world.shares.open_files.set_remover(nullptr);
}

// What is removed needs what the remover lives in.
TEST_F(Creates, TheRemoverEndsWhenAllIsRemoved) {
  tree::OpenFiles& table = world.shares.open_files;
  auto remover = std::make_unique<Remover>(world.drive);
  table.set_remover(remover.get());
  smb::CreateContexts durable = leased('k');
  durable.durable2.emplace().create_guid = TestClient::filled('n');
  smb::CreateRequest deleting = asking("file");
  deleting.options = smb::create_option::kDeleteOnClose;
  tree::FileKey file;
  {
    TestClient lost{world};
    come_in(lost);
    file = table.find(must_create(lost, deleting, durable).persistent_id)->file;
  }
  TestClient other{world};
  come_in(other, 'o');
  std::promise<void> go;
  ASSERT_TRUE(world.workers.submit([done = go.get_future().share()] { done.wait(); }));
  other.give(other.protect({other.message(Command::kCreate, asking("file"))}));
  table.set_remover(nullptr);
  remover.reset();
  EXPECT_FALSE(table.is_delete_pending(file)) << "whatever the workers have to do";
  EXPECT_TRUE(table.list(file, false, 0, 10).empty());
  EXPECT_EQ(create(other, asking("file", Disposition::kCreate)), Status::kSuccess) << "it is gone";
  go.set_value();
}

TEST_F(Creates, WhoMayOnlyAppendDoesNotOverwrite) {
  TestClient client{world};
  come_in(client);
  smb::WriteRequest write;
  write.file = must_create(client, asking("log"));
  write.data = "first";
  ASSERT_EQ(client.ask(Command::kWrite, write)->status(), Status::kSuccess);
  smb::CreateRequest appending = asking("log", Disposition::kOpen);
  appending.desired_access = smb::access::kAppendData;
  write.file = must_create(client, appending);
  EXPECT_EQ(client.ask(Command::kWrite, write)->status(), Status::kAccessDenied);
  write.offset = 4;
  EXPECT_EQ(client.ask(Command::kWrite, write)->status(), Status::kAccessDenied);
  write.offset = 5;
  EXPECT_EQ(client.ask(Command::kWrite, write)->status(), Status::kSuccess);
}

// A LOCK that is cancelled before it waits for other locks does not begin to.
TEST_F(Creates, LocksAreCancelledWhateverTheyWaitFor) {
  TestClient client{world};
  come_in(client);
  tree::OpenFiles& table = world.shares.open_files;
  const smb::FileId first = must_create(client, asking("file"));
  const smb::FileId second = must_create(client, asking("file"));
  auto writing =
      table.admit(table.find(first.persistent_id)->file, concurrency::FileOperation::kPutRange);
  ASSERT_TRUE(writing.ok());
  smb::LockRequest lock;
  lock.locks = {{0, 10, smb::lock_flag::kExclusive}};
  lock.file = first;
  client.give(client.protect({client.message(Command::kLock, lock)}));
  lock.file = second;
  const uint64_t id = client.next_id;
  client.give(client.protect({client.message(Command::kLock, lock)}));
  EXPECT_TRUE(client.carrier.frames.empty());
  smb::Header cancel = client.next_header(Command::kCancel);
  cancel.message_id = id;
  client.give(client.protect({smb::encode(cancel, smb::CancelRequest())}));
  *writing = {};
  world.loop.run_ready();
  EXPECT_EQ(client.take().at(0).status(), Status::kSuccess);
  const auto answer = client.take();
  ASSERT_EQ(answer.size(), 1u);
  EXPECT_EQ(answer[0].status(), Status::kCancelled);
  EXPECT_EQ(answer[0].header.message_id, id);
}

}  // namespace
}  // namespace kyanite::drive
