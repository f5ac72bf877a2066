// Query Blob Contents: what its body may be, and what bounds a query that runs.
#include <gtest/gtest.h>

#include "blob/query_request.h"
#include "blob/service.h"
#include "service/test_service.h"
#include "sql/frame_reader.h"

namespace kyanite::blob {
namespace {

using Frame = sql::FrameReader::Frame;

std::string body_of(std::string_view rest = {}) {
  std::string text =
      "<QueryRequest><QueryType>SQL</QueryType><Expression>SELECT * FROM BlobStorage";
  return text.append("</Expression>").append(rest).append("</QueryRequest>");
}
std::string csv_of(std::string_view configuration) {
  std::string text =
      "<InputSerialization><Format><Type>delimited</Type><DelimitedTextConfiguration>";
  return body_of(text.append(configuration)
                     .append("</DelimitedTextConfiguration></Format></InputSerialization>"));
}
std::string arrow_of(std::string_view fields) {
  std::string text = "<OutputSerialization><Format><Type>arrow</Type><ArrowConfiguration><Schema>";
  return body_of(
      text.append(fields).append("</Schema></ArrowConfiguration></Format></OutputSerialization>"));
}

TEST(QueryRequest, FormatsOfCsv) {
  const struct {
    std::string_view configuration;
    sql::DelimitedFormat format;
  } kCases[] = {
      {"", {}},
      {"<ColumnSeparator/><FieldQuote/><RecordSeparator/><EscapeChar/><HasHeaders/>", {}},
      {"<ColumnSeparator>\t</ColumnSeparator><RecordSeparator>\n</RecordSeparator>",
       {.column_separator = "\t"}},
      // The line end of the document is a line feed, whatever it was sent as.
      {"<RecordSeparator>\r\n</RecordSeparator>", {}},
      {"<RecordSeparator>&#13;&#10;</RecordSeparator>", {.record_separator = "\r\n"}},
      {"<ColumnSeparator>||</ColumnSeparator><FieldQuote>'</FieldQuote><EscapeChar>\\</EscapeChar>"
       "<HasHeaders>True</HasHeaders>",
       {.column_separator = "||", .quote = '\'', .escape = '\\', .headers = true}},
  };
  for (const auto& test : kCases) {
    const auto request = parse_query_request("\xef\xbb\xbf" + csv_of(test.configuration));
    ASSERT_TRUE(request) << test.configuration;
    const auto& format = std::get<sql::DelimitedFormat>(request->input);
    EXPECT_EQ(format.column_separator, test.format.column_separator) << test.configuration;
    EXPECT_EQ(format.record_separator, test.format.record_separator) << test.configuration;
    EXPECT_EQ(format.quote, test.format.quote) << test.configuration;
    EXPECT_EQ(format.escape, test.format.escape) << test.configuration;
    EXPECT_EQ(format.headers, test.format.headers) << test.configuration;
  }
}

TEST(QueryRequest, WithoutAnOutputFormatRowsAreCsv) {
  const auto csv = parse_query_request(body_of());
  ASSERT_TRUE(csv);
  EXPECT_FALSE(std::get<sql::DelimitedFormat>(csv->output).headers);
  const auto json = parse_query_request(
      body_of("<InputSerialization><Format><Type>json</Type></Format></InputSerialization>"));
  ASSERT_TRUE(json);
  EXPECT_TRUE(std::get<sql::DelimitedFormat>(json->output).headers);
}

TEST(QueryRequest, WhatIsRefused) {
  const struct {
    std::string body;
    wire::Code code;
  } kCases[] = {
      {"", wire::Code::kInvalidXmlDocument},
      {csv_of("<FieldQuote>ab</FieldQuote>"), wire::Code::kInvalidXmlNodeValue},
      {csv_of("<HasHeaders>maybe</HasHeaders>"), wire::Code::kInvalidXmlNodeValue},
      {csv_of("<ColumnSeparator>\n</ColumnSeparator>"), wire::Code::kInvalidXmlNodeValue},
      {csv_of("<FieldQuote>,</FieldQuote>"), wire::Code::kInvalidXmlNodeValue},
      {csv_of("<EscapeChar>,</EscapeChar>"), wire::Code::kInvalidXmlNodeValue},
      {csv_of("<ColumnSeparator>12345678901234567</ColumnSeparator>"),
       wire::Code::kInvalidXmlNodeValue},
      {body_of("<InputSerialization><Format><Type>arrow</Type></Format></InputSerialization>"),
       wire::Code::kInvalidXmlNodeValue},
      {body_of("<OutputSerialization><Format><Type>parquet</Type></Format></OutputSerialization>"),
       wire::Code::kInvalidXmlNodeValue},
      {body_of("<InputSerialization><Format><Type>parquet</Type></Format></InputSerialization>"),
       wire::Code::kNotImplemented},
      {arrow_of(""), wire::Code::kMissingRequiredXmlNode},
      {arrow_of("<Field><Type>int32</Type></Field>"), wire::Code::kInvalidXmlNodeValue},
      {arrow_of("<Field><Type>decimal</Type></Field>"), wire::Code::kInvalidXmlNodeValue},
      {arrow_of("<Field><Type>decimal</Type><Precision>39</Precision><Scale>1</Scale></Field>"),
       wire::Code::kInvalidXmlNodeValue},
      {arrow_of("<Field><Type>decimal</Type><Precision>4</Precision><Scale>5</Scale></Field>"),
       wire::Code::kInvalidXmlNodeValue},
  };
  for (const auto& test : kCases) {
    const auto request = parse_query_request(test.body);
    ASSERT_FALSE(request) << test.body;
    EXPECT_EQ(request.error().code, test.code) << test.body;
  }
  EXPECT_TRUE(
      parse_query_request(arrow_of("<Field><Type>decimal</Type><Name>n</Name><Precision>4</"
                                   "Precision><Scale>4</Scale></Field>")));
}

class QueryBlobContents : public testing::Test {
 protected:
  using Reply = wire::Result<http::Reply>;

  QueryBlobContents() {
    EXPECT_EQ(status(send("PUT", "box", "restype=container", "")), 201);
    std::string line(1023, 'x');
    for (int i = 0; i < 2048; ++i) content += line + "\n";
    EXPECT_EQ(status(send("PUT", "box/data", "", content)), 201);
  }

  Reply send(std::string_view method, const std::string& path, const std::string& query,
             std::string_view text) {
    service::TestCall test(around, query, {{"x-ms-blob-type", "BlockBlob"}});
    service::StringBody body(text);
    test.request.method = method;
    test.request.body = &body;
    test.request.peer = asked_by;
    test.call.service = &service;
    test.call.target.service = wire::Service::kBlob;
    test.call.caller.kind = auth::Caller::Kind::kOwner;
    test.call.version_text = "2025-05-05";
    test.call.version = wire::Version::parse("2025-05-05").value();
    return RunLoop::run(service::serve_test(test.call, path));
  }
  static int status(const Reply& reply) { return reply ? reply->status : reply.error().status; }
  Reply query(std::string_view peer = "192.0.2.1") {
    asked_by = peer;
    return send("POST", "box/data", "comp=query", body_of());
  }
  static http::BodyStream& stream_of(Reply& reply) {
    return *std::get<std::unique_ptr<http::BodyStream>>(reply->body);
  }
  static std::string next(http::BodyStream& stream) {
    auto bytes = RunLoop::run(stream.next());
    return bytes ? std::string(std::get<Buffer>(*bytes).view()) : "(failed)";
  }

  service::TestContext around;
  BlobService service;
  std::string content;
  std::string asked_by;  // the peer of the next request
};

TEST_F(QueryBlobContents, IsSentInBoundedPieces) {
  auto reply = query();
  ASSERT_EQ(status(reply), 200);
  std::string all;
  while (true) {
    const std::string piece = next(stream_of(reply));
    if (piece.empty()) break;
    EXPECT_LE(piece.size(), 4 * sql::kFrameBytes);
    all += piece;
  }
  std::string data;
  for (const auto& frame : sql::FrameReader(all).read()) data += frame.data;
  EXPECT_EQ(data, content);
}

TEST_F(QueryBlobContents, EndsWhenItsTimeIsOver) {
  auto reply = query();
  ASSERT_EQ(status(reply), 200);
  std::string all = next(stream_of(reply));
  around.clock.advance_seconds(601);
  all += RunLoop::run(service::read_all(stream_of(reply)));
  const auto frames = sql::FrameReader(all).read();
  ASSERT_GE(frames.size(), 3u);
  const auto& error = frames[frames.size() - 3];
  EXPECT_EQ(error.kind, Frame::kError);
  EXPECT_EQ(error.error.name, "OperationTimedOut");
  EXPECT_TRUE(error.error.fatal);
  EXPECT_EQ(frames.back().kind, Frame::kEnd);
}

TEST_F(QueryBlobContents, NoMoreThanAFewRunAtOnceAndNobodyTakesAllPlaces) {
  std::vector<Reply> running;
  const auto run_of = [&](std::string_view peer, size_t most) {
    const size_t before = running.size();
    while (running.size() < before + most) {
      auto reply = query(peer);
      if (status(reply) != 200) break;
      running.push_back(std::move(reply));
    }
    return running.size() - before;
  };
  EXPECT_EQ(run_of("192.0.2.1", 64), 32u);
  EXPECT_EQ(status(query("192.0.2.1")), 503);
  EXPECT_EQ(run_of("192.0.2.2", 64), 16u);
  running.erase(running.begin(), running.begin() + 16);
  EXPECT_EQ(run_of("192.0.2.1", 1), 1u);
}

}  // namespace
}  // namespace kyanite::blob
