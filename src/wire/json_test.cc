#include "wire/json.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace kyanite::wire {
namespace {

TEST(JsonWriter, NestsAndSeparates) {
  std::string out;
  JsonWriter json(out);
  json.begin_object().member("a", "x").key("list").begin_array();
  json.integer(1).integer(-2).begin_object().end_object().boolean(true).null().end_array();
  json.key("b", "@odata.type").string("Edm.Int64").end_object();
  EXPECT_EQ(out, R"({"a":"x","list":[1,-2,{},true,null],"b@odata.type":"Edm.Int64"})");
}

TEST(JsonWriter, EscapesWhatMustBe) {
  std::string out;
  append_json_text(out, std::string_view("a\"b\\c\n\r\t\x01\x1f/\xc3\xa9\0z", 15));
  EXPECT_EQ(out, "a\\\"b\\\\c\\n\\r\\t\\u0001\\u001f/\xc3\xa9\\u0000z");
}

TEST(JsonWriter, EscapesWhereverItStands) {
  for (size_t before = 0; before < 40; ++before) {
    for (size_t after : {0, 1, 15, 16, 17}) {
      const std::string front(before, 'a'), back(after, '\xc3');
      std::string out;
      append_json_text(out, front + '\n' + back + '"');
      EXPECT_EQ(out, front + "\\n" + back + "\\\"");
    }
  }
}

TEST(JsonWriter, DoublesReadBackAsDoubles) {
  struct Case {
    double value;
    std::string_view text;
  };
  for (const Case& c :
       std::initializer_list<Case>{{5, "5.0"},
                                   {0, "0.0"},
                                   {-0.0, "-0.0"},
                                   {3.1, "3.1"},
                                   {3e9, "3000000000.0"},
                                   {1e15, "1e+15"},
                                   {1e300, "1e+300"},
                                   {-0.00001, "-0.00001"},
                                   {0.1 + 0.2, "0.30000000000000004"},
                                   {std::numeric_limits<double>::quiet_NaN(), "\"NaN\""},
                                   {std::numeric_limits<double>::infinity(), "\"Infinity\""},
                                   {-std::numeric_limits<double>::infinity(), "\"-Infinity\""}}) {
    std::string out;
    JsonWriter(out).number(c.value);
    EXPECT_EQ(out, c.text);
  }
}

}  // namespace
}  // namespace kyanite::wire
