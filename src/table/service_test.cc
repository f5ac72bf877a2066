// The Table service from the outside, without a network.
#include "table/service.h"

#include "table/payload.h"
#include "table/test_support.h"

namespace kyanite::table {
namespace {

class TableServiceTest : public TableFixture {
 protected:
  TableServiceTest() {
    EXPECT_EQ(ask("POST", "Tables", "", R"({"TableName":"People"})").status, 201);
  }
  Answer insert(std::string_view partition, std::string_view row, std::string_view rest = "") {
    std::string json = "{\"PartitionKey\":\"" + std::string(partition) + "\",\"RowKey\":\"" +
                       std::string(row) + "\"" + std::string(rest) + "}";
    return ask("POST", "People", "", json, {{"Prefer", "return-no-content"}});
  }
  // The row keys of a page, and where the next begins.
  static std::string rows(const Answer& page) {
    std::string out;
    for (size_t at = 0; (at = page.body.find("\"RowKey\":\"", at)) != std::string::npos;) {
      at += 10;
      out += page.body.substr(at, page.body.find('"', at) - at) + " ";
    }
    return out;
  }
  static std::string next(const Answer& page) {
    const std::string partition = page.header("x-ms-continuation-NextPartitionKey");
    if (partition.empty()) return {};
    return "&NextPartitionKey=" + partition +
           "&NextRowKey=" + page.header("x-ms-continuation-NextRowKey");
  }
};

TEST_F(TableServiceTest, TablesHaveOneNameInAnyCase) {
  EXPECT_EQ(ask("POST", "Tables", "", R"({"TableName":"PEOPLE"})").code, "TableAlreadyExists");
  EXPECT_EQ(insert("p", "r").status, 204);
  EXPECT_EQ(ask("GET", "pEOPLE(PartitionKey='p',RowKey='r')").status, 200);
  EXPECT_NE(ask("GET", "Tables").body.find("\"TableName\":\"People\""), std::string::npos);
  EXPECT_NE(ask("GET", "Tables", "$filter=TableName%20eq%20'pEOple'").body.find("People"),
            std::string::npos);
  EXPECT_EQ(ask("GET", "Tables('people')").status, 200);
  EXPECT_EQ(ask("DELETE", "Tables('people')").status, 204);
  EXPECT_EQ(ask("DELETE", "Tables('people')").code, "ResourceNotFound");
  EXPECT_EQ(insert("p", "r").code, "TableNotFound");
}

TEST_F(TableServiceTest, ARecreatedTableIsEmpty) {
  EXPECT_EQ(insert("p", "r").status, 204);
  EXPECT_EQ(ask("DELETE", "Tables('People')").status, 204);
  EXPECT_EQ(ask("POST", "Tables", "", R"({"TableName":"People"})").status, 201);
  EXPECT_EQ(ask("GET", "People(PartitionKey='p',RowKey='r')").code, "ResourceNotFound");
}

TEST_F(TableServiceTest, TablesArePagedByName) {
  for (const char* name : {"aaa1", "aaa2", "aaa3"})
    ask("POST", "Tables", "", std::string("{\"TableName\":\"") + name + "\"}");
  std::string seen;
  std::string token;
  for (int pages = 0; pages < 5; ++pages) {
    const Answer page = ask(
        "GET", "Tables",
        "$top=2&$filter=TableName%20lt%20'b'" + (token.empty() ? "" : "&NextTableName=" + token));
    ASSERT_EQ(page.status, 200);
    for (const char* name : {"aaa1", "aaa2", "aaa3", "People"}) {
      if (page.body.find(std::string("\"") + name + "\"") != std::string::npos) seen += name;
    }
    token = page.header("x-ms-continuation-NextTableName");
    if (token.empty()) break;
  }
  EXPECT_EQ(seen, "aaa1aaa2aaa3");
}

TEST_F(TableServiceTest, InsertAnswersWithTheEntityOrWithout) {
  const std::string_view json = R"({"PartitionKey":"p","RowKey":"r's","a":1})";
  const Answer with = ask("POST", "People", "", json);
  EXPECT_EQ(with.status, 201);
  EXPECT_EQ(with.header("Location"), "http://h/People(PartitionKey='p',RowKey='r''s')");
  EXPECT_TRUE(with.body.starts_with(R"({"odata.metadata":"http://h/$metadata#People/@Element",)"));
  EXPECT_EQ(with.header("Preference-Applied"), "");
  EXPECT_EQ(ask("POST", "People", "", json).code, "EntityAlreadyExists");
  const Answer without = insert("p", "other");
  EXPECT_EQ(without.status, 204);
  EXPECT_EQ(without.body, "");
  EXPECT_EQ(without.header("Preference-Applied"), "return-no-content");
  EXPECT_EQ(without.header("DataServiceId"), without.header("Location"));
  EXPECT_EQ(ask("POST", "People", "", R"({"RowKey":"r"})").code, "PropertiesNeedValue");
  EXPECT_EQ(insert("a/b", "r").code, "OutOfRangeInput");
}

TEST_F(TableServiceTest, OptimisticConcurrency) {
  const std::string path = "People(PartitionKey='p',RowKey='r')";
  const std::string first = insert("p", "r", ",\"n\":1").header("ETag");
  EXPECT_EQ(ask("GET", path).header("ETag"), first);
  const Answer updated = ask("PUT", path, "", R"({"n":2})", {{"If-Match", first}});
  EXPECT_EQ(updated.status, 204);
  EXPECT_NE(updated.header("ETag"), first);
  for (const std::string_view method : {"PUT", "PATCH", "MERGE", "DELETE"}) {
    const Answer stale = ask(method, path, "", "{}", {{"If-Match", first}});
    EXPECT_EQ(stale.status, 412) << method;
    EXPECT_EQ(stale.code, "UpdateConditionNotSatisfied");
  }
  EXPECT_EQ(ask("PUT", path, "", R"({"n":3})", {{"If-Match", "*"}}).status, 204);
  EXPECT_EQ(ask("PUT", path, "", R"({"n":4})").status, 204) << "an upsert checks nothing";
  EXPECT_EQ(ask("POST", path, "", R"({"m":5})", {{"X-HTTP-Method", "MERGE"}}).status, 204);
  EXPECT_NE(ask("GET", path).body.find(R"("n":4,"m":5)"), std::string::npos);
  EXPECT_EQ(ask("DELETE", path).status, 400) << "a delete needs If-Match";
  EXPECT_EQ(ask("DELETE", path, "", "", {{"If-Match", "*"}}).status, 204);
  EXPECT_EQ(ask("DELETE", path, "", "", {{"If-Match", "*"}}).code, "ResourceNotFound");
}

TEST_F(TableServiceTest, PagesResumeExactly) {
  for (int i = 0; i < 25; ++i)
    insert(i < 12 ? "a" : "b", std::to_string(100 + i), i % 2 == 0 ? ",\"even\":true" : "");
  for (const std::string query :
       {"$top=4", "$top=4&$filter=even", "$top=4&$filter=PartitionKey%20eq%20'b'"}) {
    std::string paged;
    std::string token;
    int pages = 0;
    do {
      const Answer page = ask("GET", "People()", query + token);
      ASSERT_EQ(page.status, 200);
      paged += rows(page);
      token = next(page);
      ASSERT_LT(++pages, 30);
    } while (!token.empty());
    const std::string all = query == "$top=4" ? "" : query.substr(query.find('&') + 1);
    EXPECT_EQ(paged, rows(ask("GET", "People", all))) << query;
  }
}

TEST_F(TableServiceTest, APageHasAtMostAThousandEntities) {
  for (int i = 0; i < 1001; ++i) insert("p", std::to_string(10'000 + i));
  const Answer page = ask("GET", "People()");
  EXPECT_EQ(std::count(page.body.begin(), page.body.end(), '{'), 1001);  // and the document's own
  EXPECT_NE(next(page), "");
  const Answer rest = ask("GET", "People()", next(page).substr(1));
  EXPECT_EQ(rows(rest), "11000 ");
  EXPECT_EQ(next(rest), "");
}

// Every look at it takes a second.
class SlowClock final : public Clock {
 public:
  Time now() const override { return Time::from_unix_seconds(1'700'000'000); }
  Moment moment() const override { return after_seconds(Moment{}, looks_++); }

 private:
  mutable int64_t looks_ = 0;
};

TEST_F(TableServiceTest, APageTakesAtMostFiveSeconds) {
  for (int i = 0; i < 1000; ++i) insert("p", std::to_string(10'000 + i));
  const std::string all = rows(ask("GET", "People()"));
  const SlowClock clock;
  service::Context slow{around_.memory, around_.locks, around_.workers, clock, around_.accounts};
  context_ = &slow;
  std::string paged;
  std::string token;
  int pages = 0;
  do {
    const Answer page = ask("GET", "People()", token.empty() ? token : token.substr(1));
    paged += rows(page);
    token = next(page);
    ++pages;
  } while (!token.empty());
  EXPECT_EQ(paged, all);
  EXPECT_GT(pages, 1);
}

// Has no place for scans after so many looks.
class CrowdedStore final : public store::MemoryStore {
 public:
  std::unique_ptr<store::Snapshot> snapshot() override {
    class Crowded final : public store::Snapshot {
     public:
      Crowded(std::unique_ptr<Snapshot> below, int looks)
          : below_(std::move(below)), left_(looks) {}
      Task<store::Result<void>> look(store::Look look) override {
        if (left_-- == 0) co_return store::Error::kBusy;
        co_return co_await below_->look(std::move(look));
      }
      Task<store::Result<void>> scan(store::Look look) override {
        return this->look(std::move(look));
      }

     private:
      const std::unique_ptr<Snapshot> below_;
      int left_;
    };
    return std::make_unique<Crowded>(MemoryStore::snapshot(), looks);
  }
  int looks = 1'000'000;
};

TEST_F(TableServiceTest, APageEndsEarlyWhereTooManyScan) {
  CrowdedStore store;
  service::Context crowded{store, around_.locks, around_.workers, around_.clock, around_.accounts};
  context_ = &crowded;
  ASSERT_EQ(ask("POST", "Tables", "", R"({"TableName":"People"})").status, 201);
  for (int i = 0; i < 500; ++i) insert("p", std::to_string(1000 + i));
  const std::string all = rows(ask("GET", "People()"));
  store.looks = 2;
  std::string paged;
  std::string token;
  int pages = 0;
  do {
    const Answer page = ask("GET", "People()", token.empty() ? token : token.substr(1));
    ASSERT_EQ(page.status, 200);
    paged += rows(page);
    token = next(page);
    ++pages;
  } while (!token.empty());
  EXPECT_EQ(paged, all);
  EXPECT_GT(pages, 2);
  store.looks = 0;
  EXPECT_EQ(ask("GET", "People()").code, "ServerBusy");
}

TEST_F(TableServiceTest, AQueryObeysItsDeadline) {
  for (int i = 0; i < 500; ++i) insert("p", std::to_string(1000 + i));
  const SlowClock clock;
  service::Context slow{around_.memory, around_.locks, around_.workers, clock, around_.accounts};
  context_ = &slow;
  timeout_s_ = 2;
  const Answer page = ask("GET", "People()", "$filter=none%20eq%201");
  EXPECT_EQ(page.status, 200);
  EXPECT_EQ(rows(page), "");
  EXPECT_NE(next(page), "");
}

TEST_F(TableServiceTest, QueriesSelectAndAnnotate) {
  insert("p", "r", R"(,"a":1,"l":"5","l@odata.type":"Edm.Int64")");
  const Answer page =
      ask("GET", "People()", "$select=a,l", "", {{"Accept", "application/json;odata=nometadata"}});
  EXPECT_EQ(page.body, R"({"value":[{"a":1,"l":"5"}]})");
  EXPECT_EQ(page.header("Content-Type"),
            "application/json;odata=nometadata;streaming=true;charset=utf-8");
  const Answer one = ask("GET", "People(PartitionKey='p',RowKey='r')", "$select=a");
  EXPECT_TRUE(
      one.body.starts_with(R"({"odata.metadata":"http://h/$metadata#People/@Element&$select=a",)"));
  EXPECT_EQ(ask("GET", "People()", "", "", {{"Accept", "application/atom+xml"}}).code,
            "AtomFormatNotSupported");
  EXPECT_EQ(ask("GET", "People()", "$filter=aaa%20bbb").code, "InvalidInput");
  EXPECT_EQ(ask("GET", "People()", "NextPartitionKey=x").code, "InvalidInput");
  EXPECT_EQ(ask("GET", "Nobody()").code, "TableNotFound");
}

TEST_F(TableServiceTest, TopMayAskForNothingButNotForTooMuch) {
  insert("p", "r");
  for (const std::string path : {"People()", "Tables"}) {
    const Answer none = ask("GET", path, "$top=0");
    EXPECT_EQ(none.status, 200) << path;
    EXPECT_NE(none.body.find("\"value\":[]"), std::string::npos) << none.body;
    EXPECT_EQ(none.head.find("x-ms-continuation"), std::string::npos) << none.head;
    EXPECT_EQ(ask("GET", path, "$top=1000").status, 200) << path;
    for (const std::string top : {"1001", "-1", "x", ""})
      EXPECT_EQ(ask("GET", path, "$top=" + top).code, "InvalidInput") << path << top;
  }
}

TEST_F(TableServiceTest, RefusesOptionsItKnowsAndDoesNotOffer) {
  insert("p", "r");
  for (const std::string path : {"People()", "People(PartitionKey='p',RowKey='r')", "Tables"}) {
    for (const std::string option : {"$orderby=a", "$skip=1", "$skiptoken=x", "$expand=a",
                                     "$inlinecount=allpages", "$count=true", "$OrderBy=a%20desc"}) {
      const Answer refused = ask("GET", path, option);
      EXPECT_EQ(refused.status, 501) << path << option;
      EXPECT_EQ(refused.code, "NotImplemented") << path << option;
    }
    EXPECT_EQ(ask("GET", path, "$orderbyabc=a&zebra=b&$format=application/json").status, 200)
        << path;
  }
}

TEST_F(TableServiceTest, RefusesFunctionsInFilters) {
  const std::pair<const char*, const char*> rows[] = {
      {"startswith(PartitionKey,'p')", "NotImplemented"},
      {"a%20eq%201%20and%20substringof('x',b)%20eq%20true", "NotImplemented"},
      {"not%20endswith(b,'x')", "NotImplemented"},
      {"length(b)%20gt%203", "NotImplemented"},
      {"unheard(b)", "InvalidInput"},
      {"startswith%20eq%20'x'", ""},  // a property of that name
  };
  for (const auto& [filter, code] : rows) {
    for (const char* path : {"People()", "Tables"})
      EXPECT_EQ(ask("GET", path, std::string("$filter=") + filter).code, code) << filter;
  }
}

TEST_F(TableServiceTest, ThereIsNothingBelowATable) {
  insert("p", "r");
  struct Case {
    std::string_view method;
    std::string_view path;
    std::string_view if_match;
    int status;
    std::string_view code;
  };
  for (const Case& c : std::initializer_list<Case>{
           {"GET", "People/x", "", 501, "NotImplemented"},
           {"GET", "People/", "", 501, "NotImplemented"},
           {"GET", "People//(PartitionKey='p',RowKey='r')", "", 501, "NotImplemented"},
           {"GET", "Nobody/x", "", 404, "TableNotFound"},
           {"PUT", "People/x", "", 400, "InvalidInput"},
           {"PATCH", "People//(PartitionKey='p',RowKey='r')", "", 400, "InvalidInput"},
           {"MERGE", "People/x", "*", 404, "ResourceNotFound"},
           {"DELETE", "People/x", "*", 404, "ResourceNotFound"},
           {"DELETE", "Nobody/x", "*", 404, "TableNotFound"},
           {"POST", "People/x", "", 400, "InvalidInput"},
           {"POST", "Nobody/x", "", 404, "TableNotFound"},
           {"GET", "a/x", "", 400, "OutOfRangeInput"},
           {"GET", "1table/x", "", 400, "InvalidResourceName"}}) {
    Headers headers;
    if (!c.if_match.empty()) headers.emplace_back("If-Match", c.if_match);
    const Answer answer =
        ask(c.method, c.path, "", R"({"PartitionKey":"q","RowKey":"new"})", headers);
    EXPECT_EQ(answer.status, c.status) << c.method << " " << c.path;
    EXPECT_EQ(answer.code, c.code) << c.method << " " << c.path;
  }
  EXPECT_EQ(rows(ask("GET", "People()")), "r ") << "nothing was written";
}

TEST_F(TableServiceTest, PreferencesAreAppliedToErrorsOfExecution) {
  const Headers prefers = {{"Prefer", "return-no-content"}};
  insert("p", "r");
  const Answer there = ask("POST", "Tables", "", R"({"TableName":"People"})", prefers);
  EXPECT_EQ(there.code, "TableAlreadyExists");
  EXPECT_EQ(there.header("Preference-Applied"), "return-no-content");
  const Answer entity = ask("POST", "People", "", R"({"PartitionKey":"p","RowKey":"r"})",
                            {{"Prefer", "return-content"}});
  EXPECT_EQ(entity.code, "EntityAlreadyExists");
  EXPECT_EQ(entity.header("Preference-Applied"), "return-content");
  const Answer nowhere = ask("POST", "Nobody", "", R"({"PartitionKey":"p","RowKey":"r"})", prefers);
  EXPECT_EQ(nowhere.code, "TableNotFound");
  EXPECT_EQ(nowhere.header("Preference-Applied"), "") << "nothing was executed";
  EXPECT_EQ(ask("POST", "Tables", "", R"({"TableName":"People"})").header("Preference-Applied"),
            "");
}

TEST_F(TableServiceTest, LargeEntitiesAndLargeBodies) {
  const auto with_bytes = [](size_t bytes) {
    std::string json = R"({"PartitionKey":"p","RowKey":"r")";
    const std::string text(30'000, 'x');  // 60 KB as the service counts
    for (size_t i = 0; i * text.size() < bytes; ++i)
      json += ",\"t" + std::to_string(i) + "\":\"" + text + "\"";
    return json + "}";
  };
  EXPECT_EQ(ask("POST", "People", "", with_bytes(400'000)).status, 201);
  const Answer entity = ask("POST", "People", "", with_bytes(600'000));
  EXPECT_EQ(entity.code, "EntityTooLarge");
  EXPECT_EQ(entity.status, 400);
  const Answer body = ask("POST", "People", "", with_bytes(4'300'000));
  EXPECT_EQ(body.code, "RequestBodyTooLarge");
  EXPECT_EQ(body.status, 413);
}

TEST_F(TableServiceTest, SasKeyRangesHoldEverywhere) {
  for (const char* partition : {"a", "b", "c"}) insert(partition, "1");
  caller_.kind = auth::Caller::Kind::kServiceSas;
  caller_.container = "people";
  caller_.permissions = "raud";
  caller_.key_range = {"b", {}, "b", {}};
  EXPECT_EQ(rows(ask("GET", "People()")), "1 ");
  EXPECT_NE(ask("GET", "People()").body.find("\"PartitionKey\":\"b\""), std::string::npos);
  for (const std::string_view partition : {"a", "c"}) {
    const std::string path = "People(PartitionKey='" + std::string(partition) + "',RowKey='1')";
    for (const std::string_view method : {"GET", "PUT", "PATCH", "DELETE"})
      EXPECT_EQ(ask(method, path, "", "{}", {{"If-Match", "*"}}).code, "AuthorizationFailure")
          << method;
    EXPECT_EQ(insert(partition, "2").code, "AuthorizationFailure");
  }
  EXPECT_EQ(insert("b", "2").status, 204);
  caller_.permissions = "u";
  EXPECT_EQ(ask("PUT", "People(PartitionKey='b',RowKey='3')", "", "{}").code,
            "AuthorizationPermissionMismatch")
      << "an upsert may add";
  EXPECT_EQ(ask("PUT", "People(PartitionKey='b',RowKey='1')", "", "{}", {{"If-Match", "*"}}).status,
            204);
  EXPECT_EQ(ask("GET", "Tables").code, "AuthorizationFailure");
}

TEST_F(TableServiceTest, ErrorsAreJsonOrXml) {
  const Answer json = ask("GET", "People(PartitionKey='p',RowKey='x')");
  EXPECT_TRUE(json.body.starts_with(
      R"({"odata.error":{"code":"ResourceNotFound","message":{"lang":"en-US","value":"The specified resource does not exist.\nRequestId:id\nTime:)"));
  EXPECT_EQ(json.header("x-ms-error-code"), "");
  const Answer xml = ask("GET", "Nobody", "comp=acl");
  EXPECT_EQ(xml.header("x-ms-error-code"), "ResourceNotFound");
  EXPECT_NE(xml.body.find("<m:code>ResourceNotFound</m:code>"), std::string::npos);
}

TEST_F(TableServiceTest, TunnelledMethods) {
  const std::string path = "People(PartitionKey='p',RowKey='r')";
  EXPECT_EQ(ask("PUT", path, "", "{}", {{"X-HTTP-Method", "MERGE"}}).code, "XMethodNotUsingPost");
  EXPECT_EQ(ask("POST", path, "", "{}", {{"X-HTTP-Method", "COPY"}}).code, "XMethodIncorrectValue");
  EXPECT_EQ(ask("POST", path, "", "{}", {{"X-HTTP-Method", "PUT"}, {"X-HTTP-Method", "PUT"}}).code,
            "XMethodIncorrectCount");
}

TEST(Token, ReadsBack) {
  for (const std::string_view key : {"", "a", "ab", "abc", "\xc3\xa9/+"}) {
    EXPECT_EQ(decode_token(encode_token(key)), key);
  }
  EXPECT_EQ(encode_token("pk173c2a5d"), "1!16!cGsxNzNjMmE1ZA--");
  for (const std::string_view text :
       {"", "1", "1!", "2!4!YQ--", "1!3!YQ--", "1!4!****", "1!x!YQ--"})
    EXPECT_FALSE(decode_token(text)) << text;
}

}  // namespace
}  // namespace kyanite::table
