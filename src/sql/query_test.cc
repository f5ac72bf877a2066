// Whole queries: what comes out of data for a statement, frame by frame where it matters.
#include "sql/query.h"

#include <gtest/gtest.h>

#include "sql/limits.h"
#include "sql/test_support.h"

namespace kyanite::sql {
namespace {

using Frame = FrameReader::Frame;
using Strings = std::vector<std::string>;

constexpr std::string_view kNumbers = "100,200,300\n400,500,600\n";
constexpr std::string_view kPeople =
    "name,age,\"home town\"\r\nAda,36,London\r\nGrace,85,\"New York, NY\"\r\nLinus,56\r\n";

Formats with_headers() { return {.input = DelimitedFormat{.headers = true}}; }
Formats json_to_json() { return {.input = JsonFormat{}, .output = JsonFormat{}}; }

TEST(Query, FramesComeInTheirOrder) {
  const auto ran = run("SELECT * FROM BlobStorage", kNumbers);
  ASSERT_EQ(ran.frames.size(), 3u);
  EXPECT_EQ(ran.frames[0].kind, Frame::kData);
  EXPECT_EQ(ran.frames[0].data, kNumbers);
  EXPECT_EQ(ran.frames[1].kind, Frame::kProgress);
  EXPECT_EQ(ran.frames[1].numbers[0], 24);
  EXPECT_EQ(ran.frames[1].numbers[1], 24);
  EXPECT_EQ(ran.frames[2].kind, Frame::kEnd);
  EXPECT_EQ(ran.frames[2].numbers[0], 24);
}

TEST(Query, AnEmptyResultIsADataFrame) {
  for (const auto data : {kNumbers, std::string_view()}) {
    const auto ran = run("select _2 from BlobStorage where _1 > 1000", data);
    ASSERT_EQ(ran.frames.size(), 3u);
    EXPECT_EQ(ran.frames[0].kind, Frame::kData);
    EXPECT_EQ(ran.frames[0].data, "");
  }
}

TEST(Query, AHeaderAloneIsAResultToo) {
  const Formats named{.input = JsonFormat{}, .output = DelimitedFormat{.headers = true}};
  const auto ran = run("SELECT * FROM BlobStorage", "1,2", named);
  ASSERT_EQ(ran.frames.size(), 4u);
  EXPECT_EQ(ran.frames[0].data, "\n");
  EXPECT_EQ(ran.frames[1].kind, Frame::kError);
  EXPECT_EQ(run("SELECT a FROM BlobStorage", "{\"a\":1}", named).data, "a\n1\n");
}

TEST(Query, RowsOfCsv) {
  const struct {
    std::string_view statement;
    std::string_view data;
  } kCases[] = {
      {"SELECT * FROM BlobStorage", kNumbers},
      {"select * from blobstorage[*];", kNumbers},
      {"SELECT _2 FROM BlobStorage WHERE _1 > 250;", "500\n"},
      {"SELECT _3, _1 FROM BlobStorage LIMIT 1", "300,100\n"},
      {"SELECT _1 FROM BlobStorage LIMIT 0", ""},
      {"SELECT _1 + _2, 'x' FROM BlobStorage", "300,x\n900,x\n"},
      {"SELECT COUNT(*) FROM BlobStorage", "2\n"},
      {"SELECT COUNT(_1) FROM BlobStorage WHERE _2 = '200'", "1\n"},
      {"SELECT SUM(_1) FROM BlobStorage", "500\n"},
      {"SELECT SUM(CAST(_1 AS FLOAT) / 3) FROM BlobStorage WHERE _1 = 100", "33.333333333333336\n"},
      {"SELECT AVG(_1) FROM BlobStorage", "250\n"},
      {"SELECT AVERAGE(_1) FROM BlobStorage WHERE _1 > 1000", "\n"},
      {"SELECT MIN(_3) FROM BlobStorage", "300\n"},
      {"SELECT MAX(CAST(_3 AS INT)) FROM BlobStorage", "600\n"},
  };
  for (const auto& test : kCases) {
    const auto ran = run(test.statement, kNumbers);
    EXPECT_EQ(ran.refused, "") << test.statement;
    EXPECT_EQ(ran.data, test.data) << test.statement;
    EXPECT_EQ(ran.errors, Strings()) << test.statement;
  }
}

TEST(Query, ColumnsAreKnownByTheirHeader) {
  const struct {
    std::string_view statement;
    std::string_view data;
  } kCases[] = {
      {"SELECT NAME FROM BlobStorage", "Ada\nGrace\nLinus\n"},
      {"SELECT \"home town\" FROM BlobStorage WHERE age > 40 AND age < 86 AND name LIKE 'G%'",
       "\"New York, NY\"\n"},
      {"SELECT _1 FROM BlobStorage WHERE age BETWEEN 50 AND 60", "Linus\n"},
      {"SELECT COUNT(*) FROM BlobStorage", "3\n"},
  };
  for (const auto& test : kCases)
    EXPECT_EQ(run(test.statement, kPeople, with_headers()).data, test.data) << test.statement;
}

TEST(Query, WhatCannotBeIsRefused) {
  const struct {
    std::string_view statement;
    std::string_view reason;
    Formats formats = {};
  } kCases[] = {
      {"SELECT name FROM BlobStorage", "Column names can be used only if 'hasHeader' is set"},
      {"SELECT title FROM BlobStorage", "The header row has no column 'title'.", with_headers()},
      {"SELECT \"NAME\" FROM BlobStorage", "The header row has no column 'NAME'.", with_headers()},
      {"SELECT _1.x FROM BlobStorage", "Paths within a column are for JSON only."},
      {"SELECT _1 FROM BlobStorage[*].x", "A path behind BlobStorage is for JSON only."},
      {"SELECT sys.split(10485760) FROM BlobStorage", "sys.split is for CSV data only.",
       json_to_json()},
  };
  for (const auto& test : kCases) {
    const auto ran = run(test.statement, kPeople, test.formats);
    EXPECT_NE(ran.refused.find(test.reason), std::string::npos)
        << test.statement << ": " << ran.refused;
  }
  EXPECT_NE(run("SELECT name FROM BlobStorage", "", with_headers()).refused, "");
  EXPECT_EQ(run("SELECT _1 FROM BlobStorage", "", with_headers()).refused, "");
}

TEST(Query, RowsWithoutTheColumnAreReportedAndLeftOut) {
  const auto ran = run("SELECT \"home town\" FROM BlobStorage", kPeople, with_headers());
  EXPECT_EQ(ran.data, "London\n\"New York, NY\"\n");
  EXPECT_EQ(ran.errors,
            Strings{"InvalidColumnOrdinal at " + std::to_string(kPeople.find("Linus"))});
}

TEST(Query, RowsThatCannotBeConvertedAreReportedAndLeftOut) {
  const auto ran = run("select _2 from BlobStorage where _2 > 100", "1,200\n2,hello\n3,\n4,50\n");
  EXPECT_EQ(ran.data, "200\n");
  EXPECT_EQ(ran.errors, (Strings{"InvalidTypeConversion at 6", "InvalidTypeConversion at 14"}));
  // Rows come before the errors of others, and both before the end.
  ASSERT_EQ(ran.frames.size(), 5u);
  EXPECT_EQ(ran.frames[1].error.description, "Invalid type conversion.");
  EXPECT_EQ(ran.frames[4].kind, Frame::kEnd);
}

TEST(Query, OutputFormats) {
  const Formats semicolons{
      .output = DelimitedFormat{";", "|", '\'', '\\', true},
  };
  EXPECT_EQ(run("SELECT _1 AS one, _2 FROM BlobStorage", "a;b,c|d\n'e',f\\g\n", semicolons).data,
            "one;_2|'a;b';'c|d'|'\\'e\\'';'f\\\\g'|");
  Formats both = with_headers();
  both.output = DelimitedFormat{.headers = true};
  const auto ran = run("SELECT * FROM BlobStorage LIMIT 1", kPeople, both);
  ASSERT_GE(ran.frames.size(), 2u);
  EXPECT_EQ(ran.frames[0].data, "name,age,home town\n");
  EXPECT_EQ(ran.frames[1].data, "Ada,36,London\n");
  // Without a header there are no names for all columns.
  EXPECT_EQ(run("SELECT * FROM BlobStorage LIMIT 1", kNumbers,
                {.output = DelimitedFormat{.headers = true}})
                .data,
            "100,200,300\n");
}

TEST(Query, CsvToJson) {
  const Formats plain{.output = JsonFormat{}};
  EXPECT_EQ(run("SELECT _2, _1 AS first FROM BlobStorage LIMIT 1", kNumbers, plain).data,
            "{\"_1\":\"200\",\"first\":\"100\"}\n");
  Formats named = with_headers();
  named.output = JsonFormat{";"};
  EXPECT_EQ(run("SELECT *  FROM BlobStorage WHERE _2 < 40", kPeople, named).data,
            "{\"name\":\"Ada\",\"age\":\"36\",\"home town\":\"London\"};");
  EXPECT_EQ(
      run("SELECT NAME, CAST(age AS INT), _2 = 36, NULL, CAST('2026' AS TIMESTAMP) "
          "FROM BlobStorage LIMIT 1",
          kPeople, named)
          .data,
      "{\"name\":\"Ada\",\"_2\":36,\"_3\":true,\"_4\":null,\"_5\":\"2026-01-01T00:00:00Z\"};");
}

constexpr std::string_view kGoods = R"({"id": 1, "name": "mouse", "price": 12.5,
  "tags": ["wireless", "accessory"], "dimensions": {"length": 3, "width": 2},
  "warehouses": [{"latitude": 41.8, "longitude": -87.6}, {"latitude": 10}]}
{"id":2,"name":null,"price":1e2,"tags":[]})";

TEST(Query, Json) {
  const struct {
    std::string_view statement;
    std::string_view data;
  } kCases[] = {
      {"SELECT name FROM BlobStorage", "{\"name\":\"mouse\"}\n{\"name\":null}\n"},
      {"SELECT warehouses[0].longitude, ID, tags[1] FROM BlobStorage[*]",
       "{\"longitude\":-87.6,\"ID\":1,\"_3\":\"accessory\"}\n{\"ID\":2}\n"},
      {"SELECT latitude FROM BlobStorage[*].warehouses[*]",
       "{\"latitude\":41.8}\n{\"latitude\":10}\n"},
      {"SELECT length FROM BlobStorage[*].dimensions", "{\"length\":3}\n"},
      {"SELECT * FROM BlobStorage[*].tags[*]", "{\"_1\":\"wireless\"}\n{\"_1\":\"accessory\"}\n"},
      {"SELECT id FROM BlobStorage WHERE name IS NULL", "{\"id\":2}\n"},
      {"SELECT id FROM BlobStorage WHERE dimensions IS MISSING", "{\"id\":2}\n"},
      {"SELECT id FROM BlobStorage WHERE dimensions.length = 3", "{\"id\":1}\n"},
      {"SELECT SUM(price) FROM BlobStorage", "{\"_1\":112.5}\n"},
      {"SELECT tags, dimensions FROM BlobStorage WHERE id = 1",
       "{\"tags\":[\"wireless\",\"accessory\"],\"dimensions\":{\"length\":3,\"width\":2}}\n"},
  };
  for (const auto& test : kCases) {
    const auto ran = run(test.statement, kGoods, json_to_json());
    EXPECT_EQ(ran.refused, "") << test.statement;
    EXPECT_EQ(ran.data, test.data) << test.statement;
    EXPECT_EQ(ran.errors, Strings()) << test.statement;
  }
  EXPECT_EQ(run("SELECT * FROM BlobStorage WHERE id = 2", kGoods, json_to_json()).data,
            "{\"id\":2,\"name\":null,\"price\":100,\"tags\":[]}\n");
}

TEST(Query, JsonRecordsAreObjectsOrTheElementsOfAnArray) {
  const Formats csv{.input = JsonFormat{}};
  EXPECT_EQ(run("SELECT a FROM BlobStorage", R"( [{"a":1}, {"a":2}] )", csv).data, "1\n2\n");
  EXPECT_EQ(run("SELECT a FROM BlobStorage", R"({"a":1}{"a":2})", csv).data, "1\n2\n");
  EXPECT_EQ(
      run("SELECT a FROM BlobStorage", R"({"a":1};{"a":2};)", {.input = JsonFormat{";"}}).data,
      "1\n2\n");
  EXPECT_EQ(run("SELECT COUNT(*) FROM BlobStorage", "", csv).data, "0\n");
  EXPECT_EQ(run("SELECT a FROM BlobStorage", R"({"b":1})", csv).data, "\n");
}

TEST(Query, BrokenJsonEndsTheQuery) {
  const struct {
    std::string_view data;
    std::string_view rows;
    std::string_view error;
    std::string_view description;
  } kCases[] = {
      {"100,200", "", "fatal ParseError at 0",
       "Unexpected token ',' at [byte: 3]. Expecting tokens '{', or '['. "},
      {"{name: 1}", "", "fatal ParseError at 0",
       "Unexpected token 'n' at [byte: 1]. Expecting token '\"'. "},
      {"{\"a\":1}\n{\"a\" 2}", "1\n", "fatal ParseError at 8",
       "Unexpected token '2' at [byte: 13]. Expecting token ':'. "},
      {"{\"a\":1", "", "fatal ParseError at 0", "The data ends within a JSON value."},
      {"[{\"a\":1} {\"a\":2}]", "1\n", "fatal ParseError at 9",
       "Unexpected token '{' at [byte: 9]. Expecting tokens ',', or ']'. "},
      {"{\"a\":\xff}", "", "fatal ParseError at 0",
       "Unexpected token '\\xff' at [byte: 5]. Expecting tokens '{', '[', '\"', '-', '0-9', "
       "'true', 'false', or 'null'. "},
  };
  for (const auto& test : kCases) {
    const auto ran = run("SELECT a FROM BlobStorage", test.data, {.input = JsonFormat{}});
    EXPECT_EQ(ran.data, test.rows) << test.data;
    ASSERT_EQ(ran.errors.size(), 1u) << test.data;
    EXPECT_EQ(ran.errors[0], test.error) << test.data;
    for (const auto& frame : ran.frames) {
      if (frame.kind != Frame::kError) continue;
      EXPECT_EQ(frame.error.description, test.description);
    }
    EXPECT_EQ(ran.frames.back().kind, Frame::kEnd);
  }
  // An aggregate of a part of the data would be wrong.
  EXPECT_EQ(run("SELECT COUNT(*) FROM BlobStorage", "{}{", {.input = JsonFormat{}}).data, "");
}

// However the input is cut, the result is the same.
TEST(Query, PiecesDoNotMatter) {
  const std::string csv = "\xef\xbb\xbf" + std::string(kPeople) + "x,\"1\"\"2\r\n3\",z\r\n,,";
  const Formats crlf{.input =
                         DelimitedFormat{.column_separator = "||", .record_separator = "\r\n"}};
  for (const size_t piece : {1u, 2u, 3u, 5u, 7u, 64u}) {
    Formats formats = with_headers();
    const auto whole = run("SELECT * FROM BlobStorage", csv, formats);
    EXPECT_EQ(whole.data,
              "Ada,36,London\nGrace,85,\"New York, NY\"\nLinus,56\nx,\"1\"\"2\r\n3\",z\n,,\n");
    formats.piece = piece;
    EXPECT_EQ(run("SELECT * FROM BlobStorage", csv, formats).data, whole.data);
    EXPECT_EQ(run("SELECT name FROM BlobStorage LIMIT 1", csv, formats).data, "Ada\n");
    Formats split = crlf;
    split.piece = piece;
    EXPECT_EQ(run("SELECT _2 FROM BlobStorage", "a|b||c\rd\r\ne||\r\n", split).data, "c\rd\n\n");
    Formats json = json_to_json();
    const auto goods = run("SELECT * FROM BlobStorage", kGoods, json);
    json.piece = piece;
    EXPECT_EQ(run("SELECT * FROM BlobStorage", kGoods, json).data, goods.data);
  }
}

TEST(Query, SplitsOfCsv) {
  // A part ends with the record that reaches the size.
  std::string data;
  const std::string line = std::string(1023, 'x') + "\n";
  for (int i = 0; i < 24 * 1024; ++i) data += line;
  const auto ran = run("SELECT sys.split(10485761) FROM BlobStorage", data);
  EXPECT_EQ(ran.data, "10486784\n10486784\n4192256\n");
  EXPECT_EQ(run("SELECT sys.split(10485760) FROM BlobStorage", "").data, "");
}

TEST(Query, OutputIsBoundedAndProgressIsReported) {
  std::string data;
  const std::string line = std::string(1000, 'x') + ",1\n";
  while (data.size() < 10 << 20) data += line;
  const auto ran = run("SELECT _1,_1,_1,_1 FROM BlobStorage", data);
  EXPECT_EQ(ran.data.size(), data.size() / line.size() * 4004);
  EXPECT_LE(ran.largest_output, 4 * kFrameBytes);
  const auto progress = std::count_if(ran.frames.begin(), ran.frames.end(), [](const auto& frame) {
    return frame.kind == Frame::kProgress;
  });
  EXPECT_EQ(progress, 3);
}

TEST(Query, LimitsOfRecords) {
  const std::string long_field(kMaxRecordBytes + 1, 'x');
  EXPECT_EQ(run("SELECT * FROM BlobStorage", "a\n" + long_field).errors,
            Strings{"fatal RecordTooLarge at 2"});
  EXPECT_EQ(run("SELECT * FROM BlobStorage", std::string(kMaxRecordFields + 1, ',')).errors,
            Strings{"fatal RecordTooLarge at 0"});
  EXPECT_EQ(run("SELECT x FROM BlobStorage", long_field, with_headers()).errors,
            Strings{"fatal RecordTooLarge at 0"});
  const Formats json{.input = JsonFormat{}};
  std::string deep(kMaxJsonDepth + 2, '[');
  EXPECT_EQ(run("SELECT * FROM BlobStorage", "{\"a\":" + deep, json).errors,
            Strings{"fatal ParseError at 0"});
  std::string many = "{\"a\":[0";
  for (size_t i = 0; i < kMaxJsonValues; ++i) many += ",0";
  EXPECT_EQ(run("SELECT * FROM BlobStorage", many + "]}", json).errors,
            Strings{"fatal RecordTooLarge at 0"});
  // A row may have every column many times.
  std::string statement = "SELECT _1";
  for (int i = 0; i < 8; ++i) statement += ",_1";
  EXPECT_EQ(run(statement + " FROM BlobStorage", long_field.substr(1, 1000000)).errors,
            Strings{"fatal RecordTooLarge at 0"});
}

TEST(Query, CostlyRowsEndTheQuery) {
  const std::string text(500000, 'a');
  const auto ran =
      run("SELECT * FROM BlobStorage WHERE _1 LIKE '%" + std::string(1000, 'a') + "b'", text);
  EXPECT_EQ(ran.errors, Strings{"fatal QueryTooComplex at 0"});
}

TEST(Query, UnclosedQuotesAreAnError) {
  EXPECT_EQ(run("SELECT * FROM BlobStorage", "a\n\"b\nc").errors, Strings{"fatal ParseError at 2"});
}

TEST(Query, EndsWhenToldTo) {
  Query::Options options{DelimitedFormat{}, DelimitedFormat{}, 100, Time{1}, std::string(16, 's')};
  auto prepared = Query::prepare("SELECT * FROM BlobStorage", options);
  ASSERT_TRUE(prepared);
  auto& query = **prepared;
  query.add_input("1\n2\n3");
  query.step();
  ASSERT_EQ(query.needs(), Query::Needs::kInput);
  std::string output = query.take_output();
  query.fail({"TimedOut", "It took too long."});
  EXPECT_EQ(query.needs(), Query::Needs::kNothing);
  const auto frames = FrameReader(output + query.take_output()).read();
  ASSERT_EQ(frames.size(), 4u);
  EXPECT_EQ(frames[0].data, "1\n2\n");
  EXPECT_TRUE(frames[1].error.fatal);
  EXPECT_EQ(frames[1].numbers[0], 4);
}

}  // namespace
}  // namespace kyanite::sql
