#include "table/test_support.h"

namespace kyanite::table {
namespace {

class TransactionTest : public TableFixture {
 protected:
  TransactionTest() {
    EXPECT_EQ(ask("POST", "Tables", "", R"({"TableName":"People"})").status, 201);
  }

  static std::string part(std::string_view request) {
    return "--set\r\nContent-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n\r\n" +
           std::string(request) + "\r\n";
  }
  static std::string put(std::string_view row, std::string_view json = "{}",
                         std::string_view header = "") {
    return part("PUT http://h/People(PartitionKey='p',RowKey='" + std::string(row) +
                "') HTTP/1.1\r\n" + std::string(header) + "\r\n" + std::string(json));
  }
  static std::string insert(std::string_view row, std::string_view partition = "p",
                            std::string_view header = "") {
    return part("POST http://h/People HTTP/1.1\r\n" + std::string(header) +
                "\r\n{\"PartitionKey\":\"" + std::string(partition) + "\",\"RowKey\":\"" +
                std::string(row) + "\"}");
  }
  Answer send(std::string_view inner) {
    const std::string body = "--batch\r\nContent-Type: multipart/mixed; boundary=set\r\n\r\n" +
                             std::string(inner) + "--set--\r\n--batch--\r\n";
    return send_raw(body);
  }
  Answer send_raw(std::string_view body) {
    return ask("POST", "$batch", "", body, {{"Content-Type", "multipart/mixed; boundary=batch"}});
  }
  bool exists(std::string_view row) {
    return ask("GET", "People(PartitionKey='p',RowKey='" + std::string(row) + "')").status == 200;
  }
  static size_t count(std::string_view text, std::string_view what) {
    size_t found = 0;
    for (size_t at = 0; (at = text.find(what, at)) != std::string_view::npos; ++at) ++found;
    return found;
  }
};

TEST_F(TransactionTest, AnswersEachChange) {
  insert("x");
  const Answer answer =
      send(insert("1", "p", "Prefer: return-no-content\r\n") + insert("2") + put("3") +
           part("DELETE /People(PartitionKey='p',RowKey='9') HTTP/1.1\r\n"
                "If-Match: *\r\n\r\n"));
  EXPECT_EQ(answer.status, 202);
  EXPECT_NE(answer.body.find("404 Not Found"), std::string::npos);
  EXPECT_NE(answer.body.find("3:The specified resource does not exist."), std::string::npos);
  EXPECT_FALSE(exists("1"));

  const Answer done =
      send(insert("1", "p", "Prefer: return-no-content\r\n") + insert("2") + put("3"));
  EXPECT_EQ(count(done.body, "HTTP/1.1 204 No Content"), 2U);
  EXPECT_EQ(count(done.body, "HTTP/1.1 201 Created"), 1U);
  EXPECT_EQ(count(done.body, "DataServiceVersion: 3.0;"), 2U);
  EXPECT_EQ(count(done.body, "DataServiceVersion: 1.0;"), 1U);
  EXPECT_EQ(count(done.body, "ETag: W/"), 3U);
  EXPECT_TRUE(exists("1") && exists("2") && exists("3"));
}

TEST_F(TransactionTest, Refusals) {
  ASSERT_EQ(send(insert("there")).status, 202);
  std::string hundred_and_one;
  std::string hundred;
  for (int i = 0; i < 101; ++i) {
    if (i < 100) hundred += put(std::to_string(i));
    hundred_and_one += put("x" + std::to_string(i));
  }
  struct Case {
    std::string changes;
    std::string_view code;
    std::string_view message;
  };
  for (const Case& c : std::initializer_list<Case>{
           {insert("1") + insert("2", "q"), "CommandsInBatchActOnDifferentPartitions",
            "1:All commands in a batch must operate on same entity group."},
           {insert("1") +
                part("POST /Other1 HTTP/1.1\r\n\r\n{\"PartitionKey\":\"p\",\"RowKey\":\"2\"}"),
            "CommandsInBatchActOnDifferentPartitions", "1:All"},
           {insert("1") + put("1"), "InvalidDuplicateRow", "1:The batch request contains multiple"},
           {hundred_and_one, "InvalidInput",
            "99:The batch request operation exceeds the maximum 100 changes per change set."},
           {insert("1") + insert("there"), "EntityAlreadyExists",
            "1:The specified entity already exists."},
           {insert("there"), "EntityAlreadyExists", "\"The specified entity already exists."},
           {insert("1") + put("there", "{}", "If-Match: W/\"x\"\r\n"),
            "UpdateConditionNotSatisfied", "1:The"},
           {part("POST /Nobody HTTP/1.1\r\n\r\n{\"PartitionKey\":\"p\",\"RowKey\":\"2\"}"),
            "TableNotFound", "0:The table specified does not exist."},
           {insert("1") + put("2", "{"), "InvalidInput", "1:An error"},
           {insert("1") + part("GET /People() HTTP/1.1\r\n\r\n"), "InvalidInput", "1:An error"},
           {insert("1") + part("POST /Tables HTTP/1.1\r\n\r\n{\"TableName\":\"abc\"}"),
            "InvalidInput", "1:An"},
           {insert("1") + part("nonsense"), "InvalidInput", "1:An error"}}) {
    const Answer answer = send(c.changes);
    EXPECT_EQ(answer.status, 202) << c.code;
    EXPECT_EQ(count(answer.body, "HTTP/1.1 "), 1U) << c.code;
    EXPECT_NE(answer.body.find("\"code\":\"" + std::string(c.code) + "\""), std::string::npos)
        << answer.body;
    EXPECT_NE(answer.body.find(c.message), std::string::npos) << answer.body;
  }
  EXPECT_FALSE(exists("1"));
  EXPECT_EQ(count(send(hundred).body, "HTTP/1.1 204 No Content"), 100U);
}

TEST_F(TransactionTest, PartsMayLeaveOutTheAccount) {
  path_style_ = true;
  for (const std::string prefix : {"http://h/account/", "http://h/", "/account/", "/", ""}) {
    const std::string row = "row" + std::to_string(prefix.size());
    const Answer answer = send(
        part("PUT " + prefix + "People(PartitionKey='p',RowKey='" + row + "') HTTP/1.1\r\n\r\n{}"));
    EXPECT_NE(answer.body.find("HTTP/1.1 204"), std::string::npos) << prefix << answer.body;
    EXPECT_TRUE(exists(row)) << prefix;
  }
  const Answer other =
      send(part("PUT /other/People(PartitionKey='p',RowKey='x') HTTP/1.1\r\n\r\n{}"));
  EXPECT_NE(other.body.find("InvalidInput"), std::string::npos) << "another account";
  const Answer below = send(insert("1") + part("POST /People/x HTTP/1.1\r\n\r\n"
                                               "{\"PartitionKey\":\"p\",\"RowKey\":\"2\"}"));
  EXPECT_NE(below.body.find("1:An error"), std::string::npos) << below.body;
  EXPECT_FALSE(exists("1"));
  EXPECT_FALSE(exists("2"));
}

TEST_F(TransactionTest, PreferencesAreThoseOfTheRefusedPart) {
  const std::string_view prefer = "Prefer: return-no-content\r\n";
  const std::string_view applied = "Preference-Applied: return-no-content";
  const auto refused = [&](const std::string& changes) { return send(changes).body; };
  EXPECT_NE(refused(insert("1") + insert("1", "p", prefer)).find(applied), std::string::npos);
  EXPECT_EQ(refused(insert("1", "p", prefer) + insert("1")).find(applied), std::string::npos);
  send(insert("there"));
  EXPECT_NE(refused(insert("1") + insert("there", "p", prefer)).find(applied), std::string::npos);
  EXPECT_EQ(refused(insert("1", "p", prefer) + insert("there")).find(applied), std::string::npos);
}

TEST_F(TransactionTest, MalformedBatches) {
  for (const std::string_view body :
       {"", "--batch--", "--batch\r\n\r\nx\r\n--batch--",
        "--batch\r\nContent-Type: multipart/mixed; boundary=set\r\n\r\n--batch--",
        "--batch\r\nContent-Type: multipart/mixed; boundary=set\r\n\r\n--set--\r\n--batch--"}) {
    EXPECT_EQ(send_raw(body).code, "InvalidInput") << body;
  }
  EXPECT_EQ(ask("POST", "$batch", "", "x").code, "InvalidInput");
  EXPECT_EQ(send_raw(std::string(4 * 1024 * 1024 + 1, 'x')).code, "RequestBodyTooLarge");
  const std::string set = "--batch\r\nContent-Type: multipart/mixed; boundary=set\r\n\r\n" +
                          insert("1") + "--set--\r\n";
  EXPECT_EQ(send_raw(set + set + "--batch--").code, "InvalidInput") << "two change sets";
  EXPECT_FALSE(exists("1"));
}

TEST_F(TransactionTest, OneQueryAlone) {
  send(insert("1"));
  const auto query = [&](std::string_view url) {
    return send_raw(
        "--batch\r\nContent-Type: application/http\r\n\r\nGET " + std::string(url) +
        " HTTP/1.1\r\nAccept: application/json;odata=nometadata\r\n\r\n\r\n--batch--\r\n");
  };
  const Answer found = query("http://h/People()?$select=RowKey");
  EXPECT_EQ(found.status, 202);
  EXPECT_NE(found.body.find("{\"value\":[{\"RowKey\":\"1\"}]}"), std::string::npos) << found.body;
  EXPECT_NE(query("/People(PartitionKey='p',RowKey='none')").body.find("HTTP/1.1 404"),
            std::string::npos);
}

TEST_F(TransactionTest, ATokenReachesItsTableAndRangeOnly) {
  ask("POST", "Tables", "", R"({"TableName":"Other1"})");
  caller_.kind = auth::Caller::Kind::kServiceSas;
  caller_.container = "people";
  caller_.permissions = "a";
  caller_.key_range = {"p", "2", "p", "3"};
  EXPECT_NE(send(insert("2")).body.find("201 Created"), std::string::npos);
  for (const std::string& changes :
       {insert("1"), insert("4"), insert("2", "q"),
        part("POST /Other1 HTTP/1.1\r\n\r\n{\"PartitionKey\":\"p\",\"RowKey\":\"3\"}")}) {
    EXPECT_NE(send(changes).body.find("\"code\":\"AuthorizationFailure\""), std::string::npos);
  }
  EXPECT_NE(send(put("3", "{}", "If-Match: *\r\n")).body.find("AuthorizationPermissionMismatch"),
            std::string::npos);
  EXPECT_NE(send(put("3")).body.find("AuthorizationPermissionMismatch"), std::string::npos);
}

}  // namespace
}  // namespace kyanite::table
