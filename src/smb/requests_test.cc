// Every message against bytes laid out by hand: written and read alike, and refused when cut.
#include "smb/requests.h"

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "smb/bytes_test_support.h"

namespace kyanite::smb {
namespace {

constexpr FileId kFile{0x3132333435363738, 0x4142434445464748};

// The place of the file id and its bytes.
Bytes& file_at(Bytes& bytes, size_t at) {
  return bytes.u64(at, kFile.persistent_id).u64(at + 8, kFile.volatile_id);
}

template <class Body>
bool is_refused(std::string_view message) {
  return read_exactly(message, [](std::string_view exact) { return !decode<Body>(exact).ok(); });
}

// `filler` bytes at the end may be missing.
template <class Body>
void expect_message(const Header& header, const Body& body, const std::string& bytes,
                    size_t filler = 0) {
  std::string message;
  append_fields(message, header);
  message += bytes;
  EXPECT_EQ(hex(encode(header, body)), hex(message));
  const auto read = decode<Body>(message);
  ASSERT_TRUE(read);
  EXPECT_TRUE(*read == body);
  for (size_t size = 0; size < message.size() - filler; ++size)
    EXPECT_TRUE(is_refused<Body>(message.substr(0, size))) << "cut at " << size;
  std::string other = message;
  other[kHeaderBytes] = static_cast<char>(other[kHeaderBytes] ^ 1);
  const auto refused = decode<Body>(other);
  ASSERT_FALSE(refused) << "another structure size";
  EXPECT_EQ(refused.error(), Status::kInvalidParameter);
}
template <class Body>
void expect_request(const Body& body, const std::string& bytes, size_t filler = 0) {
  expect_message(Header(), body, bytes, filler);
}
template <class Body>
void expect_reply(const Body& body, const std::string& bytes) {
  expect_message(reply_header(Header(), Status::kSuccess), body, bytes);
}

TEST(Requests, SessionSetup) {
  SessionSetupRequest request;
  request.flags = 1;
  request.security_mode = 2;
  request.capabilities = 0x11121314;
  request.channel = 0x21222324;
  request.previous_session = 0x5152535455565758;
  request.token = "token";
  expect_request(request, Bytes(29)
                              .u16(0, 25)
                              .u8(2, 1)
                              .u8(3, 2)
                              .u32(4, 0x11121314)
                              .u32(8, 0x21222324)
                              .u16(12, 88)
                              .u16(14, 5)
                              .u64(16, 0x5152535455565758)
                              .text(24, "token")
                              .str());
  SessionSetupReply reply;
  reply.flags = session_flag::kEncryptData;
  reply.token = "blob";
  expect_reply(reply, Bytes(12).u16(0, 9).u16(2, 4).u16(4, 72).u16(6, 4).text(8, "blob").str());
}

TEST(Requests, OfNothing) {
  const std::string bytes = Bytes(4).u16(0, 4).str();
  expect_reply(EmptyBody(), bytes);
  expect_request(LogoffRequest(), bytes);
  expect_request(TreeDisconnectRequest(), bytes);
  expect_request(EchoRequest(), bytes);
  expect_request(CancelRequest(), bytes);
  expect_reply(SetInfoReply(), Bytes(2).u16(0, 2).str());
}

TEST(Requests, TreeConnect) {
  TreeConnectRequest request;
  request.flags = 3;
  request.path = "\\\\h\\s";
  expect_request(request,
                 Bytes(18).u16(0, 9).u16(2, 3).u16(4, 72).u16(6, 10).utf16(8, "\\\\h\\s").str());
  TreeConnectReply reply;
  reply.type = ShareType::kPipe;
  reply.flags = 0x31323334;
  reply.capabilities = 0x41424344;
  reply.maximal_access = 0x001F01FF;
  expect_reply(reply, Bytes(16)
                          .u16(0, 16)
                          .u8(2, 2)
                          .u32(4, 0x31323334)
                          .u32(8, 0x41424344)
                          .u32(12, 0x001F01FF)
                          .str());
}

TEST(Requests, TextThatIsNoneIsRefusedWithItsStatus) {
  const auto tree = decode<TreeConnectRequest>(with_header(
      Command::kTreeConnect, Bytes(10).u16(0, 9).u16(4, 72).u16(6, 2).u16(8, 0xD800).str()));
  ASSERT_FALSE(tree);
  EXPECT_EQ(tree.error(), Status::kBadNetworkName);
  const Bytes create = Bytes(60).u16(0, 57).u16(44, 120).u16(46, 2).u16(56, 0xDC00);
  const auto surrogate = decode<CreateRequest>(with_header(Command::kCreate, create.str()));
  ASSERT_FALSE(surrogate);
  EXPECT_EQ(surrogate.error(), Status::kObjectNameInvalid);
  const auto odd =
      decode<CreateRequest>(with_header(Command::kCreate, Bytes(create).u16(46, 1).str()));
  ASSERT_FALSE(odd);
  EXPECT_EQ(odd.error(), Status::kInvalidParameter);
}

Bytes create_bytes(size_t size) {
  return Bytes(size)
      .u16(0, 57)
      .u8(3, 0xFF)
      .u32(4, 2)
      .u32(24, 0x00120089)
      .u32(28, 0x20)
      .u32(32, 7)
      .u32(36, 3)
      .u32(40, 0x40)
      .u16(44, 120);
}
CreateRequest create_request() {
  CreateRequest request;
  request.oplock = OplockLevel::kLease;
  request.impersonation = 2;
  request.desired_access = kGenericReadMeans;
  request.attributes = attribute::kArchive;
  request.share_access = share_access::kRead | share_access::kWrite | share_access::kDelete;
  request.disposition = Disposition::kOpenIf;
  request.options = create_option::kNonDirectoryFile;
  return request;
}

TEST(Requests, Create) {
  CreateRequest request = create_request();
  request.name = "dir\\a";
  expect_request(request, create_bytes(66).u16(46, 10).utf16(56, "dir\\a").str());
  request.contexts = "contexts of any form";
  expect_request(request, create_bytes(92)
                              .u16(46, 10)
                              .utf16(56, "dir\\a")
                              .u32(48, 136)
                              .u32(52, 20)
                              .text(72, "contexts of any form")
                              .str());
  request.name.clear();
  request.contexts = {};
  expect_request(request, create_bytes(57).str(), 1);
}

TEST(Requests, CreateReply) {
  CreateReply reply;
  reply.oplock = OplockLevel::kBatch;
  reply.flags = 1;
  reply.action = CreateAction::kCreated;
  reply.times = {0x11, 0x12, 0x13, 0x14};
  reply.allocation_size = 4096;
  reply.end_of_file = 100;
  reply.attributes = 0x20;
  reply.file = kFile;
  Bytes bytes(88);
  bytes.u16(0, 89).u8(2, 9).u8(3, 1).u32(4, 2);
  bytes.u64(8, 0x11).u64(16, 0x12).u64(24, 0x13).u64(32, 0x14).u64(40, 4096).u64(48, 100);
  file_at(bytes.u32(56, 0x20), 64);
  expect_reply(reply, bytes.str());
  reply.contexts = "12345";
  const std::string with_contexts = bytes.u32(80, 152).u32(84, 5).str() + "12345";
  expect_reply(reply, with_contexts);
}

TEST(Requests, Close) {
  Bytes bytes(24);
  expect_request(CloseRequest{1, kFile}, file_at(bytes.u16(0, 24).u16(2, 1), 8).str());
  CloseReply reply;
  reply.flags = 1;
  reply.times = {0x11, 0x12, 0x13, 0x14};
  reply.allocation_size = 4096;
  reply.end_of_file = 100;
  reply.attributes = 0x20;
  expect_reply(reply, Bytes(60)
                          .u16(0, 60)
                          .u16(2, 1)
                          .u64(8, 0x11)
                          .u64(16, 0x12)
                          .u64(24, 0x13)
                          .u64(32, 0x14)
                          .u64(40, 4096)
                          .u64(48, 100)
                          .u32(56, 0x20)
                          .str());
}

TEST(Requests, Flush) {
  Bytes bytes(24);
  expect_request(FlushRequest{kFile}, file_at(bytes.u16(0, 24), 8).str());
}

TEST(Requests, Read) {
  ReadRequest request;
  request.padding = 0x50;
  request.flags = 1;
  request.length = 0x10000;
  request.offset = 0x123456789;
  request.file = kFile;
  request.minimum_count = 7;
  request.channel = 8;
  request.remaining = 9;
  Bytes bytes(49);
  bytes.u16(0, 49).u8(2, 0x50).u8(3, 1).u32(4, 0x10000).u64(8, 0x123456789);
  file_at(bytes, 16).u32(32, 7).u32(36, 8).u32(40, 9);
  expect_request(request, bytes.str(), 1);
}

TEST(Requests, ReadReply) {
  const Header header = reply_header(Header(), Status::kSuccess);
  ReadReply reply;
  reply.length = 5;
  const std::string head = Bytes(16).u16(0, 17).u8(2, 0x50).u32(4, 5).str();
  EXPECT_EQ(hex(encode(header, reply).substr(kHeaderBytes)), hex(head)) << "data sent apart";
  reply.data = "hello";
  EXPECT_EQ(encode(header, reply).substr(kHeaderBytes), head + "hello");
  EXPECT_EQ(decode<ReadReply>(encode(header, reply))->data, "hello");
}

TEST(Requests, Write) {
  WriteRequest request;
  request.offset = 0x123456789;
  request.file = kFile;
  request.channel = 1;
  request.remaining = 2;
  request.flags = kWriteFlagThrough;
  request.data = "some data";
  Bytes bytes(57);
  bytes.u16(0, 49).u16(2, 0x70).u32(4, 9).u64(8, 0x123456789);
  file_at(bytes, 16).u32(32, 1).u32(36, 2).u32(44, 1).text(48, "some data");
  expect_request(request, bytes.str());
  const std::string data_in_the_header = Bytes(bytes).u16(2, 0x60).str();
  EXPECT_TRUE(is_refused<WriteRequest>(with_header(Command::kWrite, data_in_the_header)));
  expect_reply(WriteReply{9}, Bytes(16).u16(0, 17).u32(4, 9).str());
}

TEST(Requests, Lock) {
  LockRequest request;
  request.sequence = 0x123;
  request.file = kFile;
  request.locks = {{10, 20, lock_flag::kExclusive}, {UINT64_MAX, 1, lock_flag::kUnlock}};
  Bytes bytes(72);
  file_at(bytes.u16(0, 48).u16(2, 2).u32(4, 0x123), 8);
  bytes.u64(24, 10).u64(32, 20).u32(40, 2).u64(48, UINT64_MAX).u64(56, 1).u32(64, 4);
  expect_request(request, bytes.str());
  EXPECT_EQ(request.sequence_number(), 3u);
  EXPECT_EQ(request.sequence_index(), 0x12u);
  EXPECT_TRUE(is_refused<LockRequest>(with_header(Command::kLock, Bytes(bytes).u16(2, 0).str())));
  const std::string too_many =
      Bytes(24 + 24 * (kMaxLocks + 1)).u16(0, 48).u16(2, kMaxLocks + 1).str();
  EXPECT_TRUE(is_refused<LockRequest>(with_header(Command::kLock, too_many)));
}

TEST(Requests, Ioctl) {
  IoctlRequest request;
  request.control = Control::kCopyChunk;
  request.file = kFile;
  request.max_input = 1;
  request.max_output = 12;
  request.input = "in";
  Bytes bytes(58);
  file_at(bytes.u16(0, 57).u32(4, 0x001440F2), 8).u32(24, 120).u32(28, 2).u32(32, 1);
  bytes.u32(44, 12).u32(48, 1).text(56, "in");
  expect_request(request, bytes.str());
  IoctlReply reply{Control::kCopyChunk, kFile, "out"};
  Bytes answer(51);
  file_at(answer.u16(0, 49).u32(4, 0x001440F2), 8).u32(24, 112).u32(32, 112).u32(36, 3);
  expect_reply(reply, answer.text(48, "out").str());
}

TEST(Requests, QueryDirectory) {
  QueryDirectoryRequest request;
  request.info_class = FileClass::kIdBothDirectory;
  request.flags = query_directory_flag::kRestart;
  request.file_index = 6;
  request.file = kFile;
  request.output_length = 0x800000;
  request.pattern = "*";
  Bytes bytes(34);
  file_at(bytes.u16(0, 33).u8(2, 37).u8(3, 1).u32(4, 6), 8);
  expect_request(request, bytes.u16(24, 96).u16(26, 2).u32(28, 0x800000).utf16(32, "*").str());
}

TEST(Requests, ChangeNotify) {
  Bytes bytes(32);
  file_at(bytes.u16(0, 32).u16(2, 1).u32(4, 1000), 8).u32(24, 0x17);
  expect_request(ChangeNotifyRequest{kWatchTree, 1000, kFile, 0x17}, bytes.str());
  expect_reply(OutputReply{"out"}, Bytes(11).u16(0, 9).u16(2, 72).u32(4, 3).text(8, "out").str());
}

TEST(Requests, QueryInfo) {
  QueryInfoRequest request;
  request.type = InfoType::kSecurity;
  request.info_class = 4;
  request.output_length = 0x1000;
  request.additional = 7;
  request.flags = 3;
  request.file = kFile;
  request.input = "in";
  Bytes bytes(42);
  bytes.u16(0, 41).u8(2, 3).u8(3, 4).u32(4, 0x1000).u16(8, 104).u32(12, 2).u32(16, 7).u32(20, 3);
  expect_request(request, file_at(bytes, 24).text(40, "in").str());
}

TEST(Requests, SetInfo) {
  SetInfoRequest request;
  request.type = InfoType::kFile;
  request.info_class = 20;
  request.additional = 7;
  request.file = kFile;
  request.input = "12345678";
  Bytes bytes(40);
  bytes.u16(0, 33).u8(2, 1).u8(3, 20).u32(4, 8).u16(8, 96).u32(12, 7);
  expect_request(request, file_at(bytes, 16).text(32, "12345678").str());
}

TEST(Requests, Breaks) {
  Bytes bytes(24);
  expect_request(OplockBreak{OplockLevel::kLevel2, kFile},
                 file_at(bytes.u16(0, 24).u8(2, 1), 8).str());
  LeaseBreakNotification notification{3, lease_flag::kAckRequired, run_of<16>('k'), 7, 3};
  expect_reply(
      notification,
      Bytes(44).u16(0, 44).u16(2, 3).u32(4, 1).run(8, 16, 'k').u32(24, 7).u32(28, 3).str());
  expect_request(LeaseBreak{run_of<16>('k'), 3},
                 Bytes(36).u16(0, 36).run(8, 16, 'k').u32(24, 3).str());
}

template <class Request>
bool is_visited_as(const std::string& message) {
  bool same = false;
  const auto messages = split_chain(message);
  visit_request_type(messages->front(), [&]<class Found>(std::type_identity<Found>) {
    same = std::is_same_v<Found, Request>;
  });
  return same;
}

TEST(Requests, AreFoundByTheirCommand) {
  const auto empty = [](Command command) { return with_header(command, Bytes(4).u16(0, 4).str()); };
  EXPECT_TRUE(is_visited_as<NegotiateRequest>(empty(Command::kNegotiate)));
  EXPECT_TRUE(is_visited_as<LogoffRequest>(empty(Command::kLogoff)));
  EXPECT_TRUE(is_visited_as<SetInfoRequest>(empty(Command::kSetInfo)));
  const auto broken = [](uint16_t size) {
    return with_header(Command::kOplockBreak, Bytes(36).u16(0, size).str());
  };
  EXPECT_TRUE(is_visited_as<OplockBreak>(broken(24)));
  EXPECT_TRUE(is_visited_as<LeaseBreak>(broken(36)));
  EXPECT_TRUE(is_visited_as<OplockBreak>(with_header(Command::kOplockBreak, "")));
  const auto unknown = split_chain(empty(static_cast<Command>(0x13)));
  EXPECT_FALSE(visit_request_type(unknown->front(), [](auto) { FAIL(); }));
}

}  // namespace
}  // namespace kyanite::smb
