#include "table/names.h"

#include <gtest/gtest.h>

#include "wire/query.h"

namespace kyanite::table {
namespace {

std::string_view verdict(const wire::Result<void>& result) {
  return result ? "" : wire::name(result.error().code);
}

TEST(Names, OfTables) {
  struct Case {
    std::string name;
    std::string_view code;
  };
  for (const Case& c : std::initializer_list<Case>{{"abc", ""},
                                                   {"A1b", ""},
                                                   {std::string(63, 'a'), ""},
                                                   {"ab", "OutOfRangeInput"},
                                                   {"", "OutOfRangeInput"},
                                                   {std::string(64, 'a'), "OutOfRangeInput"},
                                                   {"1ab", "InvalidResourceName"},
                                                   {"a_b", "InvalidResourceName"},
                                                   {"my-table", "InvalidResourceName"},
                                                   {"Tables", "InvalidResourceName"}}) {
    EXPECT_EQ(verdict(check_table_name(c.name)), c.code) << c.name;
  }
}

TEST(Names, Keys) {
  const std::string longest(kMaxKeyLength, 'k');
  for (const std::string& good :
       {std::string(), std::string("a b'c\"%+&=@"), longest, std::string("\xc2\xa0\xc3\xa9")})
    EXPECT_EQ(verdict(check_key("RowKey", good)), "") << good;
  for (const std::string& bad :
       {std::string("a/b"), std::string("a\\b"), std::string("a#b"), std::string("a?b"),
        std::string("a\tb"), std::string("a\x7f"), std::string("a\xc2\x80z"),
        std::string("a\xc2\x9f"), std::string("a\0b", 3), longest + "k", std::string("\xff")}) {
    EXPECT_EQ(verdict(check_key("RowKey", bad)), "OutOfRangeInput") << bad;
  }
}

TEST(Names, OfProperties) {
  for (const std::string& good : {std::string("a"), std::string("_x1"),
                                  std::string("\xc3\xa9t\xc3\xa9"), std::string(255, 'n')})
    EXPECT_EQ(verdict(check_property_name(good)), "") << good;
  for (const std::string& bad : {std::string(), std::string("1a"), std::string("a-b"),
                                 std::string("a b"), std::string("a.b"), std::string("a@b")})
    EXPECT_EQ(verdict(check_property_name(bad)), "PropertyNameInvalid") << bad;
  EXPECT_EQ(verdict(check_property_name(std::string(256, 'n'))), "PropertyNameTooLong");
}

TEST(Names, PathsOfEntitiesReadBack) {
  struct Keys {
    std::string_view partition, row;
  };
  for (const Keys& keys : std::initializer_list<Keys>{
           {"a", "b"}, {"", ""}, {"it's", "''"}, {"a,RowKey='x'", ")("}, {"\xc3\xa9 +%", "="}}) {
    const auto decoded = wire::percent_decode(entity_path("People", keys.partition, keys.row));
    ASSERT_TRUE(decoded);
    const auto path = parse_resource_path(*decoded);
    ASSERT_TRUE(path) << *decoded;
    EXPECT_EQ(path->table, "People");
    EXPECT_EQ(path->keys->partition, keys.partition);
    EXPECT_EQ(path->keys->row, keys.row);
  }
  EXPECT_EQ(parse_resource_path("T(RowKey='r', PartitionKey='p')")->keys->partition, "p");
  EXPECT_FALSE(parse_resource_path("T()")->keys);
  EXPECT_FALSE(parse_resource_path("T")->keys);
}

TEST(Names, MalformedPaths) {
  for (const std::string_view path :
       {"T(", "T(x)", "T(PartitionKey='a')", "T(PartitionKey='a',RowKey='b'",
        "T(PartitionKey='a',RowKey='b)", "T(PartitionKey='a',PartitionKey='b')",
        "T(PartitionKey='a',RowKey='b',X='c')", "T(PartitionKey=a,RowKey=b)", "T/x"})
    EXPECT_FALSE(parse_resource_path(path)) << path;
  EXPECT_EQ(parse_tables_path("Tables('a')"), "a");
  for (const std::string_view path :
       {"Tables", "Tables()", "Tables(a)", "Tables('a'", "Tables('a')x"})
    EXPECT_FALSE(parse_tables_path(path)) << path;
}

}  // namespace
}  // namespace kyanite::table
