#include "smb/info.h"

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "smb/bytes_test_support.h"

namespace kyanite::smb {
namespace {

template <class Info>
void expect_wire(const Info& info, const Bytes& bytes) {
  const InfoOutput output = encode_info(info, 1000);
  EXPECT_EQ(output.status, Status::kSuccess);
  EXPECT_EQ(hex(output.bytes), hex(bytes.str()));
  if (bytes.str().size() < Info::kLeast) return;  // A name shorter than the room one must have.
  const auto found = decode_info<Info>(bytes.str());
  ASSERT_TRUE(found);
  EXPECT_TRUE(*found == info);
  for (size_t size = 0; size < bytes.str().size(); ++size) {
    EXPECT_TRUE(read_exactly(bytes.str().substr(0, size),
                             [&](std::string_view exact) {
                               const auto cut = decode_info<Info>(exact);
                               return !cut && cut.error() == (size < Info::kLeast
                                                                  ? Status::kInfoLengthMismatch
                                                                  : Status::kInvalidParameter);
                             }))
        << "cut at " << size;
  }
}

constexpr FileTimes kTimes{0x1112131415161718, 0x2122232425262728, 0x3132333435363738,
                           0x4142434445464748};
Bytes& times_at(Bytes& bytes, size_t at) {
  return bytes.u64(at, 0x1112131415161718)
      .u64(at + 8, 0x2122232425262728)
      .u64(at + 16, 0x3132333435363738)
      .u64(at + 24, 0x4142434445464748);
}

TEST(Info, OfOneNumber) {
  expect_wire(InternalInfo{0x1122334455667788}, Bytes(8).u64(0, 0x1122334455667788));
  expect_wire(EaInfo{5}, Bytes(4).u32(0, 5));
  expect_wire(AccessInfo{0x001F01FF}, Bytes(4).u32(0, 0x001F01FF));
  expect_wire(PositionInfo{1ull << 40}, Bytes(8).u64(0, 1ull << 40));
  expect_wire(ModeInfo{2}, Bytes(4).u32(0, 2));
  expect_wire(AlignmentInfo{0}, Bytes(4));
  expect_wire(DispositionInfo{true}, Bytes(1).u8(0, 1));
  expect_wire(DispositionExInfo{disposition_flag::kDelete}, Bytes(4).u32(0, 1));
  expect_wire(AllocationInfo{4096}, Bytes(8).u64(0, 4096));
  expect_wire(EndOfFileInfo{100}, Bytes(8).u64(0, 100));
  EXPECT_TRUE(decode_info<DispositionInfo>("\x02")->value) << "any other than 0";
}

TEST(Info, OfFiles) {
  Bytes basic(40);
  expect_wire(BasicInfo{kTimes, 0x20}, times_at(basic, 0).u32(32, 0x20));
  const StandardInfo standard{4096, 100, 1, true, false};
  expect_wire(standard, Bytes(24).u64(0, 4096).u64(8, 100).u32(16, 1).u8(20, 1));
  expect_wire(NameInfo{"\\dir\\file"}, Bytes(22).u32(0, 18).utf16(4, "\\dir\\file"));
  expect_wire(NormalizedNameInfo{"dir"}, Bytes(10).u32(0, 6).utf16(4, "dir"));
  expect_wire(AlternateNameInfo{"A~1"}, Bytes(10).u32(0, 6).utf16(4, "A~1"));
  expect_wire(StreamInfo{100, 4096},
              Bytes(38).u32(4, 14).u64(8, 100).u64(16, 4096).utf16(24, "::$DATA"));
  expect_wire(CompressionInfo{100, 0}, Bytes(16).u64(0, 100));
  Bytes open(56);
  expect_wire(NetworkOpenInfo{kTimes, 4096, 100, 0x20},
              times_at(open, 0).u64(32, 4096).u64(40, 100).u32(48, 0x20));
  expect_wire(AttributeTagInfo{0x20, 0}, Bytes(8).u32(0, 0x20));
  expect_wire(IdInfo{7, 0x1122334455667788}, Bytes(24).u64(0, 7).u64(8, 0x1122334455667788));
}

TEST(Info, OfAll) {
  AllInfo all;
  all.basic = {kTimes, 0x20};
  all.standard = {4096, 100, 1, false, true};
  all.internal = {9};
  all.ea = {1};
  all.access = {2};
  all.position = {3};
  all.mode = {4};
  all.alignment = {5};
  all.name = {"\\a"};
  Bytes bytes(104);
  times_at(bytes, 0).u32(32, 0x20).u64(40, 4096).u64(48, 100).u32(56, 1).u8(61, 1).u64(64, 9);
  bytes.u32(72, 1).u32(76, 2).u64(80, 3).u32(88, 4).u32(92, 5).u32(96, 4).utf16(100, "\\a");
  expect_wire(all, bytes);
}

TEST(Info, OfRenames) {
  expect_wire(RenameInfo{rename_flag::kReplace, 0, "new"},
              Bytes(26).u8(0, 1).u32(16, 6).utf16(20, "new"));
  expect_wire(RenameInfo{0, 5, "new"}, Bytes(26).u64(8, 5).u32(16, 6).utf16(20, "new"));
  expect_wire(RenameExInfo{3, 0, "new"}, Bytes(26).u32(0, 3).u32(16, 6).utf16(20, "new"));
  EXPECT_EQ(decode_info<RenameInfo>(Bytes(26).str()).error(), Status::kInvalidParameter)
      << "without a name";
  EXPECT_EQ(decode_info<RenameInfo>(Bytes(26).u32(16, 2).u16(20, 0xDC00).str()).error(),
            Status::kObjectNameInvalid);
}

TEST(Info, OfVolumes) {
  expect_wire(VolumeInfo{0x11, 0x22, false, "share"},
              Bytes(28).u64(0, 0x11).u32(8, 0x22).u32(12, 10).utf16(18, "share"));
  expect_wire(SizeInfo{1000, 500, 8, 512},
              Bytes(24).u64(0, 1000).u64(8, 500).u32(16, 8).u32(20, 512));
  expect_wire(FullSizeInfo{1000, 400, 500, 8, 512},
              Bytes(32).u64(0, 1000).u64(8, 400).u64(16, 500).u32(24, 8).u32(28, 512));
  expect_wire(DeviceInfo(), Bytes(8).u32(0, 7).u32(4, 0x20));
  expect_wire(VolumeAttributeInfo{0xE},
              Bytes(20).u32(0, 0xE).u32(4, 255).u32(8, 8).utf16(12, "NTFS"));
  expect_wire(SectorSizeInfo{512, 4096, 4096, 4096},
              Bytes(28).u32(0, 512).u32(4, 4096).u32(8, 4096).u32(12, 4096).u32(16, 3));
}

TEST(Info, IsCutToTheRoomThereIs) {
  const NameInfo name{"\\directory\\file"};
  const std::string whole = encode_info(name, 1000).bytes;
  EXPECT_EQ(encode_info(name, whole.size()).status, Status::kSuccess);
  for (size_t most = NameInfo::kLeast; most < whole.size(); ++most) {
    const InfoOutput output = encode_info(name, most);
    EXPECT_EQ(output.status, Status::kBufferOverflow);
    EXPECT_EQ(output.bytes, whole.substr(0, most));
  }
  for (size_t most = 0; most < NameInfo::kLeast; ++most) {
    EXPECT_EQ(encode_info(name, most).status, Status::kInfoLengthMismatch);
    EXPECT_EQ(encode_info(name, most).bytes, "");
  }
  EXPECT_EQ(encode_info(AllInfo(), 103).status, Status::kInfoLengthMismatch);
  EXPECT_EQ(encode_info(AllInfo(), 104).status, Status::kSuccess);
  EXPECT_EQ(encode_info(VolumeInfo(), 23).status, Status::kInfoLengthMismatch);
}

}  // namespace
}  // namespace kyanite::smb
