#include "concurrency/preconditions.h"

#include <gtest/gtest.h>

#include <string>

namespace kyanite::concurrency {
namespace {

// The target was last changed 0.5 s into a second.
constexpr int64_t kSecond = 63'800'000'000;
constexpr Time kChanged{kSecond * kTicksPerSecond + kTicksPerSecond / 2};
constexpr Target kExisting{true, kChanged, false, false};
constexpr Target kMissing{};
constexpr const char* kOtherTag = "\"0x1\"";

std::string current_tag() { return ETag{kChanged}.quoted().str(); }
Time date(int64_t seconds_after_change) {
  return Time{(kSecond + seconds_after_change) * kTicksPerSecond};
}

Conditions parse(std::optional<std::string> if_match, std::optional<std::string> if_none_match,
                 std::optional<Time> modified = {}, std::optional<Time> unmodified = {}) {
  auto conditions = parse_conditions(if_match, if_none_match, modified, unmodified, false);
  CHECK(conditions.ok());
  return *conditions;
}

// Both steps, as a service takes them.
Verdict decide(Operation operation, const Conditions& conditions, const Target& target,
               ConditionSet accepts = kAcceptsAll) {
  Decision checked = check_headers(operation, accepts, conditions);
  if (!checked.proceeds()) return checked.verdict;
  return evaluate(operation, accepts, conditions, target).verdict;
}

// P proceed, N 304, F 412, E 409 exists, ? 404, M 400 multiple, U 400 unsatisfiable, S 400 not
// supported.
char letter(Verdict verdict) {
  switch (verdict) {
    case Verdict::kProceed:
      return 'P';
    case Verdict::kNotModified:
      return 'N';
    case Verdict::kConditionNotMet:
      return 'F';
    case Verdict::kAlreadyExists:
      return 'E';
    case Verdict::kTargetMissing:
      return '?';
    case Verdict::kMultipleNotSupported:
      return 'M';
    case Verdict::kUnsatisfiable:
      return 'U';
    case Verdict::kNotSupported:
      return 'S';
  }
  return '!';
}

// A header is absent (-), sent and holding (+), or sent and failing (x).
Conditions mix(char match, char unmodified, char none_match, char modified) {
  std::optional<std::string> im, inm;
  std::optional<Time> ims, ius;
  if (match != '-') im = match == '+' ? current_tag() : kOtherTag;
  if (none_match != '-') inm = none_match == '+' ? kOtherTag : current_tag();
  if (modified != '-') ims = date(modified == '+' ? -10 : 10);
  if (unmodified != '-') ius = date(unmodified == '+' ? 10 : -10);
  return parse(im, inm, ims, ius);
}

// Every mix of the four headers. Columns: If-None-Match and If-Modified-Since. Rows: If-Match and
// If-Unmodified-Since.
constexpr const char* kColumns[9] = {"--", "-+", "-x", "+-", "++", "+x", "x-", "x+", "xx"};
struct MixRow {
  const char* guards;
  const char* verdicts;
};

void expect_mixes(Operation operation, const MixRow (&rows)[9]) {
  for (const MixRow& row : rows) {
    for (int column = 0; column < 9; ++column) {
      const char* validators = kColumns[column];
      Conditions conditions = mix(row.guards[0], row.guards[1], validators[0], validators[1]);
      EXPECT_EQ(letter(decide(operation, conditions, kExisting)), row.verdicts[column])
          << "If-Match and If-Unmodified-Since " << row.guards
          << ", If-None-Match and If-Modified-Since " << validators;
    }
  }
}

TEST(Preconditions, ReadsTakeAnyMix) {
  expect_mixes(Operation::kRead, {
                                     {"--", "PPNPPPNPN"},
                                     {"-+", "PPNPPPNPN"},
                                     {"-x", "FFFFFFFFF"},
                                     {"+-", "PPNPPPNPN"},
                                     {"++", "PPNPPPNPN"},
                                     {"+x", "FFFFFFFFF"},
                                     {"x-", "FFFFFFFFF"},
                                     {"x+", "FFFFFFFFF"},
                                     {"xx", "FFFFFFFFF"},
                                 });
}

TEST(Preconditions, WritesTakeOneHeaderOrATagWithItsDate) {
  for (Operation operation : {Operation::kUpdate, Operation::kCreate}) {
    expect_mixes(operation, {
                                {"--", "PPFPPPFFF"},
                                {"-+", "PMMMMMMMM"},
                                {"-x", "FMMMMMMMM"},
                                {"+-", "PMMMMMMMM"},
                                {"++", "PMMMMMMMM"},
                                {"+x", "PMMMMMMMM"},
                                {"x-", "FMMMMMMMM"},
                                {"x+", "FMMMMMMMM"},
                                {"xx", "FMMMMMMMM"},
                            });
  }
}

TEST(Preconditions, OldReadsMixAsWritesDo) {
  expect_mixes(Operation::kReadBefore2013, {
                                               {"--", "PPNPPPNNN"},
                                               {"-+", "PMMMMMMMM"},
                                               {"-x", "FMMMMMMMM"},
                                               {"+-", "PMMMMMMMM"},
                                               {"++", "PMMMMMMMM"},
                                               {"+x", "PMMMMMMMM"},
                                               {"x-", "FMMMMMMMM"},
                                               {"x+", "FMMMMMMMM"},
                                               {"xx", "FMMMMMMMM"},
                                           });
}

TEST(Preconditions, NameTheHeaderThatFailed) {
  struct Row {
    Conditions conditions;
    Condition unmet;
    Verdict read, write;
  };
  const Row rows[] = {
      {mix('x', '-', '-', '-'), Condition::kIfMatch, Verdict::kConditionNotMet,
       Verdict::kConditionNotMet},
      {mix('-', 'x', '-', '-'), Condition::kIfUnmodifiedSince, Verdict::kConditionNotMet,
       Verdict::kConditionNotMet},
      {mix('-', '-', 'x', '-'), Condition::kIfNoneMatch, Verdict::kNotModified,
       Verdict::kConditionNotMet},
      {mix('-', '-', '-', 'x'), Condition::kIfModifiedSince, Verdict::kNotModified,
       Verdict::kConditionNotMet},
      {mix('-', '-', '-', '-'), Condition::kNone, Verdict::kProceed, Verdict::kProceed},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(evaluate(Operation::kRead, kAcceptsAll, row.conditions, kExisting),
              (Decision{row.read, row.unmet}));
    for (Operation write : {Operation::kUpdate, Operation::kCreate}) {
      EXPECT_EQ(evaluate(write, kAcceptsAll, row.conditions, kExisting),
                (Decision{row.write, row.unmet}));
    }
  }
}

TEST(Preconditions, DatesCompareAtWholeSeconds) {
  struct Row {
    const char* what;
    Time date;
    bool modified_since;
  };
  const Row rows[] = {
      {"Last-Modified itself", date(0), false},
      {"within the same second, before the change", Time{kChanged.ticks - 1}, false},
      {"last tick of the same second", Time{date(1).ticks - 1}, false},
      {"last tick of the second before", Time{date(0).ticks - 1}, true},
      {"a second before", date(-1), true},
      {"a second after", date(1), false},
  };
  for (const Row& row : rows) {
    Conditions modified = parse({}, {}, row.date, {});
    Conditions unmodified = parse({}, {}, {}, row.date);
    EXPECT_EQ(decide(Operation::kRead, modified, kExisting) == Verdict::kProceed,
              row.modified_since)
        << row.what;
    EXPECT_EQ(decide(Operation::kUpdate, unmodified, kExisting) == Verdict::kProceed,
              !row.modified_since)
        << row.what;
  }
}

TEST(Preconditions, WildcardsAskAboutExistence) {
  struct Row {
    Operation operation;
    const char* if_match;
    const char* if_none_match;
    char existing, missing;
  };
  const Row rows[] = {
      {Operation::kCreate, nullptr, "*", 'E', 'P'},
      {Operation::kCreate, "*", nullptr, 'P', 'F'},
      {Operation::kUpdate, nullptr, "*", 'F', '?'},
      {Operation::kUpdate, "*", nullptr, 'P', '?'},
      {Operation::kRead, nullptr, "*", 'U', 'U'},
      {Operation::kRead, "*", nullptr, 'P', '?'},
      {Operation::kReadBefore2013, nullptr, "*", 'U', 'U'},
      {Operation::kReadBefore2013, "*", nullptr, 'P', '?'},
  };
  for (const Row& row : rows) {
    std::optional<std::string> im, inm;
    if (row.if_match) im = row.if_match;
    if (row.if_none_match) inm = row.if_none_match;
    Conditions conditions = parse(im, inm);
    auto what = "operation " + std::to_string(static_cast<int>(row.operation)) +
                (row.if_match ? " If-Match" : " If-None-Match");
    EXPECT_EQ(letter(decide(row.operation, conditions, kExisting)), row.existing) << what;
    EXPECT_EQ(letter(decide(row.operation, conditions, kMissing)), row.missing) << what;
  }
}

TEST(Preconditions, TheHolderOfTheLeaseMayReplaceInSpiteOfTheWildcard) {
  Target held = kExisting;
  held.lease_held = true;
  EXPECT_EQ(decide(Operation::kCreate, parse({}, "*"), held), Verdict::kProceed);
  EXPECT_EQ(decide(Operation::kCreate, parse({}, current_tag()), held), Verdict::kConditionNotMet);
  EXPECT_EQ(decide(Operation::kUpdate, parse({}, "*"), held), Verdict::kConditionNotMet);
}

TEST(Preconditions, MissingTargets) {
  struct Row {
    const char* what;
    Conditions conditions;
    char create;
  };
  const Row rows[] = {
      {"nothing", parse({}, {}), 'P'},
      {"If-Match", parse(current_tag(), {}), 'F'},
      {"If-Match with its date", parse(current_tag(), {}, {}, date(0)), 'F'},
      {"If-None-Match", parse({}, current_tag()), 'P'},
      {"If-Modified-Since", parse({}, {}, date(10), {}), 'P'},
      {"If-Unmodified-Since", parse({}, {}, {}, date(-10)), 'P'},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(letter(decide(Operation::kCreate, row.conditions, kMissing)), row.create) << row.what;
    for (Operation other : {Operation::kRead, Operation::kReadBefore2013, Operation::kUpdate}) {
      EXPECT_EQ(letter(decide(other, row.conditions, kMissing)), '?') << row.what;
    }
  }
}

// What is no object yet, but has a date.
TEST(Preconditions, TargetsWithADateAlone) {
  const Target begun{.exists = false, .changed = kExisting.changed};
  struct Row {
    const char* what;
    Conditions conditions;
    char create;
  };
  const Row rows[] = {
      {"nothing", parse({}, {}), 'P'},
      {"If-Match", parse(current_tag(), {}), 'F'},
      {"If-Match: *", parse("*", {}), 'F'},
      {"If-None-Match", parse({}, current_tag()), 'P'},
      {"If-None-Match: *", parse({}, "*"), 'P'},
      {"If-Modified-Since, unmodified", parse({}, {}, date(10), {}), 'F'},
      {"If-Modified-Since, modified", parse({}, {}, date(-10), {}), 'P'},
      {"If-Unmodified-Since, unmodified", parse({}, {}, {}, date(10)), 'P'},
      {"If-Unmodified-Since, modified", parse({}, {}, {}, date(-10)), 'F'},
  };
  for (const Row& row : rows)
    EXPECT_EQ(letter(decide(Operation::kCreate, row.conditions, begun)), row.create) << row.what;
}

TEST(Preconditions, ListsAreForReads) {
  const std::string with_current = std::string(kOtherTag) + ", " + current_tag();
  const std::string without_current = std::string(kOtherTag) + ", \"0x2\"";
  struct Row {
    Conditions conditions;
    char read;
  };
  const Row rows[] = {
      {parse(with_current, {}), 'P'},
      {parse(without_current, {}), 'F'},
      {parse({}, with_current), 'N'},
      {parse({}, without_current), 'P'},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(letter(decide(Operation::kRead, row.conditions, kExisting)), row.read);
    for (Operation other : {Operation::kReadBefore2013, Operation::kUpdate, Operation::kCreate}) {
      EXPECT_EQ(letter(decide(other, row.conditions, kExisting)), 'M');
    }
  }
}

TEST(Preconditions, WeakTagsMatchOnlyIfNoneMatch) {
  const std::string weak = "W/" + current_tag();
  EXPECT_EQ(decide(Operation::kUpdate, parse(weak, {}), kExisting), Verdict::kConditionNotMet);
  EXPECT_EQ(decide(Operation::kRead, parse({}, weak), kExisting), Verdict::kNotModified);
}

TEST(Preconditions, TagsAreOneMoreCondition) {
  for (Operation operation :
       {Operation::kRead, Operation::kReadBefore2013, Operation::kUpdate, Operation::kCreate}) {
    for (bool tags_match : {false, true}) {
      Target target = kExisting;
      target.tags_match = tags_match;
      Conditions alone = parse({}, {});
      alone.if_tags = true;
      Conditions with_match = parse(current_tag(), {});
      with_match.if_tags = true;
      for (const Conditions& conditions : {alone, with_match}) {
        EXPECT_TRUE(check_headers(operation, kAcceptsAll, conditions).proceeds());
        Decision expected =
            tags_match ? Decision{} : Decision{Verdict::kConditionNotMet, Condition::kIfTags};
        EXPECT_EQ(evaluate(operation, kAcceptsAll, conditions, target), expected);
      }
      Conditions failing_match = parse(kOtherTag, {});
      failing_match.if_tags = true;
      EXPECT_EQ(decide(operation, failing_match, target), Verdict::kConditionNotMet);
    }
  }
}

TEST(Preconditions, HeadersOutsideTheOperationsSetAreRefusedOrPassedOver) {
  struct Row {
    const char* what;
    ConditionSet accepts;
    Conditions conditions;
    char read, write;
  };
  Conditions tags = parse({}, {});
  tags.if_tags = true;
  const Row rows[] = {
      {"If-Match, none taken", kAcceptsNone, mix('+', '-', '-', '-'), 'S', 'S'},
      {"If-Unmodified-Since, none taken", kAcceptsNone, mix('-', '+', '-', '-'), 'S', 'S'},
      {"If-None-Match, none taken", kAcceptsNone, mix('-', '-', 'x', '-'), 'P', 'S'},
      {"If-Modified-Since, none taken", kAcceptsNone, mix('-', '-', '-', 'x'), 'P', 'S'},
      {"If-None-Match: *, none taken", kAcceptsNone, parse({}, "*"), 'P', 'S'},
      {"tags, none taken", kAcceptsNone, tags, 'S', 'S'},
      {"If-Match, dates taken", kAcceptsDates, mix('+', '-', '-', '-'), 'S', 'S'},
      {"failing date, dates taken", kAcceptsDates, mix('-', 'x', '-', '-'), 'F', 'F'},
      {"holding date, dates taken", kAcceptsDates, mix('-', '-', '-', '+'), 'P', 'P'},
      {"other date", kAcceptsModifiedSince, mix('-', '+', '-', '-'), 'S', 'S'},
      {"its date", kAcceptsModifiedSince, mix('-', '-', '-', 'x'), 'N', 'F'},
      {"nothing", kAcceptsNone, parse({}, {}), 'P', 'P'},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(letter(decide(Operation::kRead, row.conditions, kExisting, row.accepts)), row.read)
        << row.what;
    EXPECT_EQ(letter(decide(Operation::kUpdate, row.conditions, kExisting, row.accepts)), row.write)
        << row.what;
  }
}

TEST(Preconditions, MalformedTagsAreNamed) {
  auto bad_match = parse_conditions("\"x", {}, {}, {}, false);
  ASSERT_FALSE(bad_match.ok());
  EXPECT_EQ(bad_match.error(), Condition::kIfMatch);
  auto bad_none_match = parse_conditions(current_tag(), "", {}, {}, false);
  ASSERT_FALSE(bad_none_match.ok());
  EXPECT_EQ(bad_none_match.error(), Condition::kIfNoneMatch);
}

TEST(Preconditions, PresentNamesTheHeadersSent) {
  auto all = parse_conditions("*", "\"x\"", date(0), date(0), true);
  ASSERT_TRUE(all.ok());
  EXPECT_EQ(all->present(), kAcceptsAll);
  EXPECT_EQ(Conditions{}.present(), kAcceptsNone);
}

}  // namespace
}  // namespace kyanite::concurrency
