#include "smb/frame.h"

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "smb/bytes_test_support.h"

namespace kyanite::smb {
namespace {

TEST(Prefix, SaysHowLongAFrameIs) {
  EXPECT_EQ(read_prefix({0, 1, 2, 3}, 0x010203).kind, Prefix::kFrame);
  EXPECT_EQ(read_prefix({0, 1, 2, 3}, 0x010203).bytes, 0x010203u);
  EXPECT_EQ(read_prefix({0, 1, 2, 3}, 0x010202).kind, Prefix::kRefused);
  EXPECT_EQ(read_prefix({0, '\xff', '\xff', '\xff'}, kMaxFrameBytes).bytes, kMaxFrameBytes);
  EXPECT_EQ(read_prefix({'\x85', 0, 0, 0}, 100).kind, Prefix::kKeepAlive);
  EXPECT_EQ(read_prefix({'\x85', 0, 0, 1}, 100).kind, Prefix::kRefused);
  EXPECT_EQ(read_prefix({'\x81', 0, 0, 0}, 100).kind, Prefix::kRefused);
  EXPECT_EQ(make_prefix(0x010203), (std::array<char, 4>{0, 1, 2, 3}));
}

TEST(Frame, IsOfAKind) {
  EXPECT_EQ(kind_of("\xFESMB"), FrameKind::kMessages);
  EXPECT_EQ(kind_of("\xFDSMB"), FrameKind::kSealed);
  EXPECT_EQ(kind_of("\xFCSMB"), FrameKind::kCompressed);
  EXPECT_EQ(kind_of("\xFFSMB"), FrameKind::kSmb1);
  for (const auto other : {"", "\xFE", "\xFESM",
                           "\xFE"
                           "SMC",
                           "GET / HTTP/1.1"})
    EXPECT_EQ(kind_of(std::string_view(other).substr(0, 4)), FrameKind::kOther) << other;
}

std::string header_bytes() {
  return Bytes(64)
      .text(0, "\xFESMB")
      .u16(4, 64)
      .u16(6, 0x1112)
      .u32(8, 0xC0000022)
      .u16(12, 0x0D)
      .u16(14, 0x2122)
      .u32(16, 0x39)
      .u64(24, 0x4142434445464748)
      .u32(32, 0xFEFF)
      .u32(36, 0x51525354)
      .u64(40, 0x6162636465666768)
      .run(48, 16, 'a')
      .str();
}
Header header_of_bytes() {
  Header header;
  header.credit_charge = 0x1112;
  header.status = Status::kAccessDenied;
  header.command = Command::kEcho;
  header.credits = 0x2122;
  header.flags = 0x39;
  header.message_id = 0x4142434445464748;
  header.process_id = 0xFEFF;
  header.tree_id = 0x51525354;
  header.session_id = 0x6162636465666768;
  header.signature = run_of<16>('a');
  return header;
}

std::optional<Header> read_header(std::string_view bytes) {
  Reader reader(bytes);
  Header header;
  reader(header);
  if (!reader.ok()) return {};
  return header;
}

TEST(Header, HasItsFieldsInTheirPlaces) {
  std::string out;
  append_fields(out, header_of_bytes());
  EXPECT_EQ(hex(out), hex(header_bytes()));
  EXPECT_EQ(read_header(out), header_of_bytes());
  EXPECT_EQ(header_of_bytes().channel_sequence(), 0x0022);
}

TEST(Header, OfAnAsyncMessageHasAnIdForTheTree) {
  const std::string bytes =
      Bytes(64).text(0, header_bytes()).u32(16, 0x03).u64(32, 0x7172737475767778).str();
  const auto header = read_header(bytes);
  ASSERT_TRUE(header);
  EXPECT_EQ(header->async_id, 0x7172737475767778u);
  EXPECT_EQ(header->tree_id, 0u);
  std::string out;
  append_fields(out, *header);
  EXPECT_EQ(hex(out), hex(bytes));
}

TEST(Header, OfAnotherProtocolOrCutIsNone) {
  const std::string bytes = header_bytes();
  for (size_t size = 0; size < bytes.size(); ++size)
    EXPECT_FALSE(read_exactly(bytes.substr(0, size), read_header)) << size;
  for (const size_t place : {0u, 1u, 2u, 3u, 4u, 5u}) {
    std::string other = bytes;
    other[place] = static_cast<char>(other[place] ^ 1);
    EXPECT_FALSE(read_header(other)) << place;
  }
}

TEST(Header, OfAReplyRepeatsTheIds) {
  Header request = header_of_bytes();
  request.flags = header_flag::kRelated | header_flag::kSigned | header_flag::kReplay | 0x10;
  request.next_command = 72;
  const Header reply = reply_header(request, Status::kEndOfFile);
  EXPECT_EQ(reply.status, Status::kEndOfFile);
  EXPECT_EQ(reply.command, request.command);
  EXPECT_EQ(reply.message_id, request.message_id);
  EXPECT_EQ(reply.session_id, request.session_id);
  EXPECT_EQ(reply.tree_id, request.tree_id);
  EXPECT_EQ(reply.credit_charge, request.credit_charge);
  EXPECT_EQ(reply.credits, 0);
  EXPECT_EQ(reply.next_command, 0u);
  EXPECT_EQ(reply.flags, header_flag::kReply | header_flag::kRelated | 0x10);
  EXPECT_EQ(reply.signature, (std::array<char, 16>{}));
}

std::string message_of(uint64_t id, size_t body) {
  Header header;
  header.command = Command::kEcho;
  header.message_id = id;
  std::string message;
  append_fields(message, header);
  return message.append(body, static_cast<char>(id));
}

std::string chain_of(std::vector<std::string> messages) {
  link_chain(messages);
  std::string frame;
  for (const std::string& message : messages) frame += message;
  return frame;
}

TEST(Chain, IsSplitWhereItWasJoined) {
  const std::string frame = chain_of({message_of(1, 4), message_of(2, 8), message_of(3, 9)});
  EXPECT_EQ(frame.size(), 72u + 72u + 73u);
  const auto messages = split_chain(frame);
  ASSERT_TRUE(messages);
  ASSERT_EQ(messages->size(), 3u);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ((*messages)[i].header.message_id, i + 1);
    EXPECT_EQ((*messages)[i].header.next_command, i < 2 ? 72u : 0u);
    EXPECT_EQ((*messages)[i].bytes, frame.substr(72 * i, i < 2 ? 72 : 73));
  }
  EXPECT_EQ((*messages)[0].bytes.substr(68), std::string(4, '\0')) << "padding belongs to it";
  EXPECT_EQ(split_chain(message_of(1, 4))->size(), 1u);
}

TEST(Chain, ThatLeadsAstrayIsNone) {
  const std::string frame = chain_of({message_of(1, 4), message_of(2, 4)});
  const auto with_next = [&](uint32_t next) {
    return Bytes(frame.size()).text(0, frame).u32(20, next).str();
  };
  EXPECT_TRUE(split_chain(with_next(72)));
  for (const uint32_t next :
       {8u, 56u, 64u, 71u, 73u, 80u, 136u, 140u, 144u, 0x7FFFFFF8u, 0xFFFFFFF8u})
    EXPECT_FALSE(read_exactly(with_next(next), split_chain)) << next;
  for (size_t size = 0; size < 136; ++size)
    EXPECT_FALSE(read_exactly(frame.substr(0, size), split_chain)) << size;
}

TEST(Chain, HasALimit) {
  EXPECT_TRUE(split_chain(chain_of(std::vector<std::string>(kMaxChain, message_of(1, 4)))));
  EXPECT_FALSE(split_chain(chain_of(std::vector<std::string>(kMaxChain + 1, message_of(1, 4)))));
}

TEST(ErrorReply, HasAtLeastOneByteOfData) {
  const std::string message = encode(Header(), ErrorReply());
  EXPECT_EQ(message.size(), 73u);
  EXPECT_EQ(hex(message.substr(64)), "090000000000000000");
}

TEST(ErrorReply, WrapsDataFor311) {
  ErrorReply reply;
  reply.data = "abcd";
  EXPECT_EQ(hex(encode(Header(), reply).substr(64)),
            "0900000004000000"
            "61626364");
  reply.in_context = true;
  const std::string wrapped = encode(Header(), reply);
  EXPECT_EQ(hex(wrapped.substr(64)),
            "090001000c000000"
            "0400000000000000"
            "61626364");
  const auto read = decode<ErrorReply>(wrapped);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->data, "abcd");
}

TEST(Transform, SaysWhatFollows) {
  TransformHeader header;
  header.signature = run_of<16>('a');
  header.nonce = run_of<16>('A');
  header.message_bytes = 5;
  header.session_id = 0x1122334455667788;
  std::string frame;
  append_fields(frame, header);
  EXPECT_EQ(hex(frame), hex(Bytes(52)
                                .text(0, "\xFDSMB")
                                .run(4, 16, 'a')
                                .run(20, 16, 'A')
                                .u32(36, 5)
                                .u16(42, 1)
                                .u64(44, 0x1122334455667788)
                                .str()));
  EXPECT_EQ(read_transform(frame + "12345"), header);
  EXPECT_FALSE(read_transform(frame + "1234"));
  EXPECT_FALSE(read_transform(frame + "123456"));
  for (size_t size = 0; size < frame.size(); ++size)
    EXPECT_FALSE(read_exactly(frame.substr(0, size), read_transform));
}

std::string hello_of(std::string_view dialects) {
  return Bytes(35 + dialects.size())
      .text(0, "\xFFSMB\x72")
      .u16(33, static_cast<uint16_t>(dialects.size()))
      .text(35, dialects)
      .str();
}

TEST(Smb1Hello, ListsDialects) {
  using namespace std::string_view_literals;
  const auto both = read_smb1_hello(hello_of("\2NT LM 0.12\0\2SMB 2.002\0\2SMB 2.???\0"sv));
  ASSERT_TRUE(both);
  EXPECT_TRUE(both->smb2_002);
  EXPECT_TRUE(both->smb2_wildcard);
  const auto old = read_smb1_hello(hello_of("\2NT LM 0.12\0"sv));
  ASSERT_TRUE(old);
  EXPECT_FALSE(old->smb2_002);
  EXPECT_FALSE(old->smb2_wildcard);
  EXPECT_FALSE(read_smb1_hello(hello_of("\2SMB 2.???"sv))) << "does not end";
  EXPECT_FALSE(read_smb1_hello(hello_of("SMB 2.???\0"sv))) << "does not begin";
  const std::string whole = hello_of("\2SMB 2.???\0"sv);
  for (size_t size = 0; size < whole.size(); ++size)
    EXPECT_FALSE(read_exactly(whole.substr(0, size), read_smb1_hello)) << size;
  std::string other = whole;
  other[4] = '\x73';
  EXPECT_FALSE(read_smb1_hello(other)) << "another command";
}

}  // namespace
}  // namespace kyanite::smb
