#include "tree/access_check.h"

#include <gtest/gtest.h>

#include "tree/permissions.h"

namespace kyanite::tree {
namespace {

constexpr uint32_t kOwners = 0x60000;  // READ_CONTROL, WRITE_DAC

SecurityDescriptor parsed(const std::string& sddl) {
  auto descriptor = parse_sddl(sddl);
  EXPECT_TRUE(descriptor) << sddl;
  return descriptor ? std::move(*descriptor) : SecurityDescriptor();
}

// The user owns what belongs to "SY".
TEST(AccessCheck, WhatAListGrants) {
  struct Row {
    const char* why;
    const char* sddl;
    uint32_t granted;
  };
  const Row rows[] = {
      {"a null list grants everything", "O:BGG:BGD:NO_ACCESS_CONTROL", kAllRights},
      {"an empty one nothing", "O:BGG:BGD:", 0},
      {"but to the owner", "O:SYG:BGD:", kOwners},
      {"to the user", "O:BGG:BGD:(A;;0x1;;;SY)", 0x1},
      {"to groups, together", "O:BGG:BGD:(A;;0x1;;;WD)(A;;0x2;;;AU)(A;;0x4;;;NU)", 0x7},
      {"to administrators and users", "O:BGG:BGD:(A;;0x1;;;BA)(A;;0x2;;;BU)", 0x3},
      {"not to others", "O:BGG:BGD:(A;;FA;;;BG)(A;;FA;;;S-1-5-21-1-2-3-1000)", 0},
      {"who makes something is not meant by name", "O:SYG:BGD:(A;;FA;;;CO)(A;;FA;;;CG)", kOwners},
      {"what is denied first is denied", "O:BGG:BGD:(D;;0x1;;;WD)(A;;0x3;;;SY)", 0x2},
      {"what is granted first is granted", "O:BGG:BGD:(A;;0x3;;;SY)(D;;0x1;;;WD)", 0x3},
      {"the owner's own cannot be denied", "O:SYG:BGD:(D;;FA;;;SY)", kOwners},
      {"others' denials do not matter", "O:BGG:BGD:(D;;FA;;;BG)(A;;0x1;;;SY)", 0x1},
      {"what is only inherited does not count",
       "O:BGG:BGD:(A;OICIIO;FA;;;SY)(D;IO;0x1;;;SY)(A;;0x1;;;SY)", 0x1},
      {"what is inherited besides counts", "O:BGG:BGD:(A;OICI;0x1;;;SY)(A;ID;0x2;;;SY)", 0x3},
      {"owner rights are the owner's", "O:SYG:BGD:(A;;0x1;;;OW)", 0x1},
      {"and nobody else's", "O:BGG:BGD:(A;;0x1;;;OW)(A;;0x2;;;SY)", 0x2},
      {"they add to others", "O:SYG:BGD:(A;;FR;;;SY)(A;;0x2;;;OW)", 0x12008B},
      {"they deny", "O:SYG:BGD:(D;;0x1;;;OW)(A;;FR;;;SY)", 0x120088},
      {"but not what is granted", "O:SYG:BGD:(A;;FR;;;SY)(A;;0x2;;;OW)(D;;0x3;;;OW)", 0x12008B},
      {"only inherited they limit nobody", "O:SYG:BGD:(A;OICIIO;0x1;;;OW)", kOwners},
      {"owners may be groups", "O:BAG:BGD:", kOwners},
      {"generic read", "O:BGG:BGD:(A;;GR;;;SY)", 0x120089},
      {"generic write", "O:BGG:BGD:(A;;GW;;;SY)", 0x120116},
      {"generic execute", "O:BGG:BGD:(A;;GX;;;SY)", 0x1200A0},
      {"generic all", "O:BGG:BGD:(A;;GA;;;SY)", kAllRights},
      {"generic rights are denied as well", "O:BGG:BGD:(D;;GW;;;SY)(A;;GA;;;SY)", 0xD00E9},
      {"bits without a meaning are none", "O:BGG:BGD:(A;;0x3000001;;;SY)", 0x1},
      {"audit grants nothing", "O:BGG:BGD:(AU;SA;FA;;;SY)", 0},
  };
  for (const Row& row : rows)
    EXPECT_EQ(granted_rights(parsed(row.sddl), account_identity()), row.granted) << row.why;
}

TEST(AccessCheck, TheDefaultGrantsEverything) {
  const auto descriptor = parsed(std::string(default_permission()));
  EXPECT_EQ(granted_rights(descriptor, account_identity()), kAllRights);
}

TEST(AccessCheck, WhatIsInherited) {
  struct Row {
    const char* why;
    const char* entries;  // Of the directory, whose owner and group are others.
    const char* file;
    const char* directory;
  };
  const char* const kNothing = "(A;;FA;;;SY)";
  const Row rows[] = {
      {"nothing", "(A;;FR;;;WD)", kNothing, kNothing},
      {"files", "(A;OI;FR;;;WD)", "(A;;FR;;;WD)", "(A;OIIO;FR;;;WD)"},
      {"directories", "(A;CI;FR;;;WD)", kNothing, "(A;CI;FR;;;WD)"},
      {"both", "(A;OICI;FR;;;WD)", "(A;;FR;;;WD)", "(A;OICI;FR;;;WD)"},
      {"denials", "(D;OICI;FR;;;WD)", "(D;;FR;;;WD)", "(D;OICI;FR;;;WD)"},
      {"no further: alone", "(A;NP;FR;;;WD)", kNothing, kNothing},
      {"no further: files", "(A;OINP;FR;;;WD)", "(A;;FR;;;WD)", kNothing},
      {"no further: directories", "(A;CINP;FR;;;WD)", kNothing, "(A;;FR;;;WD)"},
      {"no further: both", "(A;OICINP;FR;;;WD)", "(A;;FR;;;WD)", "(A;;FR;;;WD)"},
      {"only inherited: alone", "(A;IO;FR;;;WD)", kNothing, kNothing},
      {"only inherited: files", "(A;OIIO;FR;;;WD)", "(A;;FR;;;WD)", "(A;OIIO;FR;;;WD)"},
      {"only inherited: both", "(A;OICIIO;FR;;;WD)", "(A;;FR;;;WD)", "(A;OICI;FR;;;WD)"},
      {"only inherited, no further", "(A;OICINPIO;FR;;;WD)", "(A;;FR;;;WD)", "(A;;FR;;;WD)"},
      {"who makes it", "(A;OICI;FR;;;CO)", "(A;;FR;;;SY)", "(A;;FR;;;SY)(A;OICIIO;FR;;;CO)"},
      {"who makes it, files", "(A;OI;FR;;;CO)", "(A;;FR;;;SY)", "(A;OIIO;FR;;;CO)"},
      {"who makes it, no further", "(A;CINP;FR;;;CO)", kNothing, "(A;;FR;;;SY)"},
      {"the group", "(A;CI;FR;;;CG)", kNothing, "(A;;FR;;;BG)(A;CIIO;FR;;;CG)"},
      {"generic rights", "(A;OICI;GR;;;WD)", "(A;;FR;;;WD)", "(A;;FR;;;WD)(A;OICIIO;GR;;;WD)"},
      {"marks of the directory's own go", "(A;OICIID;FR;;;WD)", "(A;;FR;;;WD)", "(A;OICI;FR;;;WD)"},
      {"several, in their order", "(D;OI;FW;;;BG)(A;;FA;;;WD)(A;OICI;FR;;;WD)",
       "(D;;FW;;;BG)(A;;FR;;;WD)", "(D;OIIO;FW;;;BG)(A;OICI;FR;;;WD)"},
      {"a null list has nothing to inherit", "NO_ACCESS_CONTROL", kNothing, kNothing},
  };
  for (const Row& row : rows) {
    const auto parent = parsed(std::string("O:BUG:BGD:P") + row.entries);
    const auto head = std::string("O:SYG:BGD:");
    EXPECT_EQ(write_sddl(inherit(parent, account_identity(), false)), head + row.file) << row.why;
    EXPECT_EQ(write_sddl(inherit(parent, account_identity(), true)), head + row.directory)
        << row.why;
  }
}

TEST(AccessCheck, InheritedListsAreMarkedWhereTheDirectorysIs) {
  const auto parent = parsed("O:BUG:BGD:AI(A;OICI;FR;;;CO)");
  EXPECT_EQ(write_sddl(inherit(parent, account_identity(), false)), "O:SYG:BGD:AI(A;ID;FR;;;SY)");
  EXPECT_EQ(write_sddl(inherit(parent, account_identity(), true)),
            "O:SYG:BGD:AI(A;ID;FR;;;SY)(A;OICIIOID;FR;;;CO)");
  const auto barren = parsed("O:BUG:BGD:AI(A;;FR;;;CO)");
  EXPECT_EQ(write_sddl(inherit(barren, account_identity(), false)), "O:SYG:BGD:(A;;FA;;;SY)");
}

TEST(AccessCheck, NothingInheritedIsTheOwnersAndTheSystems) {
  const Identity somebody{{5, {21, 1, 2, 3, 1000}}, {}};
  EXPECT_EQ(write_sddl(inherit(parsed("O:BUG:BGD:"), somebody, false)),
            "O:S-1-5-21-1-2-3-1000G:BGD:(A;;FA;;;S-1-5-21-1-2-3-1000)(A;;FA;;;SY)");
}

TEST(AccessCheck, GenericRightsStayInWhatIsOnlyInherited) {
  auto descriptor = parsed("O:BUG:BGD:(A;;GR;;;WD)(A;OICI;GW;;;WD)(A;OICIIO;GA;;;CO)");
  map_generic_rights(descriptor.dacl);
  EXPECT_EQ(write_sddl(descriptor), "O:BUG:BGD:(A;;FR;;;WD)(A;OICI;FW;;;WD)(A;OICIIO;GA;;;CO)");
}

}  // namespace
}  // namespace kyanite::tree
