#include "auth/posix_access.h"

#include <gtest/gtest.h>

#include <array>

namespace kyanite::auth::posix {
namespace {

AccessControl control(std::string_view acl, std::string_view owner = "owner",
                      std::string_view group = "team") {
  const auto entries = parse_entries(acl, Edit::kReplace);
  EXPECT_TRUE(entries.ok()) << acl;
  const auto made = edited({}, Edit::kReplace, *entries, true);
  EXPECT_TRUE(made.ok()) << acl;
  AccessControl out = *made;
  out.owner = owner;
  out.group = group;
  return out;
}

TEST(PosixRights, FirstClassThatMatchesDecides) {
  const AccessControl file = control(
      "user::r--,user:ann:rwx,user:ben:---,group::r--,group:writers:-w-,group:nobody:---,"
      "mask::rw-,other::rwx");
  struct Case {
    Identity who;
    Bits expected;
  };
  const Case kCases[] = {
      {{"anyone", {}, true}, kAllBits},
      // The mask does not limit the owner, and nothing else is asked about the owner.
      {{"owner", {"team", "writers"}}, kRead},
      {{"OWNER", {}}, kRead},
      {{"ann", {}}, kRead | kWrite},
      {{"ANN", {"nobody"}}, kRead | kWrite},
      {{"ben", {"team", "writers"}}, 0},
      {{"eve", {"team"}}, kRead},
      {{"eve", {"writers"}}, kWrite},
      {{"eve", {"WRITERS", "x", "team"}}, kRead | kWrite},
      {{"eve", {"nobody", "team"}}, kRead},
      // A group that may do nothing is still the class that decides.
      {{"eve", {"nobody"}}, 0},
      {{"eve", {"x"}}, kAllBits},
      {{"eve", {}}, kAllBits},
      {{"", {}}, kAllBits},
  };
  for (const Case& row : kCases) {
    EXPECT_EQ(rights(row.who, file), row.expected) << row.who.object_id;
    for (Bits wanted = 0; wanted <= kAllBits; ++wanted) {
      EXPECT_EQ(grants(row.who, file, wanted), (row.expected & wanted) == wanted);
    }
  }
}

TEST(PosixRights, MaskLimitsAllButOwnerAndOthers) {
  const AccessControl file =
      control("user::rwx,user:ann:rwx,group::rwx,group:g:rwx,mask::---,other::rwx");
  EXPECT_EQ(rights({"owner", {}}, file), kAllBits);
  EXPECT_EQ(rights({"ann", {}}, file), 0);
  EXPECT_EQ(rights({"eve", {"team"}}, file), 0);
  EXPECT_EQ(rights({"eve", {"g"}}, file), 0);
  EXPECT_EQ(rights({"eve", {}}, file), kAllBits);
}

TEST(PosixRights, NobodyIsAnOwnerWithoutAnId) {
  AccessControl file = control("user::rwx,group::---,other::---");
  file.owner = "";
  EXPECT_EQ(rights({"", {}}, file), 0);
  EXPECT_FALSE(is_owner({"", {}}, file));
}

// The documented table of what is needed along /Oregon/Portland/Data.txt. A row's object is the
// last of `levels`; further columns are for what lies below it.
struct Scenario {
  const char* name;
  Act act;
  size_t levels;
  std::array<const char*, 4> needed;
};
constexpr Scenario kScenarios[] = {
    {"Read Data.txt", Act::kReadFile, 4, {"--x", "--x", "--x", "r--"}},
    {"Append to Data.txt", Act::kWriteFile, 4, {"--x", "--x", "--x", "rw-"}},
    {"Delete Data.txt", Act::kDelete, 4, {"--x", "--x", "-wx", "---"}},
    {"Delete /Oregon/", Act::kDeleteTree, 2, {"-wx", "rwx", "rwx", "---"}},
    {"Delete /Oregon/Portland/", Act::kDeleteTree, 3, {"--x", "-wx", "rwx", "---"}},
    {"Create Data.txt", Act::kCreate, 4, {"--x", "--x", "-wx", "---"}},
    {"List /", Act::kListDirectory, 1, {"r-x", "---", "---", "---"}},
    {"List /Oregon/", Act::kListDirectory, 2, {"--x", "r-x", "---", "---"}},
    {"List /Oregon/Portland/", Act::kListDirectory, 3, {"--x", "--x", "r-x", "---"}},
    // Not in that table but in its text.
    {"Properties of Data.txt", Act::kLook, 4, {"--x", "--x", "--x", "---"}},
    {"Properties of /", Act::kLook, 1, {"---", "---", "---", "---"}},
};

// The bits of all four levels, granted to everybody.
bool allowed_with(const Scenario& row, const std::array<std::string, 4>& bits, bool exists = true) {
  std::array<AccessControl, 4> levels;
  for (size_t i = 0; i < 4; ++i) levels[i] = control("user::---,group::---,other::" + bits[i]);
  const Identity caller{"caller", {"a", "b"}};
  std::vector<const AccessControl*> parents;
  for (size_t i = 0; i + 1 < row.levels; ++i) parents.push_back(&levels[i]);
  const AccessControl* object = exists ? &levels[row.levels - 1] : nullptr;
  bool ok = allowed(caller, row.act, parents, object);
  if (row.act == Act::kDeleteTree) {
    for (size_t i = row.levels; i < 3; ++i) ok = ok && may_empty(caller, levels[i]);
  }
  return ok;
}

TEST(PosixScenarios, EveryRowOfTheDocumentedTable) {
  for (const Scenario& row : kScenarios) {
    std::array<std::string, 4> needed;
    std::copy(row.needed.begin(), row.needed.end(), needed.begin());
    EXPECT_TRUE(allowed_with(row, needed)) << row.name;
    EXPECT_TRUE(allowed_with(row, {"rwx", "rwx", "rwx", "rwx"})) << row.name;
    if (row.act == Act::kCreate) {
      EXPECT_TRUE(allowed_with(row, needed, false));
    }
    // Each of the bits is needed.
    for (size_t level = 0; level < 4; ++level) {
      for (size_t bit = 0; bit < 3; ++bit) {
        auto less = needed;
        if (less[level][bit] == '-') continue;
        less[level] = "rwx";
        less[level][bit] = '-';
        EXPECT_FALSE(allowed_with(row, less)) << row.name << ' ' << level << ' ' << bit;
        if (row.act == Act::kCreate) {
          EXPECT_FALSE(allowed_with(row, less, false));
        }
      }
    }
  }
}

TEST(PosixScenarios, SuperusersDoEverythingButToTheRoot) {
  const AccessControl nothing = control("user::---,group::---,other::---");
  const AccessControl* parents[] = {&nothing, &nothing};
  const Identity root{"", {}, true};
  for (const Act act : {Act::kLook, Act::kReadFile, Act::kWriteFile, Act::kListDirectory,
                        Act::kCreate, Act::kDelete, Act::kDeleteTree, Act::kSetAccess}) {
    EXPECT_TRUE(allowed(root, act, parents, &nothing));
    EXPECT_FALSE(allowed({"caller", {}}, act, parents, &nothing));
  }
  for (const Act act : {Act::kCreate, Act::kDelete, Act::kDeleteTree}) {
    EXPECT_FALSE(allowed(root, act, {}, &nothing));
  }
}

TEST(PosixScenarios, CheckAccessAsksForBits) {
  const AccessControl open = control("user::---,group::---,other::--x");
  const AccessControl closed = control("user::---,group::---,other::rw-");
  const AccessControl file = control("user::---,group::---,other::rw-");
  const AccessControl* parents[] = {&open};
  const AccessControl* blocked[] = {&open, &closed};
  for (Bits wanted = 0; wanted <= kAllBits; ++wanted) {
    EXPECT_EQ(allowed_bits({"c", {}}, wanted, parents, file), !(wanted & kExecute));
    EXPECT_FALSE(allowed_bits({"c", {}}, wanted, blocked, file));
    EXPECT_TRUE(allowed_bits({"c", {}, true}, wanted, blocked, file));
  }
}

TEST(PosixSticky, OnlyOwnersRemove) {
  AccessControl directory = control("user::rwx,group::rwx,other::rwx", "dir-owner");
  const AccessControl file = control("user::---,group::---,other::rwx", "file-owner");
  const AccessControl* parents[] = {&directory};
  for (const bool sticky : {false, true}) {
    directory.sticky = sticky;
    for (const Act act : {Act::kDelete, Act::kDeleteTree, Act::kCreate}) {
      EXPECT_EQ(allowed({"eve", {}}, act, parents, &file), !sticky);
      // The owner of a file may do nothing else with it here.
      EXPECT_EQ(allowed({"file-owner", {}}, act, parents, &file), act != Act::kDeleteTree);
      EXPECT_TRUE(allowed({"dir-owner", {}}, act, parents, &file));
      EXPECT_TRUE(allowed({"eve", {}, true}, act, parents, &file));
    }
    // New things are made by everybody.
    EXPECT_TRUE(allowed({"eve", {}}, Act::kCreate, parents, nullptr));
    EXPECT_TRUE(allowed({"eve", {}}, Act::kReadFile, parents, &file));
    EXPECT_EQ(may_remove({"eve", {}}, directory, file), !sticky);
  }
  // Being the owner does not replace the right to change the directory.
  directory.access.other = kRead | kExecute;
  EXPECT_FALSE(allowed({"file-owner", {}}, Act::kDelete, parents, &file));
}

TEST(PosixOwnership, OwnersChangeListsSuperusersOwners) {
  const AccessControl file = control("user::---,user:ann:rwx,group::rwx,mask::rwx,other::rwx");
  const AccessControl open = control("user::--x,group::--x,other::--x");
  const AccessControl closed = control("user::rw-,group::rw-,other::rw-");
  const AccessControl* parents[] = {&open};
  const AccessControl* blocked[] = {&closed};
  const Identity owner{"owner", {"team", "friends"}}, ann{"ann", {"team"}}, super{"s", {}, true};
  EXPECT_TRUE(allowed(owner, Act::kSetAccess, parents, &file));
  EXPECT_FALSE(allowed(owner, Act::kSetAccess, blocked, &file));
  EXPECT_FALSE(allowed(ann, Act::kSetAccess, parents, &file));
  EXPECT_TRUE(allowed(super, Act::kSetAccess, blocked, &file));

  EXPECT_TRUE(may_set_group(owner, file, "friends"));
  EXPECT_FALSE(may_set_group(owner, file, "strangers"));
  EXPECT_FALSE(may_set_group(ann, file, "friends"));
  EXPECT_TRUE(may_set_group(super, file, "strangers"));
  EXPECT_TRUE(may_set_group(ann, file, "team")) << "nothing changes";

  EXPECT_FALSE(may_set_owner(owner, file, "ann"));
  EXPECT_TRUE(may_set_owner(owner, file, "owner")) << "nothing changes";
  EXPECT_TRUE(may_set_owner(super, file, "ann"));
}

}  // namespace
}  // namespace kyanite::auth::posix
