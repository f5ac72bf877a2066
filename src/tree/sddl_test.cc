#include "tree/sddl.h"

#include <gtest/gtest.h>

#include "base/bytes.h"

namespace kyanite::tree {
namespace {

TEST(Sddl, TextThatReadsBackAsItself) {
  const char* const texts[] = {
      "O:SYG:SYD:",
      "O:BAG:BUD:(A;;FA;;;SY)",
      "O:SYG:SYD:PAI(A;OICI;FA;;;BA)(A;OICIIO;GA;;;CO)(D;ID;0x1200a9;;;BU)",
      "O:S-1-5-21-1-2-3-1001G:S-1-5-21-1-2-3-513D:AI(A;;FA;;;S-1-5-21-4-5-6-7)",
      "O:SYG:SYD:AR(A;NPID;FR;;;WD)S:P(AU;SAFA;FW;;;WD)",
      "O:SYG:SYD:(A;;0x1301bf;;;AU)S:(ML;;0x1;;;LW)",
      "O:SYG:SYD:NO_ACCESS_CONTROL",
      "O:SYG:SYD:AI(A;;FA;;;SY)S:NO_ACCESS_CONTROL",
      "O:SYG:SYD:PNO_ACCESS_CONTROLS:AINO_ACCESS_CONTROL",
  };
  for (const char* text : texts) {
    const auto descriptor = parse_sddl(text);
    ASSERT_TRUE(descriptor) << text;
    std::string expected = text;
    // A single bit has a name of its own.
    if (const auto at = expected.find("0x1;"); at != std::string::npos)
      expected.replace(at, 3, "CC");
    EXPECT_EQ(write_sddl(*descriptor), expected);
    // And through the binary form.
    const auto again = parse_descriptor(write_descriptor(*descriptor));
    ASSERT_TRUE(again) << text;
    EXPECT_EQ(*again, *descriptor) << text;
  }
}

TEST(Sddl, RightsByNameAndNumber) {
  struct Row {
    const char* text;
    uint32_t rights;
  };
  const Row rows[] = {{"FA", 0x1f01ff},      {"GR", 0x80000000},     {"FRFW", 0x12019f},
                      {"SDRCWDWO", 0xf0000}, {"0x1F01FF", 0x1f01ff}, {"7", 7}};
  for (const Row& row : rows) {
    const auto descriptor = parse_sddl("O:SYG:SYD:(A;;" + std::string(row.text) + ";;;BA)");
    ASSERT_TRUE(descriptor) << row.text;
    EXPECT_EQ(descriptor->dacl.entries.at(0).rights, row.rights) << row.text;
  }
}

TEST(Sddl, RefusesWhatIsNoDescriptor) {
  const char* const texts[] = {
      "",
      "abcde",
      "O:SY",
      "O:SYG:SY",                       // no list
      "G:SYD:",                         // no owner
      "O:SYD:(A;;FA;;;BA)",             // no group
      "O:QQG:SYD:",                     // unknown alias
      "O:DAG:DAD:(A;;FA;;;DA)",         // of a domain there is none
      "O:S-1-5G:SYD:",                  // no subauthority
      "O:S-1-281474976710656-1G:SYD:",  // authority of 49 bits
      "O:S-1-5-4294967296G:SYD:",       // subauthority of 33 bits
      "O:S-1-5-1-2-3-4-5-6-7-8-9-10-11-12-13-14-15-16G:SYD:",
      "O:SYG:SYD:(A;;FA;;;BA",            // not closed
      "O:SYG:SYD:A;;FA;;;BA)",            // not opened
      "O:SYG:SYD:(A;;FA;;BA)",            // a field short
      "O:SYG:SYD:(A;;FA;;;BA;x)",         // a field more
      "O:SYG:SYD:(Q;;FA;;;BA)",           // type
      "O:SYG:SYD:(A;QQ;FA;;;BA)",         // flag
      "O:SYG:SYD:(A;;QQ;;;BA)",           // right
      "O:SYG:SYD:(A;;;;;BA)",             // no right
      "O:SYG:SYD:(A;;0x100000000;;;BA)",  // right of 33 bits
      "O:SYG:SYD:(A;;FA;;;BAx)",          // trustee
      "O:SYG:SYD:(A;;FA;bf967a86-0de6-11d0-a285-00aa003049e2;;BA)",
      "O:SYG:SYD:(A;;FA;;;BA) ",
      "O:SYG:SYD:S:(AU;;FA;;;",
      "O:SYG:SYD:NO_ACCESS_CONTROL(A;;FA;;;BA)",  // a list and none
      "O:SYG:SYD:NO_ACCESS",
  };
  for (const char* text : texts) EXPECT_FALSE(parse_sddl(text)) << text;
}

TEST(Sddl, BinaryFormByTheByte) {
  const auto descriptor = parse_sddl("O:SYG:BAD:P(A;OICI;FA;;;SY)");
  ASSERT_TRUE(descriptor);
  EXPECT_EQ(hex(write_descriptor(*descriptor)),
            "010004901400000020000000000000003000000001010000000000051200000001020000000000052000"
            "00002002000002001c000100000000031400ff011f00010100000000000512000000");
}

TEST(Sddl, BitsOfAListThatIsNotThereAreForgotten) {
  std::string binary = write_descriptor(*parse_sddl("O:SYG:SYD:P"));
  binary[3] = static_cast<char>(binary[3] | 0x28);  // Of the system list: inherited, protected.
  const auto descriptor = parse_descriptor(binary);
  ASSERT_TRUE(descriptor);
  EXPECT_EQ(write_sddl(*descriptor), "O:SYG:SYD:P");
}

TEST(Sddl, RefusesBrokenBinaries) {
  const std::string good =
      write_descriptor(*parse_sddl("O:SYG:SYD:(A;;FA;;;BA)S:(AU;SA;FA;;;S-1-5-21-1-2-3)"));
  ASSERT_TRUE(parse_descriptor(good));
  for (size_t length = 0; length < good.size(); ++length)
    EXPECT_FALSE(parse_descriptor(std::string_view(good).substr(0, length))) << length;
  struct Row {
    size_t offset;
    char value;
    const char* what;
  };
  const Row rows[] = {
      {0, 2, "revision"},           {3, 0, "not self-relative"}, {2, 0, "no list"},
      {4, 19, "owner in the head"}, {7, 1, "owner far outside"}, {20, 2, "revision of a SID"},
      {21, 16, "too many numbers"}, {21, 0, "no number"},
  };
  for (const Row& row : rows) {
    std::string broken = good;
    broken[row.offset] = row.value;
    EXPECT_FALSE(parse_descriptor(broken)) << row.what;
  }
}

}  // namespace
}  // namespace kyanite::tree
