#include "table/value.h"

#include <gtest/gtest.h>

#include <limits>

namespace kyanite::table {
namespace {

TEST(Value, ComparesWithinATypeAndAcrossNumbers) {
  const Value small = Value::of_number(Edm::kInt32, 5);
  const Value large = Value::of_number(Edm::kInt64, 9'007'199'254'740'993);  // 2^53 + 1
  const Value real = Value::of_real(9'007'199'254'740'992.0);
  struct Case {
    Value a, b;
    std::partial_ordering order;
  };
  const auto unordered = std::partial_ordering::unordered;
  for (const Case& c : std::initializer_list<Case>{
           {small, Value::of_number(Edm::kInt64, 5), std::partial_ordering::equivalent},
           {small, Value::of_real(5.5), std::partial_ordering::less},
           {large, real, std::partial_ordering::greater},  // Differs only beyond double precision.
           {small, Value::of_real(std::numeric_limits<double>::quiet_NaN()), unordered},
           {small, Value::of_string("5"), unordered},
           {small, Value::of_number(Edm::kBoolean, 1), unordered},
           {Value::of_string("B"), Value::of_string("a"), std::partial_ordering::less},
           {Value::of_string("a"), Value::of_string("a "), std::partial_ordering::less},
           {Value::of_bytes(Edm::kBinary, "\xff"), Value::of_bytes(Edm::kBinary, "\x01"),
            std::partial_ordering::greater},
           {Value::of_bytes(Edm::kBinary, "a"), Value::of_string("a"), unordered},
           {Value::of_number(Edm::kBoolean, 0), Value::of_number(Edm::kBoolean, 1),
            std::partial_ordering::less}}) {
    EXPECT_TRUE(compare(c.a, c.b) == c.order);
  }
}

TEST(Value, TypesHaveNames) {
  for (const Edm type : {Edm::kString, Edm::kInt32, Edm::kInt64, Edm::kDouble, Edm::kBoolean,
                         Edm::kDateTime, Edm::kGuid, Edm::kBinary}) {
    EXPECT_EQ(parse_edm(name(type)), type);
  }
  for (const std::string_view text : {"", "Edm.Int16", "edm.string", "String"})
    EXPECT_FALSE(parse_edm(text)) << text;
}

TEST(Value, DatesOfTheServicesRange) {
  struct Case {
    std::string_view in;
    std::string_view out;  // "": refused
  };
  for (const Case& c :
       std::initializer_list<Case>{{"2022-05-06T00:44:28.8204980Z", "2022-05-06T00:44:28.820498Z"},
                                   {"1973-10-04T00:00:00.000000Z", "1973-10-04T00:00:00Z"},
                                   {"2008-07-10T00:00:00", "2008-07-10T00:00:00Z"},
                                   {"2008-07-10T02:00:00+02:00", "2008-07-10T00:00:00Z"},
                                   {"1601-01-01T00:00:00Z", "1601-01-01T00:00:00Z"},
                                   {"9999-12-31T23:59:59.9999999Z", "9999-12-31T23:59:59.9999999Z"},
                                   {"1600-12-31T23:59:59.9999999Z", ""},
                                   {"10000-01-01T00:00:00Z", ""},
                                   {"2022-02-30T00:00:00Z", ""},
                                   {"yesterday", ""},
                                   {"", ""}}) {
    const auto time = parse_date_time(c.in);
    EXPECT_EQ(time ? date_time_text(*time).str() : "", c.out) << c.in;
  }
}

TEST(Value, GuidsAndDoubles) {
  const auto guid = parse_guid_bytes("C9DA6455-213D-42C9-9A79-3E9149A57833");
  ASSERT_TRUE(guid);
  EXPECT_EQ(guid->size(), 16U);
  EXPECT_EQ(guid_text(*guid), "c9da6455-213d-42c9-9a79-3e9149a57833");
  EXPECT_FALSE(parse_guid_bytes("c9da6455"));
  EXPECT_EQ(parse_double("-1.5e3"), -1500.0);
  EXPECT_EQ(parse_double("INF"), std::numeric_limits<double>::infinity());
  for (const std::string_view text : {"", "x", "1.5.2", "1 ", "0x10", "nan(1)"})
    EXPECT_FALSE(parse_double(text)) << text;
}

}  // namespace
}  // namespace kyanite::table
