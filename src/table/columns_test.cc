#include "table/columns.h"

#include <gtest/gtest.h>

#include "table/filter.h"

namespace kyanite::table {
namespace {

std::string encode(std::initializer_list<Property> properties) {
  std::string encoded;
  for (const auto& property : properties) append_property(encoded, property);
  return encoded;
}

TEST(Columns, HaveOneNumberAName) {
  Columns columns;
  EXPECT_EQ(columns.add("a"), 0u);
  EXPECT_EQ(columns.add("b"), 1u);
  EXPECT_EQ(columns.add("a"), 0u);
  EXPECT_EQ(columns.add("A"), 2u);
  EXPECT_EQ(columns.names(), (std::vector<std::string>{"a", "b", "A"}));
  const Columns copied = columns;
  EXPECT_EQ(copied.names(), columns.names());
}

TEST(Columns, AreFilledFromEachEntity) {
  const Columns columns({"b", "RowKey", "none", "Timestamp", "a", "PartitionKey"});
  const std::string both = encode({{"a", Value::of_number(Edm::kInt32, 1)},
                                   {"unasked", Value::of_number(Edm::kInt32, 7)},
                                   {"b", Value::of_string("text")}});
  Row row;
  columns.load({"p", "r", Time{5}, both}, row);
  ASSERT_EQ(row.size(), 6u);
  EXPECT_EQ(row[0]->bytes, "text");
  EXPECT_EQ(row[1]->bytes, "r");
  EXPECT_FALSE(row[2]);
  EXPECT_EQ(row[3]->number, 5);
  EXPECT_EQ(row[4]->number, 1);
  EXPECT_EQ(row[5]->bytes, "p");
  // Nothing is left of the entity before.
  const std::string less = encode({{"a", Value::of_number(Edm::kInt32, 2)}});
  columns.load({"q", "s", Time{6}, less}, row);
  EXPECT_FALSE(row[0]);
  EXPECT_EQ(row[1]->bytes, "s");
  EXPECT_EQ(row[4]->number, 2);
}

// A property that is stored under a name of the system's is not taken for it.
TEST(Columns, OfTheSystemAreItsOwn) {
  const Columns columns({"RowKey"});
  Row row;
  columns.load({"p", "r", Time{5}, encode({{"RowKey", Value::of_string("other")}})}, row);
  EXPECT_EQ(row[0]->bytes, "r");
}

TEST(Columns, OfAFilterAreAsManyAsItHasNames) {
  std::string text = "p0 eq 999";
  for (int i = 1; i < 1000; ++i) text += " or p" + std::to_string(i % 250) + " eq 999";
  const auto filter = Filter::parse(text);
  ASSERT_TRUE(filter.ok());
  EXPECT_EQ(filter->columns().names().size(), 250u);
  std::string properties;
  for (int i = 0; i < 250; ++i) {
    const std::string name = "p" + std::to_string(i);
    append_property(properties, {name, Value::of_number(Edm::kInt32, i == 249 ? 999 : i)});
  }
  Row row;
  filter->columns().load({"p", "r", Time{5}, properties}, row);
  EXPECT_TRUE(filter->matches(row));
  row[249].reset();
  EXPECT_FALSE(filter->matches(row));
}

}  // namespace
}  // namespace kyanite::table
