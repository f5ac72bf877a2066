#include "concurrency/share_mode.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace kyanite::concurrency {
namespace {

AccessSet set(std::string_view letters) {
  AccessSet result;
  for (char letter : letters) {
    if (letter == 'R') result = result | kReadAccess;
    if (letter == 'W') result = result | kWriteAccess;
    if (letter == 'D') result = result | kDeleteAccess;
  }
  return result;
}

TEST(ShareMode, TwoOpens) {
  struct Row {
    const char *access_a, *share_a, *access_b, *share_b;
    bool compatible;
  };
  const Row rows[] = {
      {"R", "W", "W", "R", true},
      {"W", "R", "W", "W", false},
      {"W", "W", "W", "R", false},
      {"R", "R", "R", "R", true},
      {"R", "", "R", "R", false},
      {"RW", "", "R", "RWD", false},
      {"RW", "RW", "RW", "RW", true},
      {"D", "RWD", "R", "RW", false},
      {"D", "RWD", "R", "RWD", true},
      {"RWD", "RWD", "RWD", "RWD", true},
      // Opens for attributes only.
      {"", "", "RWD", "", true},
      {"", "", "", "", true},
  };
  for (const Row& row : rows) {
    Open a{set(row.access_a), set(row.share_a)};
    Open b{set(row.access_b), set(row.share_b)};
    auto what =
        std::string(row.access_a) + "/" + row.share_a + " and " + row.access_b + "/" + row.share_b;
    EXPECT_EQ(compatible(a, b), row.compatible) << what;
    EXPECT_EQ(compatible(b, a), row.compatible) << what;
  }
}

// Eight accesses against eight share modes, the other side being at ease with everything.
TEST(ShareMode, AccessAgainstShare) {
  constexpr const char* kSets[8] = {"", "R", "W", "D", "RW", "RD", "WD", "RWD"};
  // Rows: access asked for; columns: share granted, in the order of kSets. + compatible, x
  // violation.
  constexpr const char* kMatrix[8] = {
      "++++++++",  // none
      "x+xx++x+",  // R
      "xx+x+x++",  // W
      "xxx+x+++",  // D
      "xxxx+xx+",  // RW
      "xxxxx+x+",  // RD
      "xxxxxx++",  // WD
      "xxxxxxx+",  // RWD
  };
  for (int access = 0; access < 8; ++access) {
    for (int share = 0; share < 8; ++share) {
      Open holder{kReadAccess, set(kSets[share])};
      Open asking{set(kSets[access]), kFullAccess};
      EXPECT_EQ(compatible(holder, asking), kMatrix[access][share] == '+')
          << "access " << kSets[access] << " share " << kSets[share];
    }
  }
}

// Which REST operations fail beside an SMB open for reading with the share mode given.
TEST(ShareMode, RestBesideSmb) {
  struct Column {
    FileOperation operation;
    const char* name;
  };
  const Column columns[] = {
      {FileOperation::kCreateFile, "Create File"},
      {FileOperation::kGetFile, "Get File"},
      {FileOperation::kSetFileProperties, "Set File Properties"},
      {FileOperation::kSetFileMetadata, "Set File Metadata"},
      {FileOperation::kDeleteFile, "Delete File"},
      {FileOperation::kPutRange, "Put Range"},
      {FileOperation::kListRanges, "List Ranges"},
      {FileOperation::kLeaseFile, "Lease File"},
      {FileOperation::kListFiles, "List Files"},
      {FileOperation::kGetFileProperties, "Get File Properties"},
      {FileOperation::kGetFileMetadata, "Get File Metadata"},
      {FileOperation::kRenameFile, "Rename File"},
  };
  struct Row {
    const char* share;
    const char* outcome;  // per column: + goes on, x SharingViolation
  };
  const Row rows[] = {
      {"", "xxxxxxxx+++x"},   {"R", "x+xxxx+x+++x"},   {"W", "xx++x+xx+++x"},
      {"D", "xxxxxxxx++++"},  {"RW", "x+++x++x+++x"},  {"RD", "x+xxxx+x++++"},
      {"WD", "+x++x+xx++++"}, {"RWD", "++++x+++++++"},
  };
  for (const Row& row : rows) {
    for (size_t i = 0; i < std::size(columns); ++i) {
      EXPECT_EQ(compatible(columns[i].operation, Open{kReadAccess, set(row.share)}),
                row.outcome[i] == '+')
          << columns[i].name << " share " << row.share;
    }
  }
}

TEST(ShareMode, AttributeHandlesStopOnlyDeletion) {
  const Open attributes{kNoAccess, kNoAccess};
  EXPECT_FALSE(compatible(FileOperation::kDeleteFile, attributes));
  EXPECT_TRUE(compatible(FileOperation::kCreateFile, attributes));
  EXPECT_TRUE(compatible(FileOperation::kLeaseFile, attributes));
}

TEST(ShareMode, FileLeasesAndWriters) {
  struct Row {
    const char* access;
    bool beside_lease;
  };
  const Row rows[] = {{"", true},    {"R", true},   {"W", false},  {"D", false},
                      {"RW", false}, {"RD", false}, {"WD", false}, {"RWD", false}};
  for (const Row& row : rows) {
    const Open open{set(row.access), kFullAccess};
    EXPECT_EQ(may_open_leased_file(open.access), row.beside_lease) << row.access;
    EXPECT_EQ(compatible(FileOperation::kLeaseFile, open), row.beside_lease) << row.access;
  }
}

// A copy from elsewhere writes the file for as long as it takes: beside it nobody else does, and
// nobody is there who counts on that none does.
TEST(ShareMode, CopiesThatAreBeingWritten) {
  struct Row {
    const char* access;
    const char* share;
    bool may_open;
    bool may_begin;  // Besides, it replaces the file.
  };
  const Row rows[] = {
      {"", "", true, true},        {"R", "RWD", true, true},   {"R", "WD", true, true},
      {"R", "RW", true, false},    {"R", "W", true, false},    {"R", "RD", false, false},
      {"R", "R", false, false},    {"R", "", false, false},    {"W", "RWD", false, false},
      {"RW", "RWD", false, false}, {"D", "RWD", false, false}, {"RWD", "RWD", false, false}};
  for (const Row& row : rows) {
    const Open open{set(row.access), set(row.share)};
    EXPECT_EQ(may_open_while_copied(open), row.may_open) << row.access << " " << row.share;
    EXPECT_EQ(compatible(FileOperation::kBeginCopy, open), row.may_begin)
        << row.access << " " << row.share;
  }
}

}  // namespace
}  // namespace kyanite::concurrency
