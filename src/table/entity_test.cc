#include "table/entity.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace kyanite::table {
namespace {

std::string list(std::initializer_list<Property> properties) {
  std::string out;
  for (const Property& property : properties) append_property(out, property);
  return out;
}

TEST(Entity, EveryTypeIsFoundAgain) {
  const std::string guid(16, 'g');
  const std::string properties =
      list({{"s", Value::of_string("text")},
            {"i", Value::of_number(Edm::kInt32, std::numeric_limits<int32_t>::min())},
            {"l", Value::of_number(Edm::kInt64, std::numeric_limits<int64_t>::min())},
            {"d", Value::of_real(-0.25)},
            {"b", Value::of_number(Edm::kBoolean, 1)},
            {"t", Value::of_time(Time{kUnixEpochTicks})},
            {"g", Value::of_bytes(Edm::kGuid, guid)},
            {"x", Value::of_bytes(Edm::kBinary, std::string_view("\0\xff", 2))},
            {"empty", Value::of_string("")}});
  const std::string record = encode_entity(Time{77}, properties);
  EXPECT_TRUE(is_well_formed(record));
  const auto entity = decode_entity("pk", "rk", record);
  ASSERT_TRUE(entity);
  EXPECT_EQ(entity->timestamp.ticks, 77);
  EXPECT_EQ(entity->find("s")->bytes, "text");
  EXPECT_EQ(entity->find("i")->number, std::numeric_limits<int32_t>::min());
  EXPECT_EQ(entity->find("l")->number, std::numeric_limits<int64_t>::min());
  EXPECT_EQ(entity->find("d")->real, -0.25);
  EXPECT_EQ(entity->find("b")->number, 1);
  EXPECT_EQ(entity->find("t")->number, kUnixEpochTicks);
  EXPECT_EQ(entity->find("g")->bytes, guid);
  EXPECT_EQ(entity->find("x")->bytes, std::string_view("\0\xff", 2));
  EXPECT_EQ(entity->find("empty")->bytes, "");
  EXPECT_EQ(entity->find("PartitionKey")->bytes, "pk");
  EXPECT_EQ(entity->find("RowKey")->bytes, "rk");
  EXPECT_EQ(entity->find("Timestamp")->number, 77);
  EXPECT_FALSE(entity->find("S")) << "names are case-sensitive";
  EXPECT_EQ(count_properties(properties), 9U);
}

TEST(Entity, DamageIsNoticed) {
  const std::string record =
      encode_entity(Time{77}, list({{"name", Value::of_string("text")}, {"n", Value::of_real(1)}}));
  for (size_t length = 3; length < record.size(); ++length) {
    const std::string cut = record.substr(0, length);
    // Cut between two properties it is a shorter entity; everywhere else it must be noticed.
    const auto entity = decode_entity("p", "r", cut);
    const bool at_end_of_property = entity && cut.size() == record.size() - 12;
    EXPECT_EQ(is_well_formed(cut), at_end_of_property || cut.size() == 2) << length;
  }
  EXPECT_FALSE(decode_entity("p", "r", ""));
  EXPECT_FALSE(decode_entity("p", "r", "\x02\x01"));
  EXPECT_FALSE(is_well_formed(std::string("\x01\x01\x01n\x09\x01x", 7))) << "unknown type";
  EXPECT_FALSE(is_well_formed(std::string("\x01\x01\x01n\x07\x01x", 7))) << "a short guid";
}

TEST(Entity, MergeReplacesInPlaceAndAddsBehind) {
  const std::string before = list({{"a", Value::of_string("1")}, {"b", Value::of_string("2")}});
  const std::string change =
      list({{"c", Value::of_string("3")}, {"a", Value::of_number(Edm::kInt32, 9)}});
  const std::string merged = list({{"a", Value::of_number(Edm::kInt32, 9)},
                                   {"b", Value::of_string("2")},
                                   {"c", Value::of_string("3")}});
  EXPECT_EQ(merge_properties(before, change), merged);
  EXPECT_EQ(merge_properties(before, ""), before);
  EXPECT_EQ(merge_properties("", change), change);
}

TEST(Entity, SizeCountsUtf16) {
  EXPECT_EQ(entity_size("", "", ""), 4U);
  EXPECT_EQ(entity_size("ab", "\xc3\xa9", ""), 4U + 6U);
  EXPECT_EQ(entity_size("", "", list({{"ab", Value::of_string("xyz")}})), 4U + 8U + 4U + 6U + 4U);
  EXPECT_EQ(entity_size("", "", list({{"a", Value::of_number(Edm::kBoolean, 1)}})), 4U + 8U + 3U);
}

TEST(Entity, TagIsTheTimestamp) {
  EXPECT_EQ(entity_tag(*parse_date_time("2022-05-06T00:44:28.820498Z")),
            "W/\"datetime'2022-05-06T00%3A44%3A28.820498Z'\"");
}

}  // namespace
}  // namespace kyanite::table
