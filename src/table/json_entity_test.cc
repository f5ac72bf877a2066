#include "table/json_entity.h"

#include <gtest/gtest.h>

namespace kyanite::table {
namespace {

// The document of an entity with these properties, as a client that asked for `metadata` gets it.
std::string written(const EntityInput& input, Metadata metadata,
                    std::optional<std::vector<std::string_view>> select = {}) {
  const std::string record =
      encode_entity(*parse_date_time("2022-05-06T00:44:28.82Z"), input.properties);
  const auto entity = decode_entity("p", "r'", record);
  std::string out;
  wire::JsonWriter json(out);
  json.begin_object();
  write_entity(json,
               {metadata, "http://h/acct/", "acct", "People",
                select ? std::optional(Columns(*select)) : std::nullopt},
               *entity);
  json.end_object();
  return out;
}

constexpr std::string_view kAllTypes =
    R"({"odata.etag":"x","PartitionKey":"pk","PartitionKey@odata.type":"Edm.String","RowKey":"rk",)"
    R"("Timestamp":"ignored","s":"text","i":-5,"big":3000000000,"d":2.5,"whole@odata.type":"Edm.Double",)"
    R"("whole":5,"l":"9007199254740993","l@odata.type":"Edm.Int64","b":true,"bs":"FALSE",)"
    R"("bs@odata.type":"Edm.Boolean","t":"1973-10-04T00:00:00.000000Z","t@odata.type":"Edm.DateTime",)"
    R"("g":"C9DA6455-213D-42C9-9A79-3E9149A57833","g@odata.type":"Edm.Guid","x":"AQI=",)"
    R"("x@odata.type":"Edm.Binary","n":"NaN","n@odata.type":"Edm.Double","gone":null})";

TEST(JsonEntity, AllTypesAtTheThreeLevels) {
  const auto input = parse_entity(kAllTypes);
  ASSERT_TRUE(input);
  EXPECT_EQ(input->partition, "pk");
  EXPECT_EQ(input->row, "rk");
  EXPECT_EQ(
      written(*input, Metadata::kNone),
      R"({"PartitionKey":"p","RowKey":"r'","Timestamp":"2022-05-06T00:44:28.82Z","s":"text","i":-5,)"
      R"("big":3000000000.0,"d":2.5,"whole":5.0,"l":"9007199254740993","b":true,"bs":false,)"
      R"("t":"1973-10-04T00:00:00Z","g":"c9da6455-213d-42c9-9a79-3e9149a57833","x":"AQI=","n":"NaN"})");
  EXPECT_EQ(
      written(*input, Metadata::kMinimal),
      R"({"odata.etag":"W/\"datetime'2022-05-06T00%3A44%3A28.82Z'\"","PartitionKey":"p","RowKey":"r'",)"
      R"("Timestamp":"2022-05-06T00:44:28.82Z","s":"text","i":-5,"big":3000000000.0,"d":2.5,"whole":5.0,)"
      R"("l@odata.type":"Edm.Int64","l":"9007199254740993","b":true,"bs":false,)"
      R"("t@odata.type":"Edm.DateTime","t":"1973-10-04T00:00:00Z","g@odata.type":"Edm.Guid",)"
      R"("g":"c9da6455-213d-42c9-9a79-3e9149a57833","x@odata.type":"Edm.Binary","x":"AQI=",)"
      R"("n@odata.type":"Edm.Double","n":"NaN"})");
  const std::string full = written(*input, Metadata::kFull);
  const std::string_view begin =
      "{\"odata.type\":\"acct.People\","
      "\"odata.id\":\"http://h/acct/People(PartitionKey='p',RowKey='r''')\","
      "\"odata.etag\":\"W/\\\"datetime'2022-05-06T00%3A44%3A28.82Z'\\\"\","
      "\"odata.editLink\":\"People(PartitionKey='p',RowKey='r''')\",\"PartitionKey\":\"p\",";
  EXPECT_EQ(std::string_view(full).substr(0, begin.size()), begin);
  EXPECT_NE(full.find(R"("Timestamp@odata.type":"Edm.DateTime")"), std::string::npos);
}

TEST(JsonEntity, SelectedPropertiesAndMissingOnes) {
  const auto input = parse_entity(R"({"a":1,"b":"x"})");
  ASSERT_TRUE(input);
  EXPECT_EQ(written(*input, Metadata::kNone, {{"b", "nothing", "RowKey"}}),
            R"({"b":"x","nothing":null,"RowKey":"r'"})");
}

TEST(JsonEntity, Refusals) {
  struct Case {
    std::string json;
    std::string_view code;
  };
  const auto many = [](size_t count) {
    std::string json = "{\"PartitionKey\":\"p\",\"RowKey\":\"r\",\"Timestamp\":\"t\"";
    for (size_t i = 0; i < count; ++i) json += ",\"p" + std::to_string(i) + "\":1";
    return json + "}";
  };
  const auto text = [](size_t length) { return "{\"s\":\"" + std::string(length, 'x') + "\"}"; };
  const auto binary = [](size_t quads) {
    return "{\"x@odata.type\":\"Edm.Binary\",\"x\":\"" + std::string(quads * 4, 'A') + "\"}";
  };
  std::string deep;
  for (int i = 0; i < 100'000; ++i) deep += "{\"a\":";
  for (const Case& c : std::initializer_list<Case>{
           {"{}", ""},
           {many(252), ""},
           {many(253), "TooManyProperties"},
           {many(10'000), "TooManyProperties"},
           {text(32 * 1024), ""},
           {text(32 * 1024 + 1), "PropertyValueTooLarge"},
           {binary(64 * 1024 / 3), ""},
           {binary(64 * 1024 / 3 + 2), "PropertyValueTooLarge"},
           {"", "InvalidInput"},
           {"[]", "InvalidInput"},
           {"{\"a\":1", "InvalidInput"},
           {"{\"a\":1}{", "InvalidInput"},
           {"{\"a\":[1]}", "InvalidInput"},
           {"{\"a\":{\"b\":1}}", "InvalidInput"},
           {deep, "InvalidInput"},
           {"{\"a\":\"\xff\"}", "InvalidInput"},
           {R"({"a":1,"a":2})", "DuplicatePropertiesSpecified"},
           {R"({"a-b":1})", "PropertyNameInvalid"},
           {"{\"" + std::string(256, 'n') + "\":1}", "PropertyNameTooLong"},
           {R"({"PartitionKey":5})", "InvalidInput"},
           {R"({"a":"x","a@odata.type":"Edm.Nothing"})", "InvalidInput"},
           {R"({"a":"x","a@odata.type":7})", "InvalidInput"},
           {R"({"a":"x","a@odata.type":"Edm.Boolean"})", "InvalidInput"},
           {R"({"a":5,"a@odata.type":"Edm.String"})", "InvalidInput"},
           {R"({"a":true,"a@odata.type":"Edm.String"})", "InvalidInput"},
           {R"({"a":3000000000,"a@odata.type":"Edm.Int32"})", "InvalidInput"},
           {R"({"a":1.5,"a@odata.type":"Edm.Int32"})", "InvalidInput"},
           {R"({"a":"9223372036854775808","a@odata.type":"Edm.Int64"})", "InvalidInput"},
           {R"({"a":"1600-01-01","a@odata.type":"Edm.DateTime"})", "InvalidInput"},
           {R"({"a":"xyz","a@odata.type":"Edm.Guid"})", "InvalidInput"},
           {R"({"a":"*","a@odata.type":"Edm.Binary"})", "InvalidInput"}}) {
    const auto input = parse_entity(c.json);
    EXPECT_EQ(input ? "" : wire::name(input.error().code), c.code) << c.json.substr(0, 80);
  }
}

TEST(JsonEntity, TableNames) {
  EXPECT_EQ(*parse_table_name(R"({"odata.type":"x","TableName":"People"})"), "People");
  for (const std::string_view json : {"", "{}", R"({"TableName":5})", R"(["TableName"])"})
    EXPECT_FALSE(parse_table_name(json)) << json;
}

}  // namespace
}  // namespace kyanite::table
