// Expressions: what they are worth, and which are refused.
#include <gtest/gtest.h>

#include "sql/limits.h"
#include "sql/parser.h"
#include "sql/test_support.h"

namespace kyanite::sql {
namespace {

constexpr std::string_view kRecord =
    R"({"i":7,"f":2.5,"s":"Hello","n":null,"t":true,"at":"2024-02-29T10:15:30.25+02:30","o":{"a":1},"num":"12","empty":""})";

// The value as JSON, or the name of the error.
std::string worth(std::string_view expression) {
  const auto ran = run("SELECT " + std::string(expression) + " AS v FROM BlobStorage", kRecord,
                       {.input = JsonFormat{}, .output = JsonFormat{""}});
  if (!ran.refused.empty()) return "refused: " + ran.refused;
  if (!ran.errors.empty()) return ran.errors.front();
  if (ran.data == "{}") return "missing";
  constexpr std::string_view kBefore = "{\"v\":";
  EXPECT_TRUE(ran.data.starts_with(kBefore)) << ran.data;
  return ran.data.substr(kBefore.size(), ran.data.size() - kBefore.size() - 1);
}

struct Case {
  std::string_view expression;
  std::string_view worth;
};
void check(std::initializer_list<Case> cases) {
  for (const auto& test : cases) EXPECT_EQ(worth(test.expression), test.worth) << test.expression;
}

TEST(Expression, Literals) {
  check({{"1", "1"},
         {"-1", "-1"},
         {"- - 1", "1"},
         {"1.50", "1.5"},
         {".5", "0.5"},
         {"1e3", "1000"},
         {"9223372036854775807", "9223372036854775807"},
         {"-9223372036854775808", "-9223372036854775808"},
         {"9223372036854775808", "9223372036854775808"},
         {"'it''s'", "\"it's\""},
         {"''", "\"\""},
         {"TRUE", "true"},
         {"false", "false"},
         {"NULL", "null"},
         {"\"s\"", "\"Hello\""},
         {"\"S\"", "missing"},
         {"S", "\"Hello\""},
         {"nowhere.else", "missing"}});
}

TEST(Expression, Arithmetic) {
  check({{"1 + 2 * 3 - 4", "3"},
         {"(1 + 2) * 3", "9"},
         {"7 / 2", "3"},
         {"-7 / 2", "-3"},
         {"7 / 2.0", "3.5"},
         {"7 % 4", "3"},
         {"7.5 % 2", "1.5"},
         {"i + f", "9.5"},
         {"num + 1", "13"},
         {"num + num", "24"},
         {"'1.5' + 1", "2.5"},
         {"-num", "-12"},
         {"n + 1", "null"},
         {"nowhere + 1", "null"},
         {"t + 1", "2"},
         {"s + 1", "InvalidTypeConversion at 0"},
         {"o + 1", "InvalidTypeConversion at 0"},
         {"1 / 0", "DivideByZero at 0"},
         {"1.0 / 0", "DivideByZero at 0"},
         {"1 % 0", "DivideByZero at 0"},
         {"9223372036854775807 + 1", "ArithmeticOverflow at 0"},
         {"-9223372036854775808 / -1", "ArithmeticOverflow at 0"},
         {"-9223372036854775808 % -1", "0"},
         {"1e308 * 10", "ArithmeticOverflow at 0"},
         {"at + 1", "InvalidTypeConversion at 0"},
         {"CAST(at AS TIMESTAMP) + 1", "\"2024-03-01T10:15:30.25+02:30\""},
         {"CAST(at AS TIMESTAMP) - 0.5", "\"2024-02-28T22:15:30.25+02:30\""}});
}

TEST(Expression, Comparisons) {
  check({{"i = 7", "true"},
         {"i <> 7", "false"},
         {"i != 8", "true"},
         {"i < 7.5", "true"},
         {"num > 9", "true"},
         {"num > '9'", "false"},
         {"num >= 12", "true"},
         {"num <= 11.5", "false"},
         {"s = 'Hello'", "true"},
         {"s = 'hello'", "false"},
         {"t = 'true'", "true"},
         {"n = 1", "null"},
         {"n = NULL", "null"},
         {"s > 1", "InvalidTypeConversion at 0"},
         {"o = 1", "InvalidTypeConversion at 0"},
         {"CAST(at AS TIMESTAMP) = '2024-02-29T07:45:30.25Z'", "true"},
         {"CAST(at AS TIMESTAMP) < '2024-03'", "true"},
         {"i BETWEEN 7 AND 8", "true"},
         {"i NOT BETWEEN 7 AND 8", "false"},
         {"i BETWEEN 8 AND n", "false"},
         {"i BETWEEN 1 AND n", "null"},
         {"i IN (1, 7)", "true"},
         {"i IN (1, 2)", "false"},
         {"i IN (1, n)", "null"},
         {"s NOT IN ('a', 'b')", "true"},
         {"n IS NULL", "true"},
         {"nowhere IS NULL", "true"},
         {"i IS NOT NULL", "true"},
         {"nowhere IS MISSING", "true"},
         {"n IS MISSING", "false"},
         {"n IS NOT MISSING", "true"},
         {"empty = ''", "true"},
         {"empty IS NULL", "false"}});
}

TEST(Expression, Logic) {
  check({{"t AND i = 7", "true"},
         {"t AND i = 8", "false"},
         {"t AND n", "null"},
         {"n AND i = 8", "false"},
         {"n OR t", "true"},
         {"n OR i = 8", "null"},
         {"i = 8 OR i = 7 AND s = 'x'", "false"},
         {"NOT t", "false"},
         {"NOT NOT t", "true"},
         {"NOT NOT NOT t", "false"},
         {"NOT n", "null"},
         {"NOT i = 8 AND t", "true"},
         {"6 AND 3", "2"},
         {"6 OR 3", "7"},
         {"0 AND t", "false"},
         {"2 AND t", "true"},
         {"t OR s", "true"},
         {"s AND t", "InvalidTypeConversion at 0"}});
}

TEST(Expression, Casts) {
  check({{"CAST('12' AS INT)", "12"},
         {"CAST(' 12 ' AS INT)", "12"},
         {"CAST('12.5' AS INT)", "InvalidTypeConversion at 0"},
         {"CAST(12.9 AS INT)", "12"},
         {"CAST(-12.9 AS INT)", "-12"},
         {"CAST(1e19 AS INT)", "InvalidTypeConversion at 0"},
         {"CAST('' AS INT)", "InvalidTypeConversion at 0"},
         {"CAST(t AS INT)", "1"},
         {"CAST('1e2' AS FLOAT)", "100"},
         {"CAST('nan' AS FLOAT)", "InvalidTypeConversion at 0"},
         {"CAST(i AS STRING)", "\"7\""},
         {"CAST(f AS STRING)", "\"2.5\""},
         {"CAST(t AS STRING)", "\"true\""},
         {"CAST(o AS STRING)", "\"{\\\"a\\\":1}\""},
         {"CAST('FALSE' AS BOOLEAN)", "false"},
         {"CAST('0' AS BOOLEAN)", "false"},
         {"CAST('yes' AS BOOLEAN)", "InvalidTypeConversion at 0"},
         {"CAST(n AS INT)", "null"},
         {"CAST('2024-02-30' AS TIMESTAMP)", "InvalidTypeConversion at 0"},
         {"CAST(1 AS TIMESTAMP)", "InvalidTypeConversion at 0"},
         {"COALESCE(n, nowhere, s)", "\"Hello\""},
         {"COALESCE(n)", "null"},
         {"NULLIF(i, 7)", "null"},
         {"NULLIF(i, 8)", "7"},
         {"NULLIF(i, n)", "7"}});
}

TEST(Expression, Strings) {
  check({{"CHARACTER_LENGTH('abcdefg')", "7"},
         {"CHAR_LENGTH('gr\xc3\xbc\xc3\x9f')", "4"},
         {"LOWER('AbCdEfG')", "\"abcdefg\""},
         {"UPPER('AbCdEfG')", "\"ABCDEFG\""},
         {"SUBSTRING('123456789', 1, 5)", "\"23456\""},
         {"SUBSTRING('123456789', 7)", "\"89\""},
         {"SUBSTRING('123456789', -2, 4)", "\"12\""},
         {"SUBSTRING('123456789', -5, 4)", "\"\""},
         {"SUBSTRING('123', 5, 1)", "\"\""},
         {"SUBSTRING('123', 1, 9223372036854775807)", "\"23\""},
         {"SUBSTRING('123', 1, -1)", "InvalidArgument at 0"},
         {"SUBSTRING('gr\xc3\xbc\xc3\x9f', 2, 1)", "\"\xc3\xbc\""},
         {"TRIM('  a b ')", "\"a b\""},
         {"TRIM(BOTH '123' FROM '1112211Microsoft22211122')", "\"Microsoft\""},
         {"TRIM(LEADING 'x' FROM 'xxyxx')", "\"yxx\""},
         {"TRIM(TRAILING 'x' FROM 'xxyxx')", "\"xxy\""},
         {"TRIM(LEADING FROM '  a ')", "\"a \""},
         {"TRIM('\xc3\xbc' FROM '\xc3\xbc\x61\xc3\xbc')", "\"a\""},
         {"LOWER(n)", "null"},
         {"CHAR_LENGTH(i)", "1"}});
}

TEST(Expression, Like) {
  check({{"s LIKE 'Hello'", "true"},
         {"s LIKE 'hello'", "false"},
         {"s LIKE 'H%'", "true"},
         {"s LIKE '%l%o'", "true"},
         {"s LIKE '%x%'", "false"},
         {"s LIKE '_ello'", "true"},
         {"s LIKE '____'", "false"},
         {"s LIKE '[A-H]ello'", "true"},
         {"s LIKE '[^A-H]ello'", "false"},
         {"s LIKE '[xH]%'", "true"},
         {"s LIKE '%[lo'", "false"},
         {"'[' LIKE '['", "true"},
         {"s NOT LIKE 'x%'", "true"},
         {"'50%' LIKE '50!%' ESCAPE '!'", "true"},
         {"'501' LIKE '50!%' ESCAPE '!'", "false"},
         {"'' LIKE '%'", "true"},
         {"'' LIKE '_'", "false"},
         {"'\xc3\xbc' LIKE '_'", "true"},
         {"s LIKE n", "null"},
         {"s LIKE 'x' ESCAPE 'ab'", "InvalidArgument at 0"}});
}

TEST(Expression, Dates) {
  check({{"TO_TIMESTAMP('2007T')", "\"2007-01-01T00:00:00Z\""},
         {"TO_TIMESTAMP('2024-02-29T10:15+02:30')", "\"2024-02-29T10:15:00+02:30\""},
         {"TO_TIMESTAMP('09/27/2026')", "InvalidTypeConversion at 0"},
         {"DATE_ADD('minute', 1, CAST('2017-01-02T03:04:05.006Z' AS TIMESTAMP))",
          "\"2017-01-02T03:05:05.006Z\""},
         {"DATE_ADD(month, 1, '2024-01-31')", "\"2024-02-29T00:00:00Z\""},
         {"DATE_ADD('year', -1, '2024-02-29')", "\"2023-02-28T00:00:00Z\""},
         {"DATE_ADD('year', 9000, '2024-02-29')", "ArithmeticOverflow at 0"},
         {"DATE_ADD('second', 9223372036854775807, '2024')", "ArithmeticOverflow at 0"},
         {"DATE_DIFF('hour','2018-11-09T00:00+05:30','2018-11-09T01:00:23-08:00')", "14"},
         {"DATE_DIFF('day', '2010-01-01T23:00Z', '2010-01-02T01:00Z')", "0"},
         {"DATE_DIFF('month', '2010-01-31', '2010-02-28')", "0"},
         {"DATE_DIFF('year', '2010', '2013-06')", "3"},
         {"DATE_DIFF('year', '2013-06', '2010')", "-3"},
         {"EXTRACT(YEAR FROM '2010-01-01T')", "2010"},
         {"EXTRACT(hour FROM at)", "10"},
         {"EXTRACT(timezone_hour FROM at)", "2"},
         {"EXTRACT(timezone_minute FROM at)", "30"},
         {"TO_STRING(CAST('1969-07-20T20:18Z' AS TIMESTAMP), 'MMMM d, y')", "\"July 20, 1969\""},
         {"TO_STRING(at, 'yy/MM/dd hh:mm:ss.SSS a')", "\"24/02/29 10:15:30.250 AM\""},
         {"TO_STRING(at, 'M MMM H m s S SS X XX XXX x xx xxx')",
          "\"2 FEB 10 15 30 2 25 +02 +0230 +02:30 2 +0230 +02:30\""},
         {"TO_STRING(at, 'y''T''H')", "\"2024T10\""},
         {"TO_STRING(at, 'Q')", "InvalidArgument at 0"},
         {"EXTRACT(year FROM UTCNOW())", "2026"},
         {"DATE_DIFF('day', n, at)", "null"}});
}

TEST(Parser, WhatIsNotOfTheLanguageIsRefused) {
  const std::string_view kStatements[] = {
      "",
      ";",
      "SELECT",
      "SELECT FROM BlobStorage",
      "SELECT * FROM Elsewhere",
      "SELECT * FROM BlobStorage WHERE",
      "SELECT * FROM BlobStorage LIMIT",
      "SELECT * FROM BlobStorage LIMIT -1",
      "SELECT * FROM BlobStorage LIMIT 1.5",
      "SELECT * FROM BlobStorage; SELECT * FROM BlobStorage",
      "SELECT * FROM BlobStorage ORDER BY _1",
      "SELECT * FROM BlobStorage GROUP BY _1",
      "SELECT *, _1 FROM BlobStorage",
      "SELECT DISTINCT _1 FROM BlobStorage",
      "SELECT (_1 FROM BlobStorage",
      "SELECT 'x FROM BlobStorage",
      "SELECT _1 _2 FROM BlobStorage",
      "SELECT unknown(_1) FROM BlobStorage",
      "SELECT lower() FROM BlobStorage",
      "SELECT substring('a', 1, 2, 3) FROM BlobStorage",
      "SELECT CAST(_1 AS DECIMAL) FROM BlobStorage",
      "SELECT CAST(_1) FROM BlobStorage",
      "SELECT _1 FROM BlobStorage WHERE _1 BETWEEN 1",
      "SELECT _1 FROM BlobStorage WHERE _1 IN ()x",
      "SELECT _1 FROM BlobStorage WHERE _1 IS 1",
      "SELECT _1 FROM BlobStorage WHERE select = 1",
      "SELECT COUNT(*), _1 FROM BlobStorage",
      "SELECT _1, COUNT(*) FROM BlobStorage",
      "SELECT COUNT(*), SUM(_1) FROM BlobStorage",
      "SELECT SUM(_1) + 1 FROM BlobStorage",
      "SELECT SUM(COUNT(*)) FROM BlobStorage",
      "SELECT SUM(*) FROM BlobStorage",
      "SELECT sys.split(100) FROM BlobStorage",
      "SELECT sys.split('x') FROM BlobStorage",
      "SELECT * FROM BlobStorage[0].x",
      "SELECT * FROM BlobStorage.x",
      "SELECT a[*] FROM BlobStorage",
      "SELECT DATE_ADD('week', 1, _1) FROM BlobStorage",
      "SELECT DATE_ADD('timezone_hour', 1, _1) FROM BlobStorage",
      "SELECT EXTRACT(week FROM _1) FROM BlobStorage",
      "SELECT 1x FROM BlobStorage",
      "SELECT 1e FROM BlobStorage",
      "SELECT _1 & 1 FROM BlobStorage",
      "DELETE FROM BlobStorage",
  };
  for (const auto statement : kStatements) EXPECT_FALSE(parse(statement)) << statement;
}

TEST(Parser, LimitsOfStatements) {
  const auto repeated = [](std::string_view before, std::string_view part, size_t count,
                           std::string_view after) {
    std::string text(before);
    for (size_t i = 0; i < count; ++i) text += part;
    return text.append(after);
  };
  const std::string_view from = " FROM BlobStorage";
  EXPECT_TRUE(parse(repeated("SELECT _1", ",_1", kMaxSelected - 1, from)));
  EXPECT_FALSE(parse(repeated("SELECT _1", ",_1", kMaxSelected, from)));
  EXPECT_TRUE(
      parse(repeated("SELECT ", "(", kMaxDepth - 1, "1") + repeated("", ")", kMaxDepth - 1, from)));
  EXPECT_FALSE(
      parse(repeated("SELECT ", "(", kMaxDepth, "1") + repeated("", ")", kMaxDepth, from)));
  EXPECT_FALSE(parse(repeated("SELECT 1", "+1", kMaxDepth, from)));
  EXPECT_TRUE(parse(repeated("SELECT * FROM BlobStorage WHERE a", " OR a", 5000, "")));
  EXPECT_FALSE(parse(repeated("SELECT * FROM BlobStorage WHERE a", " OR a", kMaxNodes, "")));
  EXPECT_TRUE(parse(repeated("SELECT ", "- ", 100000, "1").append(from)));
  EXPECT_TRUE(parse(repeated("SELECT ", "NOT ", 50000, "a").append(from)));
  EXPECT_FALSE(parse(repeated("SELECT ", " ", kMaxExpressionBytes, "1").append(from)));
  EXPECT_FALSE(parse(repeated("SELECT a", ".a", kMaxPathSteps + 1, from)));
}

}  // namespace
}  // namespace kyanite::sql
