#include "table/filter.h"

#include <gtest/gtest.h>

#include "table/entity.h"

namespace kyanite::table {
namespace {

// The row that filters are asked about.
class FilterTest : public testing::Test {
 protected:
  FilterTest() {
    guid_ = *parse_guid_bytes("c9da6455-213d-42c9-9a79-3e9149a57833");
    for (const Property& property : std::initializer_list<Property>{
             {"Age", Value::of_number(Edm::kInt32, 39)},
             {"Long", Value::of_number(Edm::kInt64, 9'007'199'254'740'993)},
             {"Ratio", Value::of_real(3.5)},
             {"Name", Value::of_string("it's")},
             {"Active", Value::of_number(Edm::kBoolean, 1)},
             {"Idle", Value::of_number(Edm::kBoolean, 0)},
             {"Born", Value::of_time(*parse_date_time("1973-10-04T00:00:00.5Z"))},
             {"Id", Value::of_bytes(Edm::kGuid, guid_)},
             {"Raw", Value::of_bytes(Edm::kBinary, "binary")}}) {
      append_property(properties_, property);
    }
    entity_ = {"p", "r", *parse_date_time("2022-05-06T00:44:28Z"), properties_};
  }

  bool matches(const Filter& filter) const {
    Row row;
    filter.columns().load(entity_, row);
    return filter.matches(row);
  }

  std::string guid_;
  std::string properties_;
  Entity entity_;
};

TEST_F(FilterTest, Matches) {
  struct Case {
    std::string_view text;
    bool matches;
  };
  for (const Case& c :
       std::initializer_list<Case>{{"Age eq 39", true},
                                   {"Age ne 39", false},
                                   {"Age gt 38 and Age lt 40", true},
                                   {"Age ge 40 or Age le 39", true},
                                   {"39 eq Age", true},
                                   {"40 lt Age", false},
                                   {"38 lt Age", true},
                                   {"Age eq 39L", true},
                                   {"Age lt 39.5", true},
                                   {"Age eq -39", false},
                                   {"Long eq 9007199254740993L", true},
                                   {"Long eq 9007199254740992L", false},
                                   {"Long gt 9007199254740992.0", true},
                                   {"Ratio lt 4.1", true},
                                   {"Ratio eq 3.5d", true},
                                   {"Ratio gt 35e-1", false},
                                   {"Ratio lt INF and Ratio gt -INF", true},
                                   {"Ratio eq NaN or Ratio ne NaN", false},
                                   {"Name eq 'it''s'", true},
                                   {"Name ge 'it' and Name lt 'iu'", true},
                                   {"Name eq 'IT''S'", false},
                                   {"name eq 'it''s'", false},
                                   {"Active eq true", true},
                                   {"true eq Active", true},
                                   {"Active", true},
                                   {"not Active", false},
                                   {"Idle eq false and not Idle", true},
                                   {"Born eq datetime'1973-10-04T00:00:00.5Z'", true},
                                   {"Born gt datetime'1973-10-04T00:00:00.4999999Z'", true},
                                   {"Id eq guid'C9DA6455-213D-42C9-9A79-3E9149A57833'", true},
                                   {"Raw eq X'62696e617279' and Raw eq binary'62696E617279'", true},
                                   {"Raw lt X'63'", true},
                                   {"PartitionKey eq 'p' and RowKey eq 'r'", true},
                                   {"Timestamp ge datetime'2022-05-06T00:44:28Z'", true},
                                   // Types that do not compare, and properties that are not there.
                                   {"Age eq '39'", false},
                                   {"Age ne '39'", false},
                                   {"Active eq 'true'", false},
                                   {"Born gt '1970'", false},
                                   {"Nothing eq 1", false},
                                   {"Nothing ne 1", false},
                                   {"not (Nothing eq 1)", true},
                                   // not binds more than and, and more than or.
                                   {"Age eq 39 or Age eq 1 and Age eq 2", true},
                                   {"(Age eq 39 or Age eq 1) and Age eq 2", false},
                                   {"not Age eq 1 and Age eq 2", false},
                                   {"not (Age eq 1 and Age eq 2)", true},
                                   {"not not Active", true},
                                   {"true", true},
                                   {"false or Active", true},
                                   {"\t( Age   eq 39 )  ", true}}) {
    const auto filter = Filter::parse(c.text);
    ASSERT_TRUE(filter) << c.text;
    EXPECT_EQ(matches(*filter), c.matches) << c.text;
  }
}

TEST_F(FilterTest, Malformed) {
  for (const std::string_view text : {"",
                                      " ",
                                      "eq",
                                      "Age eq",
                                      "Age eq 39 and",
                                      "and Age eq 39",
                                      "Age = 39",
                                      "Age eq 'x",
                                      "(Age eq 39",
                                      "Age eq 39)",
                                      "Age eq 39 Age eq 40",
                                      "Age eq Name",
                                      "1 eq 1",
                                      "5",
                                      "'x'",
                                      "Age eq 39x",
                                      "Age eq 1.2.3",
                                      "Age eq datetime'x'",
                                      "Age eq guid'x'",
                                      "Age eq X'6'",
                                      "Age eq time'1'",
                                      "Age eq 9223372036854775808L",
                                      "not",
                                      "()",
                                      "Age eq 39 or or Age eq 1",
                                      "Age eq (39)",
                                      "Age add 1 eq 2",
                                      "\xff eq",
                                      "Name eq '\xff'"}) {
    const auto filter = Filter::parse(text);
    ASSERT_FALSE(filter) << text;
    EXPECT_EQ(filter.error().code, wire::Code::kInvalidInput);
  }
  EXPECT_EQ(Filter::parse("aaa bbb ccc").error().message,
            "Syntax error at position 7 in 'aaa bbb ccc'.");
}

TEST_F(FilterTest, LimitsOfDepthAndLength) {
  const auto nested = [](size_t depth) {
    return std::string(depth - 1, '(') + "Age eq 39" + std::string(depth - 1, ')');
  };
  EXPECT_TRUE(Filter::parse(nested(Filter::kMaxDepth)));
  EXPECT_FALSE(Filter::parse(nested(Filter::kMaxDepth + 1)));
  EXPECT_FALSE(Filter::parse(nested(1'000'000)));
  const auto chained = [](size_t comparisons) {
    std::string text = "Age eq 39";
    for (size_t i = 1; i < comparisons; ++i) text += " or Age eq 1";
    return text;
  };
  EXPECT_TRUE(Filter::parse(chained(Filter::kMaxNodes - 1)));
  EXPECT_FALSE(Filter::parse(chained(Filter::kMaxNodes)));
}

}  // namespace
}  // namespace kyanite::table
