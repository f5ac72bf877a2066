#include "auth/posix_acl.h"

#include <gtest/gtest.h>

#include <variant>

namespace kyanite::auth::posix {
namespace {

AccessControl directory(std::string_view acl) {
  const auto entries = parse_entries(acl, Edit::kReplace);
  EXPECT_TRUE(entries.ok()) << acl;
  const auto control = edited({}, Edit::kReplace, *entries, true);
  EXPECT_TRUE(control.ok()) << acl;
  return *control;
}

using Outcome = std::variant<std::string, AclFault>;

// The text of what becomes of `before`, or the fault.
Outcome after(std::string_view before, Edit edit, std::string_view text, bool is_directory = true) {
  const auto entries = parse_entries(text, edit);
  if (!entries) return entries.error();
  const auto control = edited(directory(before), edit, *entries, is_directory);
  if (!control) return control.error();
  return print_acl(*control);
}

TEST(PosixPermissions, BitsAreThreeLetters) {
  EXPECT_EQ(parse_bits("rwx"), kAllBits);
  EXPECT_EQ(parse_bits("r-x"), kRead | kExecute);
  EXPECT_EQ(parse_bits("---"), 0);
  for (const auto* text : {"", "r", "rw", "rwxr", "xwr", "7", "R--"}) {
    EXPECT_EQ(parse_bits(text), std::nullopt) << text;
  }
}

TEST(PosixPermissions, AreReadInBothNotations) {
  const std::pair<std::string_view, Permissions> kCases[] = {
      {"rwxrwxrwx", {7, 7, 7}},        {"0777", {7, 7, 7}},
      {"---------", {0, 0, 0}},        {"0000", {0, 0, 0}},
      {"rw-r-----", {6, 4, 0}},        {"0640", {6, 4, 0}},
      {"rwxrwxrwt", {7, 7, 7, true}},  {"1777", {7, 7, 7, true}},
      {"rw-r-x-wT", {6, 5, 2, true}},  {"1652", {6, 5, 2, true}},
      {"rw-r-x-wt", {6, 5, 3, true}},  {"rwxrwx---+", {7, 7, 0}},
      {"rw---x--T+", {6, 1, 0, true}}, {"--x-w-r--", {1, 2, 4}},
  };
  for (const auto& [text, expected] : kCases) EXPECT_EQ(parse_permissions(text), expected) << text;
}

TEST(PosixPermissions, OtherTextsAreRefused) {
  for (const auto* text :
       {"",          "asdf",      "777",       "00777",      "2777",       "4777",
        "0778",      "-777",      "rwxrwxrw",  "rwxrwxrwxx", "rwxrwxrwx-", "RWXRWXRWX",
        "xwrxwrxwr", "rwsr-xr-x", "rwxr-sr-x", "rwtrwxrwx",  "rwxrwtrwx",  "rwxrwxrwS",
        "0777+",     " 0777",     "rwxrwxrw+"}) {
    EXPECT_EQ(parse_permissions(text), std::nullopt) << text;
  }
}

TEST(PosixPermissions, UmaskIsOctal) {
  EXPECT_EQ(parse_umask("0027"), (Permissions{0, 2, 7}));
  EXPECT_EQ(parse_umask("0777"), (Permissions{7, 7, 7}));
  for (const auto* text : {"", "027", "1027", "00027", "0028", "----w-rwx"}) {
    EXPECT_EQ(parse_umask(text), std::nullopt) << text;
  }
}

TEST(PosixPermissions, AreShownWithStickyBitMaskAndPlus) {
  const std::tuple<std::string_view, bool, std::string_view> kCases[] = {
      {"user::rwx,group::r-x,other::---", false, "rwxr-x---"},
      {"user::rw-,group::--x,other::---", true, "rw---x--T"},
      {"user::rwx,group::rwx,other::rwx", true, "rwxrwxrwt"},
      {"user::rwx,group::r--,mask::rwx,other::---", false, "rwxrwx---+"},
      {"user::rwx,user:u:rw-,group::r--,mask::r-x,other::--x", true, "rwxr-x--t+"},
      {"user::rwx,group::r-x,other::---,default:user::rwx,default:group::r-x,default:other::---",
       false, "rwxr-x---+"},
  };
  for (const auto& [acl, sticky, shown] : kCases) {
    AccessControl control = directory(acl);
    control.sticky = sticky;
    EXPECT_EQ(print_permissions(control), shown);
    EXPECT_EQ(print_acl(control), acl);
  }
}

TEST(PosixAcl, IsShownInOrder) {
  EXPECT_EQ(print_acl(directory("default:other::--x,other::r--,default:mask::rwx,mask::r-x,"
                                "group:g2:r--,default:group::r-x,group::rwx,group:g1:-w-,"
                                "user:b:rw-,default:user:a:r--,user::rwx,user:a:---,"
                                "default:user::rw-,default:group:g:rwx")),
            "user::rwx,user:b:rw-,user:a:---,group::rwx,group:g2:r--,group:g1:-w-,mask::r-x,"
            "other::r--,default:user::rw-,default:user:a:r--,default:group::r-x,"
            "default:group:g:rwx,default:mask::rwx,default:other::--x");
}

TEST(PosixAcl, NamesMayBeIdsAndPrincipalNames) {
  const std::string text =
      "user::rwx,user:4cf4e284-f6a8-4540-b53e-c3469af032dc:rwx,user:john.doe@contoso.com:r--,"
      "user:$superuser:r-x,group::r--,mask::rwx,other::---";
  EXPECT_EQ(print_acl(directory(text)), text);
}

TEST(PosixAcl, MalformedTextsAreRefused) {
  const std::string long_id(kMaxIdBytes + 1, 'i');
  for (const std::string text : {"asdf",
                                 "user",
                                 "user:",
                                 "user::",
                                 "user:rwx",
                                 "user::rw",
                                 "user::rwxx",
                                 "user::rwt",
                                 "user::xwr",
                                 "user::RWX",
                                 "user::7",
                                 "User::rwx",
                                 "owner::rwx",
                                 "mask=rwx",
                                 "mask:id:rwx",
                                 "other:id:rwx",
                                 "user:a:b:rwx",
                                 "user:a b:rwx",
                                 "user:\t:rwx",
                                 "user:\xc3\xa9:rwx",
                                 ",user::rwx",
                                 "user::rwx,",
                                 "user::rwx,,group::r--",
                                 " user::rwx",
                                 "access:user::rwx",
                                 "default:",
                                 "default",
                                 "default:default:user::rwx",
                                 "user::rwx group::rwx",
                                 "user::rwx;"}) {
    const auto entries = parse_entries(text, Edit::kReplace);
    ASSERT_FALSE(entries.ok()) << text;
    EXPECT_EQ(entries.error(), AclFault::kMalformed) << text;
  }
  EXPECT_FALSE(parse_entries("user:" + long_id + ":rwx", Edit::kModify).ok());
  EXPECT_TRUE(parse_entries("user:" + long_id.substr(1) + ":rwx", Edit::kModify).ok());
}

TEST(PosixAcl, EntriesToRemoveHaveNoBits) {
  const auto entries =
      parse_entries("mask,default:user,default:group,user:a,group:b,default:user:c,default:other:",
                    Edit::kRemove);
  ASSERT_TRUE(entries.ok());
  using Kind = Entry::Kind;
  EXPECT_EQ(*entries, (std::vector<Entry>{{false, Kind::kMask, "", 0},
                                          {true, Kind::kUser, "", 0},
                                          {true, Kind::kGroup, "", 0},
                                          {false, Kind::kUser, "a", 0},
                                          {false, Kind::kGroup, "b", 0},
                                          {true, Kind::kUser, "c", 0},
                                          {true, Kind::kOther, "", 0}}));
  for (const auto* text : {"user::rwx", "user:a:rwx", "mask:x", "mask::", "asdf", "default"}) {
    EXPECT_FALSE(parse_entries(text, Edit::kRemove).ok()) << text;
  }
}

TEST(PosixAcl, EntriesAreSaidOnce) {
  for (const auto* text : {"user::rwx,user::r--", "user:a:rwx,user:A:r--", "mask::rwx,mask::rwx",
                           "default:group:g:rwx,default:group:g:rwx"}) {
    EXPECT_EQ(parse_entries(text, Edit::kModify).error(), AclFault::kDuplicate) << text;
  }
  EXPECT_TRUE(parse_entries("user:a:rwx,group:a:rwx,default:user:a:rwx", Edit::kModify).ok());
}

std::string named_users(size_t count, std::string_view scope = "") {
  std::string text;
  for (size_t i = 0; i < count; ++i) {
    text += "," + std::string(scope) + "user:u" + std::to_string(i) + ":r--";
  }
  return text;
}

TEST(PosixAcl, ListsHaveThirtyTwoEntriesEach) {
  const std::string base = "user::rwx,group::r-x,other::---";
  const std::string defaults = ",default:user::rwx,default:group::r-x,default:other::---";
  // Owner, group, others and the mask are four of them.
  const std::string full = base + named_users(28) + defaults + named_users(28, "default:");
  const AccessControl control = directory(full);
  EXPECT_EQ(control.access.size(), kMaxEntries);
  EXPECT_EQ(control.defaults->size(), kMaxEntries);
  EXPECT_EQ(after(base, Edit::kReplace, base + named_users(29)), Outcome(AclFault::kTooMany));
  EXPECT_EQ(after(base, Edit::kReplace, base + defaults + named_users(29, "default:")),
            Outcome(AclFault::kTooMany));
  EXPECT_EQ(after(full, Edit::kModify, "group:more:r--"), Outcome(AclFault::kTooMany));
  EXPECT_EQ(after(full, Edit::kModify, "default:group:more:r--"), Outcome(AclFault::kTooMany));
  EXPECT_EQ(parse_entries(base + named_users(62), Edit::kReplace).error(), AclFault::kTooMany);
}

constexpr std::string_view kPlain = "user::rwx,group::r-x,other::---";
constexpr std::string_view kNamedList =
    "user::rwx,user:a:rw-,group::r-x,group:g:-w-,mask::r-x,other::--x";
constexpr std::string_view kWithDefaults =
    "user::rwx,user:a:rw-,group::r-x,mask::r-x,other::--x,default:user::rw-,default:user:a:r--,"
    "default:group::r--,default:mask::rwx,default:other::---";

TEST(PosixAclReplace, LeavesNothing) {
  EXPECT_EQ(after(kWithDefaults, Edit::kReplace, "user::--x,group::--x,other::--x"),
            Outcome("user::--x,group::--x,other::--x"));
  EXPECT_EQ(after(kPlain, Edit::kReplace, "user::rwx,group::r--,other::---,mask::rwx"),
            Outcome("user::rwx,group::r--,mask::rwx,other::---"));
  // What limits those who are named is all of theirs, unless it is given.
  EXPECT_EQ(after(kPlain, Edit::kReplace, "user::rwx,user:a:-w-,group::r--,other::rwx"),
            Outcome("user::rwx,user:a:-w-,group::r--,mask::rw-,other::rwx"));
  EXPECT_EQ(after(kPlain, Edit::kReplace, "user::rwx,group:g:--x,group::r--,mask::---,other::rwx"),
            Outcome("user::rwx,group::r--,group:g:--x,mask::---,other::rwx"));
}

TEST(PosixAclReplace, NoTextChangesNothing) {
  for (const Edit edit : {Edit::kReplace, Edit::kSet, Edit::kModify, Edit::kRemove}) {
    EXPECT_EQ(after(kWithDefaults, edit, ""), Outcome(std::string(kWithDefaults)));
  }
}

TEST(PosixAclReplace, OwnerGroupAndOthersStayWhereNothingIsSaidOfThem) {
  const std::pair<const char*, const char*> cases[] = {
      {"user::r--", "user::r--,group::r-x,other::--x"},
      {"group::rwx,other::rwx", "user::rwx,group::rwx,other::rwx"},
      {"user:b:-w-", "user::rwx,user:b:-w-,group::r-x,mask::rwx,other::--x"},
      {"mask::--x", "user::rwx,group::r-x,mask::--x,other::--x"},
      {"default:user::r--",
       "user::rwx,user:a:rw-,group::r-x,mask::r-x,other::--x,default:user::r--,"
       "default:group::r-x,default:other::--x"},
  };
  for (const auto& [text, result] : cases)
    EXPECT_EQ(after(kWithDefaults, Edit::kReplace, text), Outcome(std::string(result))) << text;
}

TEST(PosixAclReplace, FilesHaveNoDefaults) {
  const std::string text = std::string(kPlain) + ",default:user:a:r--";
  EXPECT_EQ(after(kPlain, Edit::kReplace, text, false), Outcome(AclFault::kDefaultOnFile));
  for (const Edit edit : {Edit::kSet, Edit::kModify}) {
    EXPECT_EQ(after(kPlain, edit, text, false), Outcome(std::string(kPlain)));
  }
  EXPECT_EQ(after(kPlain, Edit::kRemove, "default:user,default:user:a", false),
            Outcome(std::string(kPlain)));
}

TEST(PosixAclReplace, DefaultsTakeTheirBaseFromAccess) {
  EXPECT_EQ(after(kPlain, Edit::kReplace, std::string(kPlain) + ",default:user:a:-w-"),
            Outcome("user::rwx,group::r-x,other::---,default:user::rwx,default:user:a:-w-,"
                    "default:group::r-x,default:mask::rwx,default:other::---"));
}

TEST(PosixAclSet, KeepsTheListOfWhichNothingIsGiven) {
  EXPECT_EQ(after(kWithDefaults, Edit::kSet, "user::rwx,group::r--,other::---"),
            Outcome("user::rwx,group::r--,other::---,default:user::rw-,default:user:a:r--,"
                    "default:group::r--,default:mask::rwx,default:other::---"));
  EXPECT_EQ(
      after(kWithDefaults, Edit::kSet, "default:user::--x,default:group::--x,default:other::--x"),
      Outcome("user::rwx,user:a:rw-,group::r-x,mask::r-x,other::--x,default:user::--x,"
              "default:group::--x,default:other::--x"));
  EXPECT_EQ(after(kWithDefaults, Edit::kSet, "user::rwx,group::r--"),
            Outcome(AclFault::kIncomplete));
}

TEST(PosixAclModify, AddsAndChanges) {
  EXPECT_EQ(after(kPlain, Edit::kModify, "user::r--,other::rwx"),
            Outcome("user::r--,group::r-x,other::rwx"));
  EXPECT_EQ(after(kPlain, Edit::kModify, "user:a:-w-"),
            Outcome("user::rwx,user:a:-w-,group::r-x,mask::rwx,other::---"));
  EXPECT_EQ(
      after(kNamedList, Edit::kModify, "user:A:---,group:h:r--,mask::--x"),
      Outcome("user::rwx,user:a:---,group::r-x,group:g:-w-,group:h:r--,mask::--x,other::--x"));
  // The mask grows with what is granted.
  EXPECT_EQ(after(kNamedList, Edit::kModify, "user:a:rwx"),
            Outcome("user::rwx,user:a:rwx,group::r-x,group:g:-w-,mask::rwx,other::--x"));
  // A list without changes keeps its mask.
  EXPECT_EQ(after(kNamedList, Edit::kModify, "default:user:b:r--"),
            Outcome(std::string(kNamedList) +
                    ",default:user::rwx,default:user:b:r--,default:group::r-x,default:mask::r-x,"
                    "default:other::--x"));
}

TEST(PosixAclRemove, TakesWhatIsThere) {
  EXPECT_EQ(after(kNamedList, Edit::kRemove, "user:a,group:absent"),
            Outcome("user::rwx,group::r-x,group:g:-w-,mask::rwx,other::--x"));
  EXPECT_EQ(after(kNamedList, Edit::kRemove, "mask,user:a,group:g"),
            Outcome("user::rwx,group::r-x,other::--x"));
  // Nothing is there to be removed, and so nothing changes, not even the mask.
  EXPECT_EQ(after(kNamedList, Edit::kRemove, "user:b,default:user,default:user:a"),
            Outcome(std::string(kNamedList)));
  EXPECT_EQ(after(kPlain, Edit::kRemove,
                  "mask,default:user,default:group,user:a,group:a,default:user:a,default:group:a"),
            Outcome(std::string(kPlain)));
}

TEST(PosixAclRemove, MaskStaysWhileSomebodyIsNamed) {
  EXPECT_EQ(after(kNamedList, Edit::kRemove, "mask,user:a"), Outcome(AclFault::kMaskNeeded));
  EXPECT_EQ(after(kWithDefaults, Edit::kRemove, "default:mask"), Outcome(AclFault::kMaskNeeded));
}

TEST(PosixAclRemove, OwnerGroupAndOthersStay) {
  for (const auto* text : {"user", "group", "other"}) {
    EXPECT_EQ(after(kNamedList, Edit::kRemove, text), Outcome(AclFault::kIncomplete)) << text;
  }
}

TEST(PosixAclRemove, DefaultsGoWhenNothingIsLeftOfThem) {
  EXPECT_EQ(after(kWithDefaults, Edit::kRemove,
                  "default:user,default:user:a,default:group,default:mask,default:other"),
            Outcome("user::rwx,user:a:rw-,group::r-x,mask::r-x,other::--x"));
  // What is left is completed by what the access list says.
  EXPECT_EQ(after(kWithDefaults, Edit::kRemove,
                  "mask,user:a,default:user,default:user:a,default:group,default:mask"),
            Outcome("user::rwx,group::r-x,other::--x,default:user::rwx,default:group::r-x,"
                    "default:other::---"));
}

TEST(PosixAcl, ChangesLeaveOwnerGroupAndStickyBit) {
  AccessControl old = directory(kNamedList);
  old.owner = "o";
  old.group = "g";
  old.sticky = true;
  const auto entries = parse_entries(kPlain, Edit::kReplace);
  const auto control = edited(old, Edit::kReplace, *entries, true);
  ASSERT_TRUE(control.ok());
  EXPECT_EQ(control->owner, "o");
  EXPECT_EQ(control->group, "g");
  EXPECT_EQ(print_permissions(*control), "rwxr-x--T");
}

TEST(PosixPermissions, GroupBitsGoToTheMask) {
  AccessControl plain = directory(kPlain);
  set_permissions(plain, *parse_permissions("1751"));
  EXPECT_EQ(print_permissions(plain), "rwxr-x--t");
  EXPECT_EQ(print_acl(plain), "user::rwx,group::r-x,other::--x");
  set_permissions(plain, *parse_permissions("rw-rw----"));
  EXPECT_EQ(print_permissions(plain), "rw-rw----");

  AccessControl named = directory(kWithDefaults);
  set_permissions(named, *parse_permissions("0640"));
  EXPECT_EQ(print_acl(named),
            "user::rw-,user:a:rw-,group::r-x,mask::r--,other::---,default:user::rw-,"
            "default:user:a:r--,default:group::r--,default:mask::rwx,default:other::---");
  EXPECT_EQ(print_permissions(named), "rw-r-----+");
}

TEST(PosixBirth, RootBelongsToWhoMadeIt) {
  EXPECT_EQ(print_permissions(new_root(kSuperuser)), "rwxr-x---");
  EXPECT_EQ(print_acl(new_root("me")), "user::rwx,group::r-x,other::---");
  EXPECT_EQ(new_root("me").owner, "me");
  EXPECT_EQ(new_root("me").group, "me");
}

TEST(PosixBirth, PermissionsAreLimitedByUmask) {
  struct Case {
    bool is_directory;
    const char* permissions;
    const char* umask;
    const char* expected;
  };
  constexpr Case kCases[] = {
      {false, "", "", "rw-r-----"},         {true, "", "", "rwxr-x---"},
      {false, "0777", "0057", "rwx-w----"}, {true, "0777", "0057", "rwx-w----"},
      {false, "0777", "", "rwxr-x---"},     {true, "0777", "", "rwxr-x---"},
      {false, "0777", "0000", "rwxrwxrwx"}, {true, "rwxr--r--", "0000", "rwxr--r--"},
      {true, "1777", "", "rwxr-x--T"},      {true, "rwxrwxrwx", "0007", "rwxrwx---"},
      {false, "", "0777", "---------"},     {false, "", "0000", "rw-rw-rw-"},
  };
  AccessControl parent = new_root("creator");
  parent.group = "team";
  parent.sticky = true;
  for (const Case& row : kCases) {
    Birth birth;
    birth.is_directory = row.is_directory;
    birth.creator = "me";
    if (*row.permissions) birth.permissions = parse_permissions(row.permissions);
    if (*row.umask) birth.umask = parse_umask(row.umask);
    const AccessControl child = born(parent, birth);
    EXPECT_EQ(print_permissions(child), row.expected);
    EXPECT_EQ(child.owner, "me");
    EXPECT_EQ(child.group, "team");
    EXPECT_FALSE(child.defaults);
  }
}

TEST(PosixBirth, DefaultsAreInheritedButForOthers) {
  const AccessControl parent = directory(
      "user::---,group::---,other::---,default:user::rwx,default:user:a:r-x,default:group::rwx,"
      "default:mask::rw-,default:other::rwx");
  // What the client says of permissions limits it; what it says of its umask does not.
  const struct {
    const char* permissions;
    const char* umask;
    const char* access;
  } rows[] = {
      {"", "", "user::rwx,user:a:r-x,group::rwx,mask::rw-,other::---"},
      {"", "0777", "user::rwx,user:a:r-x,group::rwx,mask::rw-,other::---"},
      {"0777", "0022", "user::rwx,user:a:r-x,group::rwx,mask::rw-,other::---"},
      {"0644", "0022", "user::rw-,user:a:r-x,group::rwx,mask::r--,other::---"},
      {"0740", "", "user::rwx,user:a:r-x,group::rwx,mask::r--,other::---"},
      {"0000", "", "user::---,user:a:r-x,group::rwx,mask::---,other::---"},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(std::string(row.permissions) + " " + row.umask);
    Birth birth;
    if (*row.permissions) birth.permissions = parse_permissions(row.permissions);
    if (*row.umask) birth.umask = parse_umask(row.umask);
    EXPECT_EQ(print_acl(born(parent, birth)), row.access);
    birth.is_directory = true;
    EXPECT_EQ(print_acl(born(parent, birth)),
              std::string(row.access) +
                  ",default:user::rwx,default:user:a:r-x,default:group::rwx,default:mask::rw-,"
                  "default:other::rwx");
  }
}

TEST(PosixBirth, WithoutAMaskPermissionsLimitTheGroup) {
  const AccessControl parent = directory(
      "user::---,group::---,other::---,default:user::rwx,default:group::r-x,default:other::---");
  Birth birth;
  birth.permissions = parse_permissions("0644");
  EXPECT_EQ(print_acl(born(parent, birth)), "user::rw-,group::r--,other::---");
}

}  // namespace
}  // namespace kyanite::auth::posix
