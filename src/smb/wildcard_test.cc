#include "smb/wildcard.h"

#include <gtest/gtest.h>

#include <chrono>

namespace kyanite::smb {
namespace {

bool matches(std::string_view pattern, std::string_view name) {
  const auto wildcard = Wildcard::parse(pattern);
  return wildcard && wildcard->matches(name);
}

struct Row {
  std::string_view pattern;
  std::vector<std::string_view> yes;
  std::vector<std::string_view> no;
};

TEST(Wildcard, MatchesByTheTable) {
  for (const Row& row : {
           Row{"*", {"a", "a.b", ".", "..", "x.y.z"}, {}},
           Row{"*.*", {"a", "a.b", ".hidden", "x.y.z"}, {}},
           Row{"A", {"A"}, {"AA", "B", ""}},
           Row{"*.TXT", {"A.TXT", ".TXT", "A.B.TXT", "A.TXT.TXT"}, {"A.TXTX", "TXT", "A.TX"}},
           Row{"A*", {"A", "AB", "A.B"}, {"B", "BA"}},
           Row{"*A*B*", {"AB", "XAXBX", "AAB", "ABB"}, {"BA", "A", "B"}},
           Row{"*AB*ABC", {"ABABC", "XABXABABC"}, {"ABC", "ABCAB"}},
           Row{"?", {"A", ".", "\xC3\x89", "\xF0\x9F\x98\x80"}, {"", "AB"}},
           Row{"A?C", {"ABC", "A.C"}, {"AC", "ABBC"}},
           Row{"??", {"AB"}, {"A", "ABC"}},
           Row{"*?", {"A", "AB"}, {}},
           // DOS_STAR: not beyond the last dot.
           Row{"<", {"A", "ABC", "A."}, {"A.B", "A.B.C"}},
           Row{"<.TXT", {"A.TXT", "A.B.TXT", ".TXT"}, {"TXT", "A.TXT.X", "A.TXTX"}},
           Row{"A<.B", {"A.B", "AX.B", "AX.Y.B"}, {"A.B.C", "B.B"}},
           Row{"<.", {"A.", "A.B."}, {"A", "A.B"}},
           Row{"<\"<", {"A.B", "A.B.C", "A", ".A"}, {}},
           Row{"<\"*", {"A.B", "A.B.C", "A", "A."}, {}},
           // DOS_QM: one character, or none before a dot and at the end.
           Row{">", {"A", ""}, {"AB", "A.B", "."}},
           Row{">>>", {"A", "AB", "ABC"}, {"ABCD", "A.B"}},
           Row{">>>.TXT", {"A.TXT", "AB.TXT", "ABC.TXT", ".TXT"}, {"ABCD.TXT", "A.TX"}},
           Row{"A>B", {"AXB"}, {"AB", "A.B", "AXXB"}},
           Row{"A>.>", {"A.", "AX.", "AX.Y", "A.Y"}, {"A", "AXX.Y", "A.YY"}},
           // DOS_DOT: a dot, or the end.
           Row{"A\"", {"A", "A."}, {"AB", "A.."}},
           Row{"A\"B", {"A.B"}, {"AB", "A"}},
           Row{">>>\">>>", {"A", "A.B", "ABC.DEF"}, {"ABCD", "A.BCDE", "A.B.C"}},
           Row{"*\"", {"A", "A.", "A.B"}, {}},
       }) {
    for (const auto name : row.yes)
      EXPECT_TRUE(matches(row.pattern, name)) << row.pattern << " " << name;
    for (const auto name : row.no)
      EXPECT_FALSE(matches(row.pattern, name)) << row.pattern << " " << name;
  }
}

TEST(Wildcard, OfManyCharactersIsCostly) {
  const std::string name(100, 'A');
  for (const std::string& pattern :
       {std::string("*"), std::string("*.*"), std::string("*A?.TXT"), name})
    EXPECT_FALSE(Wildcard::parse(pattern)->is_costly()) << pattern;
  EXPECT_TRUE(Wildcard::parse(name + "*")->is_costly());
}

TEST(Wildcard, IsComparedAsItIs) {
  EXPECT_FALSE(matches("a*", "ABC")) << "both are given in folded form";
  EXPECT_TRUE(matches("*\xC3\x89", "CAF\xC3\x89"));
  EXPECT_FALSE(matches("*\xC3\x89", "CAF\xC3\x88"));
}

TEST(Wildcard, KnowsWhetherItIsOneName) {
  EXPECT_FALSE(Wildcard::parse("A.TXT")->is_pattern());
  for (const auto pattern : {"*", "A?", "<.A", "A>", "A\""})
    EXPECT_TRUE(Wildcard::parse(pattern)->is_pattern());
}

TEST(Wildcard, HasLimits) {
  EXPECT_FALSE(Wildcard::parse(""));
  EXPECT_TRUE(Wildcard::parse(std::string(Wildcard::kMaxCharacters, '>')));
  EXPECT_FALSE(Wildcard::parse(std::string(Wildcard::kMaxCharacters + 1, '>')));
  // Stars in a row are one.
  EXPECT_TRUE(matches(std::string(4000, '*') + "A", "BA"));
}

// A matcher that tries and goes back would be at this until the sun has burnt out.
TEST(Wildcard, TakesBoundedTimeWhateverThePattern) {
  std::string pattern;
  while (pattern.size() + 3 < Wildcard::kMaxCharacters) pattern += "*A<";
  const std::string name(255, 'A');
  const auto began = std::chrono::steady_clock::now();
  for (int i = 0; i < 100; ++i) EXPECT_FALSE(matches(pattern + "B", name));
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(10));
}

}  // namespace
}  // namespace kyanite::smb
