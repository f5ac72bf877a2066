#include "smb/ioctl.h"

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "smb/bytes_test_support.h"
#include "smb/chain.h"
#include "smb/times.h"

namespace kyanite::smb {
namespace {

template <class T>
void expect_wire(const T& value, const Bytes& bytes) {
  std::string out;
  append_fields(out, value);
  EXPECT_EQ(hex(out), hex(bytes.str()));
  const auto found = decode_input<T>(out);
  ASSERT_TRUE(found);
  EXPECT_TRUE(*found == value);
  for (size_t size = 0; size < out.size(); ++size) {
    EXPECT_TRUE(read_exactly(out.substr(0, size),
                             [](std::string_view exact) {
                               const auto cut = decode_input<T>(exact);
                               return !cut && cut.error() == Status::kInvalidParameter;
                             }))
        << "cut at " << size;
  }
}

TEST(Ioctl, InputsAndOutputsHaveTheirFieldsInTheirPlaces) {
  ValidateNegotiateRequest request{0x7F, run_of<16>('c'), 1, {Dialect::kSmb210, Dialect::kSmb300}};
  expect_wire(
      request,
      Bytes(28).u32(0, 0x7F).run(4, 16, 'c').u16(20, 1).u16(22, 2).u16(24, 0x0210).u16(26, 0x0300));
  expect_wire(ValidateNegotiateReply{7, run_of<16>('s'), 3, Dialect::kSmb300},
              Bytes(24).u32(0, 7).run(4, 16, 's').u16(20, 3).u16(22, 0x0300));
  expect_wire(ResumeKeyReply{run_of<24>('k')}, Bytes(32).run(0, 24, 'k'));
  expect_wire(CopyChunkRequest{run_of<24>('k'), {{1, 2, 3}, {4, 5, 6}}, false}, Bytes(80)
                                                                                    .run(0, 24, 'k')
                                                                                    .u32(24, 2)
                                                                                    .u64(32, 1)
                                                                                    .u64(40, 2)
                                                                                    .u32(48, 3)
                                                                                    .u64(56, 4)
                                                                                    .u64(64, 5)
                                                                                    .u32(72, 6));
  expect_wire(CopyChunkReply::limits(), Bytes(12).u32(0, 256).u32(4, 1048576).u32(8, 16777216));
  expect_wire(CompressionFormat{2}, Bytes(2).u16(0, 2));
  expect_wire(ZeroDataRequest{1, 2}, Bytes(16).u64(0, 1).u64(8, 2));
  expect_wire(Range{1, 2}, Bytes(16).u64(0, 1).u64(8, 2));
}

TEST(Ioctl, TooManyChunksAreToldFromTooFewBytes) {
  const auto found = decode_input<CopyChunkRequest>(Bytes(32).u32(24, 257).str());
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->too_many);
  EXPECT_FALSE(decode_input<CopyChunkRequest>(Bytes(32).u32(24, 256).str()));
  EXPECT_TRUE(decode_input<CopyChunkRequest>(Bytes(32 + 256 * 24).u32(24, 256).str()));
}

TEST(Ioctl, RangesAreCutToTheRoomThereIs) {
  const std::vector<Range> ranges = {{1, 2}, {3, 4}};
  const std::string whole = Bytes(32).u64(0, 1).u64(8, 2).u64(16, 3).u64(24, 4).str();
  EXPECT_EQ(encode_ranges(ranges, 32).status, Status::kSuccess);
  EXPECT_EQ(encode_ranges(ranges, 32).bytes, whole);
  EXPECT_EQ(encode_ranges(ranges, 31).status, Status::kBufferOverflow);
  EXPECT_EQ(encode_ranges(ranges, 31).bytes, whole.substr(0, 16));
  EXPECT_EQ(encode_ranges(ranges, 15).status, Status::kBufferTooSmall);
  EXPECT_EQ(encode_ranges({}, 0).status, Status::kSuccess);
}

constexpr Time kNovember{kUnixEpochTicks + 1'794'876'160 * kTicksPerSecond};

TEST(Ioctl, SnapshotsAreNamesOrHowMuchRoomTheyTake) {
  const std::vector<Time> snapshots = {kNovember, after_seconds(kNovember, -60)};
  const auto all = encode_snapshots(snapshots, 114);
  ASSERT_TRUE(all);
  EXPECT_EQ(hex(*all), hex(Bytes(114)
                               .u32(0, 2)
                               .u32(4, 2)
                               .u32(8, 102)
                               .utf16(12, "@GMT-2026.11.17-00.42.40")
                               .utf16(62, "@GMT-2026.11.17-00.41.40")
                               .str()));
  for (const size_t most : {16, 113}) {
    EXPECT_EQ(hex(*encode_snapshots(snapshots, most)), hex(Bytes(16).u32(0, 2).u32(8, 102).str()));
  }
  EXPECT_EQ(encode_snapshots(snapshots, 15), std::nullopt);
  EXPECT_EQ(hex(*encode_snapshots({}, 16)), hex(Bytes(14).u32(8, 2).str()));
}

TEST(Ioctl, NetworkInterfacesAreChained) {
  NetworkInterface four;
  four.index = 2;
  four.capabilities = 1;
  four.bits_per_second = 1'000'000'000;
  four.address = {127, 0, 0, 1};
  NetworkInterface six = four;
  six.ip6 = true;
  six.address = run_of<16>('a');
  Bytes bytes(304);
  bytes.u32(0, 152).u32(4, 2).u32(8, 1).u64(16, 1'000'000'000).u16(24, 2).u32(28, 0x0100007F);
  bytes.u32(156, 2).u32(160, 1).u64(168, 1'000'000'000).u16(176, 0x17).run(184, 16, 'a');
  const std::string out = encode_network_interfaces(std::array{four, six});
  EXPECT_EQ(hex(out), hex(bytes.str()));
  ChainReader chain(out, 8);
  for (const NetworkInterface& expected : {four, six}) {
    const auto entry = chain.next();
    ASSERT_TRUE(entry);
    EXPECT_TRUE(*decode_input<NetworkInterface>(entry->substr(4)) == expected);
  }
}

TEST(Times, AreTicksSince1601) {
  EXPECT_EQ(to_file_time(Time::from_unix_seconds(0)), 116444736000000000);
  EXPECT_EQ(from_file_time(116444736000000000), Time::from_unix_seconds(0));
  EXPECT_EQ(to_file_time(Time{}), 0);
  for (const int64_t none : {int64_t{0}, int64_t{-1}, int64_t{-2}, INT64_MIN, INT64_MAX})
    EXPECT_EQ(from_file_time(none), std::nullopt) << none;
}

TEST(Times, OfSnapshotsAreTokens) {
  EXPECT_EQ(snapshot_token(kNovember), "@GMT-2026.11.17-00.42.40");
  EXPECT_EQ(parse_snapshot_token("@GMT-2026.11.17-00.42.40"), kNovember);
  EXPECT_EQ(snapshot_token(Time::from_unix_seconds(951'782'399)), "@GMT-2000.02.28-23.59.59");
  EXPECT_EQ(parse_snapshot_token("@GMT-2000.02.29-00.00.00"), Time::from_unix_seconds(951'782'400));
  for (const auto none :
       {"", "@GMT-2026.11.17-00.42.4", "@GMT-2026.11.17-00.42.400", "@GMT-2026.13.17-00.42.40",
        "@GMT-2026.02.29-00.42.40", "@GMT-2026.11.17-24.42.40", "@GMT-2026.11.17-00:42:40",
        "@GMT-2026.11.17-00.60.40", "@gmt-2026.11.17-00.42.40", "@GMT-0000.01.01-00.00.00"})
    EXPECT_EQ(parse_snapshot_token(none), std::nullopt) << none;
}

}  // namespace
}  // namespace kyanite::smb
