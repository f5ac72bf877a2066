#include "smb/negotiate.h"

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "smb/bytes_test_support.h"

namespace kyanite::smb {
namespace {

// As smbclient sends it: hashes, ciphers, signing, name.
Bytes request_bytes() {
  Bytes bytes(36 + 10 + 2 + 8 + 38 + 2 + 8 + 10 + 6 + 8 + 8 + 8 + 4);
  bytes.u16(0, 36).u16(2, 5).u16(4, 1).u32(8, 0x7F).run(12, 16, 'c').u32(28, 112).u16(32, 4);
  bytes.u16(36, 0x0202).u16(38, 0x0210).u16(40, 0x0300).u16(42, 0x0302).u16(44, 0x0311);
  bytes.u16(48, 1).u16(50, 38).u16(56, 1).u16(58, 32).u16(60, 1).run(62, 32, 's');
  bytes.u16(96, 2).u16(98, 10).u16(104, 4).u16(106, 2).u16(108, 1).u16(110, 4).u16(112, 3);
  bytes.u16(120, 8).u16(122, 8).u16(128, 3).u16(130, 2).u16(132, 1).u16(134, 0);
  bytes.u16(136, 5).u16(138, 4).utf16(144, "ab");
  return bytes;
}

struct Request {
  NegotiateRequest request;
  std::array<char, 32> salt = run_of<32>('s');
  std::string name = std::string("a\0b\0", 4);

  Request() {
    request.security_mode = security_mode::kSigningEnabled;
    request.capabilities = 0x7F;
    request.client = run_of<16>('c');
    request.dialects = {Dialect::kSmb202, Dialect::kSmb210, Dialect::kSmb300, Dialect::kSmb302,
                        Dialect::kSmb311};
    request.contexts.preauth = {{PreauthHashId::kSha512}, {salt.data(), salt.size()}};
    request.contexts.ciphers = {
        {CipherId::kGcm128, CipherId::kCcm128, CipherId::kGcm256, CipherId::kCcm256}};
    request.contexts.signing = {{SigningId::kGmac, SigningId::kCmac, SigningId::kHmacSha256}};
    request.contexts.net_name = name;
  }
};

Result<NegotiateRequest, Status> read(const Bytes& bytes) {
  return decode<NegotiateRequest>(with_header(Command::kNegotiate, bytes.str()));
}

TEST(Negotiate, RequestHasItsFieldsInTheirPlaces) {
  const Request expected;
  const std::string message = with_header(Command::kNegotiate, request_bytes().str());
  EXPECT_EQ(hex(encode(Header(), expected.request)), hex(message));
  const auto found = decode<NegotiateRequest>(message);
  ASSERT_TRUE(found);
  EXPECT_TRUE(*found == expected.request);
  for (size_t size = 0; size < message.size(); ++size) {
    EXPECT_TRUE(
        read_exactly(message.substr(0, size),
                     [](std::string_view exact) { return !decode<NegotiateRequest>(exact).ok(); }))
        << "cut at " << size;
  }
}

TEST(Negotiate, RequestWithout311HasNoContexts) {
  // A start time where the offset would be.
  const Bytes bytes = Bytes(38).u16(0, 36).u16(2, 1).u64(28, UINT64_MAX).u16(36, 0x0210);
  const auto found = read(bytes);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->dialects, std::vector{Dialect::kSmb210});
  EXPECT_TRUE(found->offers(Dialect::kSmb210));
  EXPECT_FALSE(found->offers(Dialect::kSmb311));
  EXPECT_FALSE(read(Bytes(bytes).u16(2, 0))) << "no dialect";
  EXPECT_FALSE(read(Bytes(36 + 2 * (kMaxDialects + 1)).u16(0, 36).u16(2, kMaxDialects + 1)));
}

TEST(Negotiate, ContextsThatAreNotWellFormedAreRefused) {
  const auto refused = [](const Bytes& bytes) {
    const auto found = read(bytes);
    return !found && found.error() == Status::kInvalidParameter;
  };
  EXPECT_FALSE(refused(request_bytes()));
  EXPECT_TRUE(refused(request_bytes().u16(48, 3))) << "no hash";
  EXPECT_TRUE(refused(request_bytes().u16(96, 1))) << "not a hash";
  EXPECT_TRUE(refused(request_bytes().u16(96, 8))) << "signing twice";
  EXPECT_TRUE(refused(request_bytes().u16(120, 2))) << "ciphers twice";
  EXPECT_TRUE(refused(request_bytes().u16(56, 0))) << "no hash in the context";
  EXPECT_TRUE(refused(request_bytes().u16(58, 33))) << "more salt than there is";
  EXPECT_TRUE(refused(request_bytes().u16(104, 0))) << "no cipher";
  EXPECT_TRUE(refused(request_bytes().u16(104, 5))) << "more ciphers than there are";
  EXPECT_TRUE(refused(request_bytes().u16(128, 0))) << "no algorithm for signing";
  EXPECT_TRUE(refused(request_bytes().u16(138, 5))) << "beyond the end";
  EXPECT_TRUE(refused(request_bytes().u32(28, 104))) << "inside the dialects";
  EXPECT_TRUE(refused(request_bytes().u32(28, 0xFFFFFFF8)));
  EXPECT_TRUE(refused(request_bytes().u16(32, 0))) << "no contexts";
  EXPECT_TRUE(refused(request_bytes().u16(32, 5))) << "more contexts than there are";
  EXPECT_TRUE(refused(request_bytes().u16(32, kMaxNegotiateContexts + 1)));
}

TEST(Negotiate, UnknownContextsAreReadOver) {
  for (const uint16_t type : {uint16_t{3}, uint16_t{6}, uint16_t{7}, uint16_t{0x100}}) {
    const auto found = read(request_bytes().u16(96, type));
    ASSERT_TRUE(found) << type;
    EXPECT_FALSE(found->contexts.ciphers);
    EXPECT_TRUE(found->contexts.signing);
  }
}

TEST(Negotiate, ReplyHasItsFieldsInTheirPlaces) {
  NegotiateReply reply;
  reply.security_mode = 3;
  reply.dialect = Dialect::kSmb210;
  reply.server = run_of<16>('s');
  reply.capabilities = 7;
  reply.max_transact = 0x800000;
  reply.max_read = 0x400000;
  reply.max_write = 0x200000;
  reply.system_time = 0x1122334455667788;
  reply.start_time = 5;
  reply.token = "hint.";
  Bytes bytes(69);
  bytes.u16(0, 65).u16(2, 3).u16(4, 0x0210).run(8, 16, 's').u32(24, 7).u32(28, 0x800000);
  bytes.u32(32, 0x400000).u32(36, 0x200000).u64(40, 0x1122334455667788).u64(48, 5);
  bytes.u16(56, 128).u16(58, 5).text(64, "hint.");
  const std::string message = encode(Header(), reply);
  EXPECT_EQ(hex(message), hex(with_header(Command::kNegotiate, bytes.str())));
  const auto found = decode<NegotiateReply>(message);
  ASSERT_TRUE(found);
  EXPECT_TRUE(*found == reply);
}

TEST(Negotiate, HelloOfSmb1IsAnsweredWithTheWildcard) {
  NegotiateReply reply;
  reply.dialect = Dialect::kWildcard;
  reply.token = "hint.";
  const std::string message = encode(reply_header(Header(), Status::kSuccess), reply);
  EXPECT_EQ(hex(message), hex(Bytes(133)
                                  .text(0, "\xFESMB")
                                  .u16(4, 64)
                                  .u32(16, 1)
                                  .u16(64, 65)
                                  .u16(68, 0x02FF)
                                  .u16(120, 128)
                                  .u16(122, 5)
                                  .text(128, "hint.")
                                  .str()));
}

TEST(Negotiate, ReplyOf311SaysWhatWasChosen) {
  NegotiateReply reply;
  reply.dialect = Dialect::kSmb311;
  reply.token = "hint.";
  const auto salt = run_of<32>('S');
  reply.contexts.preauth = {{PreauthHashId::kSha512}, {salt.data(), salt.size()}};
  reply.contexts.ciphers = {{CipherId::kGcm256}};
  reply.contexts.signing = {{SigningId::kGmac}};
  Bytes bytes(72 + 8 + 38 + 2 + 8 + 4 + 4 + 8 + 4);
  bytes.u16(0, 65).u16(4, 0x0311).u16(6, 3).u16(56, 128).u16(58, 5).u32(60, 136).text(64, "hint.");
  bytes.u16(72, 1).u16(74, 38).u16(80, 1).u16(82, 32).u16(84, 1).run(86, 32, 'S');
  bytes.u16(120, 2).u16(122, 4).u16(128, 1).u16(130, 4);
  bytes.u16(136, 8).u16(138, 4).u16(144, 1).u16(146, 2);
  const std::string message = encode(Header(), reply);
  EXPECT_EQ(hex(message), hex(with_header(Command::kNegotiate, bytes.str())));
  const auto found = decode<NegotiateReply>(message);
  ASSERT_TRUE(found);
  EXPECT_TRUE(*found == reply);
}

}  // namespace
}  // namespace kyanite::smb
