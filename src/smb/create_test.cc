#include "smb/create.h"

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "smb/bytes_test_support.h"

namespace kyanite::smb {
namespace {

// One context: a wrapper of 16 bytes, the name, and, aligned, data.
std::string context(std::string_view name, std::string_view data, bool last = true) {
  const size_t data_at = (16 + name.size() + 7) / 8 * 8;
  const size_t end = data.empty() ? 16 + name.size() : data_at + data.size();
  const size_t size = last ? end : (end + 7) / 8 * 8;
  Bytes bytes(size);
  bytes.u16(4, 16).u16(6, static_cast<uint16_t>(name.size())).text(16, name);
  if (!data.empty()) {
    bytes.u16(10, static_cast<uint16_t>(data_at)).u32(12, static_cast<uint32_t>(data.size()));
    bytes.text(data_at, data);
  }
  return bytes.u32(0, last ? 0 : static_cast<uint32_t>(size)).str();
}

CreateContexts everything() {
  CreateContexts contexts;
  contexts.durable = true;
  contexts.reconnect = FileId{1, 2};
  contexts.durable2 = DurableRequest{60'000, kDurableFlagPersistent, run_of<16>('g')};
  contexts.reconnect2 = DurableReconnect{{3, 4}, run_of<16>('h'), 2};
  contexts.lease = Lease{true, run_of<16>('k'), 7, 4, run_of<16>('p'), 9};
  contexts.maximal_access = MaximalAccessRequest{0x1122334455667788};
  contexts.on_disk_id = true;
  contexts.allocation_size = 4096;
  contexts.snapshot = 0x0102030405060708;
  contexts.security_descriptor = "descriptor";
  contexts.extended_attributes = "ea";
  contexts.app_instance = AppInstance{run_of<16>('i')};
  return contexts;
}

TEST(CreateContexts, EachHasItsBytes) {
  struct Row {
    CreateContexts contexts;
    std::string bytes;
  };
  std::vector<Row> rows;
  const auto add = [&](std::string_view name, const Bytes& data, auto set) {
    set(rows.emplace_back(Row{{}, context(name, data.str())}).contexts);
  };
  const CreateContexts all = everything();
  add("DHnQ", Bytes(16), [&](auto& to) { to.durable = true; });
  add("DHnC", Bytes(16).u64(0, 1).u64(8, 2), [&](auto& to) { to.reconnect = all.reconnect; });
  add("DH2Q", Bytes(32).u32(0, 60'000).u32(4, 2).run(16, 16, 'g'),
      [&](auto& to) { to.durable2 = all.durable2; });
  add("DH2C", Bytes(36).u64(0, 3).u64(8, 4).run(16, 16, 'h').u32(32, 2),
      [&](auto& to) { to.reconnect2 = all.reconnect2; });
  add("RqLs", Bytes(32).run(0, 16, 'k').u32(16, 7).u32(20, 4),
      [&](auto& to) { to.lease = Lease{false, run_of<16>('k'), 7, 4, {}, 0}; });
  add("RqLs", Bytes(52).run(0, 16, 'k').u32(16, 7).u32(20, 4).run(32, 16, 'p').u16(48, 9),
      [&](auto& to) { to.lease = all.lease; });
  add("MxAc", Bytes(0), [&](auto& to) { to.maximal_access.emplace(); });
  add("MxAc", Bytes(8).u64(0, 0x1122334455667788),
      [&](auto& to) { to.maximal_access = all.maximal_access; });
  add("QFid", Bytes(0), [&](auto& to) { to.on_disk_id = true; });
  add("AlSi", Bytes(8).u64(0, 4096), [&](auto& to) { to.allocation_size = 4096; });
  add("TWrp", Bytes(8).u64(0, 0x0102030405060708), [&](auto& to) { to.snapshot = all.snapshot; });
  add("SecD", Bytes(10).text(0, "descriptor"),
      [&](auto& to) { to.security_descriptor = "descriptor"; });
  add("ExtA", Bytes(2).text(0, "ea"), [&](auto& to) { to.extended_attributes = "ea"; });
  add("\x45\xBC\xA6\x6A\xEF\xA7\xF7\x4A\x90\x08\xFA\x46\x2E\x14\x4D\x74",
      Bytes(20).u16(0, 20).run(4, 16, 'i'), [&](auto& to) { to.app_instance = all.app_instance; });
  for (const Row& row : rows) {
    EXPECT_EQ(hex(row.contexts.encode()), hex(row.bytes));
    const auto found = CreateContexts::decode(row.bytes);
    ASSERT_TRUE(found) << hex(row.bytes);
    EXPECT_TRUE(*found == row.contexts) << hex(row.bytes);
  }
}

TEST(CreateContexts, AllTogetherGoThereAndBack) {
  const CreateContexts all = everything();
  const std::string bytes = all.encode();
  const auto found = CreateContexts::decode(bytes);
  ASSERT_TRUE(found);
  EXPECT_TRUE(*found == all);
  for (size_t size = 1; size < bytes.size(); ++size) {
    EXPECT_FALSE(
        read_exactly(bytes.substr(0, size),
                     [](std::string_view exact) { return CreateContexts::decode(exact).ok(); }))
        << "cut at " << size;
  }
}

TEST(CreateContexts, OfNothingAreNone) {
  EXPECT_TRUE(*CreateContexts::decode("") == CreateContexts());
  EXPECT_EQ(CreateContexts().encode(), "");
}

TEST(CreateContexts, UnknownOnesAreReadOver) {
  const std::string bytes = context("AAPL", "something", false) +
                            context(std::string(16, 'i'), std::string(20, 'x'), false) +
                            context("QFid", "");
  const auto found = CreateContexts::decode(bytes);
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->on_disk_id);
}

bool is_refused(const std::string& bytes) {
  return read_exactly(bytes, [](std::string_view exact) {
    const auto found = CreateContexts::decode(exact);
    return !found && found.error() == Status::kInvalidParameter;
  });
}

TEST(CreateContexts, OfAnotherSizeAreRefused) {
  for (const std::string_view name : {"DHnQ", "DHnC", "DH2Q", "DH2C", "RqLs", "AlSi", "TWrp"}) {
    for (const size_t size : {0, 7, 9, 15, 17, 31, 33, 35, 37, 51, 53})
      EXPECT_TRUE(is_refused(context(name, std::string(size, 'x')))) << name << " " << size;
  }
  EXPECT_TRUE(is_refused(context("MxAc", "1234567")));
  EXPECT_TRUE(is_refused(context("MxAc", "123456789")));
  EXPECT_TRUE(is_refused(context("QFid", "1")));
}

TEST(CreateContexts, ThatComeTwiceAreRefused) {
  CreateContexts all = everything();
  const std::string once = all.encode();
  for (const std::string_view name :
       {"DHnQ", "DHnC", "DH2Q", "DH2C", "RqLs", "MxAc", "QFid", "AlSi", "TWrp", "SecD", "ExtA"}) {
    const size_t at = once.find(name) - 16;
    Reader reader(once, at);
    uint32_t next = 0;
    reader(next);
    std::string one = once.substr(at, next == 0 ? std::string::npos : next);
    one.resize((one.size() + 7) / 8 * 8);
    std::string first =
        Bytes(one.size()).text(0, one).u32(0, static_cast<uint32_t>(one.size())).str();
    const std::string second = Bytes(one.size()).text(0, one).u32(0, 0).str();
    EXPECT_TRUE(CreateContexts::decode(second)) << name;
    EXPECT_TRUE(is_refused(first + second)) << name;
  }
}

TEST(CreateContexts, ListsThatLeadAstrayAreRefused) {
  const std::string good = context("AlSi", "12345678");
  const auto with = [&](size_t at, uint32_t value) {
    return Bytes(good.size()).text(0, good).u32(at, value).str();
  };
  EXPECT_FALSE(is_refused(good));
  for (const uint32_t next : {1u, 8u, 24u, 31u, 32u, 33u, 40u, 0x80000000u, 0xFFFFFFF8u})
    EXPECT_TRUE(is_refused(with(0, next))) << next;
  EXPECT_TRUE(is_refused(with(4, 0x0004000C))) << "name in the wrapper";
  EXPECT_TRUE(is_refused(with(4, 0x0004001D))) << "name beyond the end";
  EXPECT_TRUE(is_refused(with(4, 0xFFFF0010))) << "name longer than all";
  EXPECT_TRUE(is_refused(with(12, 9))) << "data longer than all";
  EXPECT_TRUE(is_refused(with(12, 0xFFFFFFFF)));
  EXPECT_TRUE(is_refused(with(8, 0x00190000))) << "data beyond the end";
  EXPECT_TRUE(is_refused(with(8, 0x00080000))) << "data in the wrapper";
}

TEST(CreateContexts, HaveALimit) {
  std::string bytes;
  for (size_t i = 0; i < kMaxCreateContexts; ++i) bytes += context("none", "", false);
  EXPECT_TRUE(is_refused(bytes + context("none", "")));
  EXPECT_FALSE(is_refused(bytes.substr(24) + context("none", "")));
}

TEST(CreateReplyContexts, GoThereAndBack) {
  CreateReplyContexts contexts;
  contexts.durable = true;
  contexts.durable2 = DurableReply{300'000, 2};
  contexts.lease = Lease{false, run_of<16>('k'), 3, 2, {}, 0};
  contexts.maximal_access = MaximalAccessReply{Status::kSuccess, 0x001F01FF};
  contexts.on_disk_id = OnDiskId{0x1112131415161718, 0x2122232425262728};
  const std::string bytes = contexts.encode();
  EXPECT_EQ(
      hex(bytes),
      hex(context("DHnQ", std::string(8, '\0'), false) +
          context("DH2Q", Bytes(8).u32(0, 300'000).u32(4, 2).str(), false) +
          context("RqLs", Bytes(32).run(0, 16, 'k').u32(16, 3).u32(20, 2).str(), false) +
          context("MxAc", Bytes(8).u32(4, 0x001F01FF).str(), false) +
          context("QFid", Bytes(32).u64(0, 0x1112131415161718).u64(8, 0x2122232425262728).str())));
  const auto found = CreateReplyContexts::decode(bytes);
  ASSERT_TRUE(found);
  EXPECT_TRUE(*found == contexts);
}

}  // namespace
}  // namespace kyanite::smb
