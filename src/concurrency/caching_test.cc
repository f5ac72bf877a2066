#include "concurrency/caching.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace kyanite::concurrency {
namespace {

Caching caching(std::string_view letters) {
  Caching result;
  for (const char letter : letters) {
    if (letter == 'R') result = result | kReadCaching;
    if (letter == 'W') result = result | kWriteCaching;
    if (letter == 'H') result = result | kHandleCaching;
  }
  return result;
}
std::string text(Caching held) {
  std::string letters;
  if (held.has(kReadCaching)) letters += 'R';
  if (held.has(kWriteCaching)) letters += 'W';
  if (held.has(kHandleCaching)) letters += 'H';
  return letters.empty() ? "-" : letters;
}
// What is kept, with ! where others wait.
std::string text(const Effect& effect) { return text(effect.kept) + (effect.waits ? "!" : ""); }

struct Held {
  GrantKind kind;
  const char* state;
};
// Everything that can be granted.
constexpr Held kColumns[] = {
    {GrantKind::kLease, "RWH"}, {GrantKind::kLease, "RW"}, {GrantKind::kLease, "RH"},
    {GrantKind::kLease, "R"},   {GrantKind::kLease, ""},   {GrantKind::kOplock, "RWH"},
    {GrantKind::kOplock, "RW"}, {GrantKind::kOplock, "R"},
};
template <class Of>
std::string row(Of of) {
  std::string line;
  for (const Held& held : kColumns)
    line += (line.empty() ? "" : " ") + text(of(held.kind, caching(held.state)));
  return line;
}

TEST(Caching, WhatOpensTakeAway) {
  using Reach = OpenReach;
  const auto open = [](Reach reach, bool replaces) {
    return row([=](GrantKind kind, Caching held) { return on_open(kind, held, reach, replaces); });
  };
  //                                           leases: RWH RW RH R -; oplocks: batch exclusive II
  EXPECT_EQ(open(Reach::kAttributes, false), "RWH RW RH R - RWH RW R");
  EXPECT_EQ(open(Reach::kSecurity, false), "RWH RW RH R - R! R! R");
  EXPECT_EQ(open(Reach::kContent, false), "RH! R! RH R - R! R! R");
  EXPECT_EQ(open(Reach::kContent, true), "-! -! - - - -! -! -");
  EXPECT_EQ(open(Reach::kAttributes, true), "-! -! - - - -! -! -");
  EXPECT_EQ(row(on_sharing_conflict), "RW! RW R! R - R! RW R");
}

TEST(Caching, WhatHandlesTakeAway) {
  const auto after = [](HandleUse use) {
    return row([=](GrantKind kind, Caching held) { return on_use(kind, held, use); });
  };
  EXPECT_EQ(after(HandleUse::kWrite), "-! -! - - - -! -! -");
  EXPECT_EQ(after(HandleUse::kMove), "RW! RW R! R - R! RW R");
}

// As documented under "Managing file locks".
TEST(Caching, WhatOperationsOfRestTakeAway) {
  const auto after = [](FileOperation operation) {
    return row([=](GrantKind kind, Caching held) { return on_operation(kind, held, operation); });
  };
  for (const auto operation :
       {FileOperation::kGetFile, FileOperation::kGetFileProperties, FileOperation::kGetFileMetadata,
        FileOperation::kListRanges, FileOperation::kLeaseFile})
    EXPECT_EQ(after(operation), "RH! R! RH R - R! R! R");
  for (const auto operation : {FileOperation::kPutRange, FileOperation::kSetFileProperties,
                               FileOperation::kSetFileMetadata, FileOperation::kCreateFile})
    EXPECT_EQ(after(operation), "-! -! - - - -! -! -");
  for (const auto operation : {FileOperation::kDeleteFile, FileOperation::kRenameFile})
    EXPECT_EQ(after(operation), "RW! RW R! R - R! RW R");
  EXPECT_EQ(after(FileOperation::kListFiles), "RWH RW RH R - RWH RW R");
}

TEST(Caching, WhoReadsFromMemoryHasNothingToBringBack) {
  for (const char* state : {"RWH", "RW", "RH"}) EXPECT_TRUE(must_acknowledge(caching(state)));
  for (const char* state : {"R", ""}) EXPECT_FALSE(must_acknowledge(caching(state)));
}

TEST(Caching, WhatIsGranted) {
  struct Row {
    GrantKind kind;
    const char* wanted;
    Beside beside;
    const char* granted;
  };
  constexpr auto kLease = GrantKind::kLease;
  constexpr auto kOplock = GrantKind::kOplock;
  const Row rows[] = {
      // Alone.
      {kLease, "RWH", {}, "RWH"},
      {kLease, "RW", {}, "RW"},
      {kLease, "RH", {}, "RH"},
      {kLease, "R", {}, "R"},
      {kLease, "W", {}, "-"},
      {kLease, "H", {}, "-"},
      {kLease, "WH", {}, "-"},
      {kLease, "", {}, "-"},
      {kOplock, "RWH", {}, "RWH"},
      {kOplock, "RW", {}, "RW"},
      {kOplock, "R", {}, "R"},
      // Beside opens that cache nothing, or only under leases.
      {kLease, "RWH", {.opens = true}, "RH"},
      {kLease, "RW", {.opens = true}, "R"},
      {kLease, "RH", {.opens = true, .handle_leases = true}, "RH"},
      {kOplock, "RWH", {.opens = true}, "R"},
      {kOplock, "RW", {.opens = true}, "R"},
      {kOplock, "R", {.opens = true}, "R"},
      {kOplock, "RWH", {.opens = true, .handle_leases = true}, "-"},
      {kOplock, "R", {.opens = true, .handle_leases = true}, "-"},
      // Beside oplocks.
      {kLease, "RWH", {.opens = true, .oplocks = true}, "R"},
      {kLease, "RH", {.opens = true, .oplocks = true}, "R"},
      {kOplock, "RWH", {.opens = true, .oplocks = true}, "R"},
      // Who reads from memory does not see locks.
      {kOplock, "RWH", {.opens = true, .writing = true}, "-"},
      {kLease, "R", {.opens = true, .writing = true}, "-"},
      {kLease, "RWH", {.range_locks = true}, "-"},
      {kOplock, "R", {.range_locks = true}, "-"},
  };
  for (const Row& each : rows)
    EXPECT_EQ(text(grantable(each.kind, caching(each.wanted), each.beside)), each.granted)
        << &each - rows;
}

TEST(Caching, LeasesGrowAsAWholeAndNeverShrink) {
  // What is held, wanted, could be granted, and is held then.
  const char* rows[][4] = {
      {"", "RWH", "RWH", "RWH"}, {"R", "RH", "RH", "RH"},     {"R", "RW", "RW", "RW"},
      {"RH", "RW", "RW", "RH"},  {"RH", "RWH", "RWH", "RWH"}, {"RWH", "R", "R", "RWH"},
      {"RW", "RH", "RH", "RW"},  {"RH", "", "", "RH"},        {"R", "RWH", "RH", "R"},
      {"", "RW", "R", ""},
  };
  for (const auto& each : rows)
    EXPECT_EQ(text(upgraded(caching(each[0]), caching(each[1]), caching(each[2]))),
              text(caching(each[3])))
        << each[0];
}

}  // namespace
}  // namespace kyanite::concurrency
