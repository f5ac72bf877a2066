#include "auth/shared_key.h"

#include "auth/failure.h"
#include "auth/header_order.h"
#include "auth/testing.h"

namespace kyanite::auth {

namespace {
constexpr auto kBlob = wire::Service::kBlob;
constexpr auto kTable = wire::Service::kTable;
const std::string kDate = "Sun, 01 Mar 2026 12:00:00 GMT";
const Time kNow = iso("2026-03-01T12:00:00Z");

struct Case {
  const char* name;
  wire::Service service;
  const char* method;
  const char* target;
  HeaderList headers;
  const char* scheme;
  std::string text;  // what the client signs
};

// Written out as the documentation has them, apart from the code under test.
const std::vector<Case>& cases() {
  static const std::vector<Case> all = {
      {"all standard headers, in order",
       kBlob,
       "PUT",
       "/devstoreaccount1/c/b?comp=block&blockid=QQ%3D%3D",
       {{"content-encoding", "gzip"},
        {"Content-Language", "de"},
        {"Content-Length", "11"},
        {"Content-MD5", "md5=="},
        {"Content-Type", "text/plain"},
        {"Date", kDate},
        {"If-Modified-Since", "ims"},
        {"If-Match", "im"},
        {"If-None-Match", "inm"},
        {"If-Unmodified-Since", "ius"},
        {"Range", "bytes=0-1"},
        {"x-ms-version", "2021-12-02"}},
       "SharedKey",
       "PUT\ngzip\nde\n11\nmd5==\ntext/plain\n" + kDate +
           "\nims\nim\ninm\nius\nbytes=0-1\nx-ms-version:2021-12-02\n"
           "/devstoreaccount1/devstoreaccount1/c/b\nblockid:QQ==\ncomp:block"},
      {"Content-Language before Content-Encoding",
       kBlob,
       "PUT",
       "/devstoreaccount1/c/b",
       {{"Content-Encoding", "gzip"}, {"Content-Language", "de"}, {"x-ms-date", kDate}},
       "SharedKey",
       "PUT\nde\ngzip\n\n\n\n\n\n\n\n\n\nx-ms-date:" + kDate +
           "\n/devstoreaccount1/devstoreaccount1/c/b"},
      {"a length of zero is empty in a part of a batch, which names no version",
       kBlob,
       "DELETE",
       "/devstoreaccount1/c/b",
       {{"Content-Length", "0"}, {"x-ms-date", kDate}},
       "SharedKey",
       "DELETE\n\n\n\n\n\n\n\n\n\n\n\nx-ms-date:" + kDate +
           "\n/devstoreaccount1/devstoreaccount1/c/b"},
      {"a length of zero is empty from 2015-02-21 on",
       kBlob,
       "PUT",
       "/devstoreaccount1/c",
       {{"Content-Length", "0"}, {"x-ms-date", kDate}, {"x-ms-version", "2015-02-21"}},
       "SharedKey",
       "PUT\n\n\n\n\n\n\n\n\n\n\n\nx-ms-date:" + kDate +
           "\nx-ms-version:2015-02-21\n/devstoreaccount1/devstoreaccount1/c"},
      {"and a zero before",
       kBlob,
       "PUT",
       "/devstoreaccount1/c",
       {{"Content-Length", "0"}, {"x-ms-date", kDate}, {"x-ms-version", "2014-02-14"}},
       "SharedKey",
       "PUT\n\n\n0\n\n\n\n\n\n\n\n\nx-ms-date:" + kDate +
           "\nx-ms-version:2014-02-14\n/devstoreaccount1/devstoreaccount1/c"},
      {"names in lower case, sorted by bytes",
       kBlob,
       "GET",
       "/devstoreaccount1/",
       {{"X-MS-Date", kDate},
        {"x-ms-meta-a_1", "u"},
        {"x-ms-meta-a1", "d"},
        {"x-ms-Blob-type", "x"}},
       "SharedKey",
       "GET\n\n\n\n\n\n\n\n\n\n\n\nx-ms-blob-type:x\nx-ms-date:" + kDate +
           "\nx-ms-meta-a1:d\nx-ms-meta-a_1:u\n/devstoreaccount1/devstoreaccount1/"},
      {"names in the order of the JavaScript SDK",
       kBlob,
       "DELETE",
       "/devstoreaccount1/c/b",
       {{"x-ms-date", kDate},
        {"x-ms-delete-snapshots", "include"},
        {"x-ms-deleted-x", "1"},
        {"x-ms-meta-a_1", "u"},
        {"x-ms-meta-a1", "d"}},
       "SharedKey",
       "DELETE\n\n\n\n\n\n\n\n\n\n\n\nx-ms-date:" + kDate +
           "\nx-ms-deleted-x:1\nx-ms-delete-snapshots:include\nx-ms-meta-a_1:u\nx-ms-meta-a1:d\n"
           "/devstoreaccount1/devstoreaccount1/c/b"},
      {"blanks in values as they are",
       kBlob,
       "GET",
       "/devstoreaccount1/c",
       {{"x-ms-date", kDate}, {"x-ms-meta-m", "a  b \t c"}},
       "SharedKey",
       "GET\n\n\n\n\n\n\n\n\n\n\n\nx-ms-date:" + kDate +
           "\nx-ms-meta-m:a  b \t c\n/devstoreaccount1/devstoreaccount1/c"},
      {"blanks in values folded",
       kBlob,
       "GET",
       "/devstoreaccount1/c",
       {{"x-ms-date", kDate}, {"x-ms-meta-m", "a  b \t c"}},
       "SharedKey",
       "GET\n\n\n\n\n\n\n\n\n\n\n\nx-ms-date:" + kDate +
           "\nx-ms-meta-m:a b c\n/devstoreaccount1/devstoreaccount1/c"},
      {"two dialects at once",
       kBlob,
       "GET",
       "/devstoreaccount1/c",
       {{"x-ms-date", kDate}, {"x-ms-meta-a1", "a  b"}, {"x-ms-meta-a_1", "c"}},
       "SharedKey",
       "GET\n\n\n\n\n\n\n\n\n\n\n\nx-ms-date:" + kDate +
           "\nx-ms-meta-a_1:c\nx-ms-meta-a1:a b\n/devstoreaccount1/devstoreaccount1/c"},
      {"repeated headers are joined",
       kBlob,
       "GET",
       "/devstoreaccount1/c",
       {{"x-ms-meta-m", "2"}, {"x-ms-date", kDate}, {"X-ms-meta-M", "1"}},
       "SharedKey",
       "GET\n\n\n\n\n\n\n\n\n\n\n\nx-ms-date:" + kDate +
           "\nx-ms-meta-m:2,1\n/devstoreaccount1/devstoreaccount1/c"},
      {"parameters in lower case, sorted, decoded, repeated ones joined",
       kBlob,
       "GET",
       "/devstoreaccount1/c?Z=%2f%2B+&a=2&restype=container&A=1&empty",
       {{"x-ms-date", kDate}},
       "SharedKey",
       "GET\n\n\n\n\n\n\n\n\n\n\n\nx-ms-date:" + kDate +
           "\n/devstoreaccount1/devstoreaccount1/c\na:1,2\nempty:\nrestype:container\nz:/+ "},
      {"the path stays encoded",
       kBlob,
       "GET",
       "/devstoreaccount1/c/a%20b%C3%A4",
       {{"x-ms-date", kDate}},
       "SharedKey",
       "GET\n\n\n\n\n\n\n\n\n\n\n\nx-ms-date:" + kDate +
           "\n/devstoreaccount1/devstoreaccount1/c/a%20b%C3%A4"},
      {"host style has the account once",
       kBlob,
       "GET",
       "/c/b",
       {{"x-ms-date", kDate}},
       "SharedKey",
       "GET\n\n\n\n\n\n\n\n\n\n\n\nx-ms-date:" + kDate + "\n/devstoreaccount1/c/b"},
      {"secondary as addressed",
       kBlob,
       "GET",
       "/devstoreaccount1-secondary/c/b",
       {{"x-ms-date", kDate}},
       "SharedKey",
       "GET\n\n\n\n\n\n\n\n\n\n\n\nx-ms-date:" + kDate +
           "\n/devstoreaccount1/devstoreaccount1-secondary/c/b"},
      {"secondary without saying so",
       kBlob,
       "GET",
       "/devstoreaccount1-secondary/c/b",
       {{"x-ms-date", kDate}},
       "SharedKey",
       "GET\n\n\n\n\n\n\n\n\n\n\n\nx-ms-date:" + kDate +
           "\n/devstoreaccount1/devstoreaccount1/c/b"},
      {"lite",
       kBlob,
       "PUT",
       "/devstoreaccount1/c/b?comp=metadata&timeout=20",
       {{"Content-MD5", "md5=="},
        {"Content-Type", "t"},
        {"x-ms-date", kDate},
        {"Range", "unsigned"}},
       "SharedKeyLite",
       "PUT\nmd5==\nt\n\nx-ms-date:" + kDate +
           "\n/devstoreaccount1/devstoreaccount1/c/b?comp=metadata"},
      {"lite with Date",
       kBlob,
       "GET",
       "/devstoreaccount1/c/b?timeout=20",
       {{"Date", kDate}},
       "SharedKeyLite",
       "GET\n\n\n" + kDate + "\n/devstoreaccount1/devstoreaccount1/c/b"},
      {"table",
       kTable,
       "POST",
       "/devstoreaccount1/People?timeout=1",
       {{"Content-MD5", "md5=="},
        {"Content-Type", "application/json"},
        {"x-ms-date", kDate},
        {"x-ms-meta", "no"}},
       "SharedKey",
       "POST\nmd5==\napplication/json\n" + kDate + "\n/devstoreaccount1/devstoreaccount1/People"},
      {"table lite",
       kTable,
       "GET",
       "/devstoreaccount1/?restype=service&comp=properties",
       {{"Date", kDate}},
       "SharedKeyLite",
       kDate + "\n/devstoreaccount1/devstoreaccount1/?comp=properties"},
  };
  return all;
}

HeaderList with_signature(const Case& given, std::string_view key) {
  HeaderList headers = given.headers;
  headers.emplace_back("Authorization", std::string(given.scheme) + " " + kTestAccount + ":" +
                                            sign(key, given.text));
  return headers;
}

TEST(SharedKey, AcceptsEveryFormByEitherKey) {
  for (const auto& given : cases()) {
    for (const auto& key : {kTestKey, kOtherKey}) {
      Call call(given.service, given.method, given.target, with_signature(given, key));
      const auto caller = call.authenticate(kNow);
      ASSERT_TRUE(caller.ok()) << given.name << ": " << detail_of(caller);
      EXPECT_EQ(caller->kind, Caller::Kind::kOwner);
    }
  }
}

TEST(SharedKey, RefusesAChangedText) {
  for (auto given : cases()) {
    given.text.back() ^= 1;
    Call call(given.service, given.method, given.target, with_signature(given, kTestKey));
    const auto caller = call.authenticate(kNow);
    EXPECT_EQ(code_of(caller), "AuthenticationFailed") << given.name;
    EXPECT_EQ(caller.error().status, 403);
  }
}

TEST(SharedKey, RefusesTheOtherScheme) {
  for (auto given : cases()) {
    given.scheme = std::string_view(given.scheme) == "SharedKey" ? "SharedKeyLite" : "SharedKey";
    Call call(given.service, given.method, given.target, with_signature(given, kTestKey));
    EXPECT_EQ(code_of(call.authenticate(kNow)), "AuthenticationFailed") << given.name;
  }
}

TEST(SharedKey, SaysWhatItSignedButNoKey) {
  Call call(kBlob, "GET", "/devstoreaccount1/c",
            {{"x-ms-date", kDate}, {"Authorization", "SharedKey devstoreaccount1:AA=="}});
  const std::string detail = detail_of(call.authenticate(kNow));
  EXPECT_EQ(detail,
            "The MAC signature found in the HTTP request 'AA==' is not the same as any computed "
            "signature. Server used "
            "following string to sign: 'GET\n\n\n\n\n\n\n\n\n\n\n\nx-ms-date:" +
                kDate + "\n/devstoreaccount1/devstoreaccount1/c'.");
  EXPECT_EQ(detail.find(kTestKey), std::string::npos);
}

TEST(SharedKey, ClockSkewIsFifteenMinutesEitherWay) {
  const Case& given = cases().front();
  const struct {
    int64_t ticks;
    bool accepted;
  } skews[] = {{0, true},
               {900 * kTicksPerSecond, true},
               {900 * kTicksPerSecond + 1, false},
               {-900 * kTicksPerSecond, true},
               {-900 * kTicksPerSecond - 1, false}};
  for (const auto& skew : skews) {
    Call call(given.service, given.method, given.target, with_signature(given, kTestKey));
    EXPECT_EQ(call.authenticate(Time{kNow.ticks + skew.ticks}).ok(), skew.accepted) << skew.ticks;
  }
}

TEST(SharedKey, DateIsMandatoryAndXmsDateGoesFirst) {
  const struct {
    HeaderList headers;
    const char* code;
  } requests[] = {
      {{}, "AuthenticationFailed"},
      {{{"Date", "yesterday"}}, "AuthenticationFailed"},
      {{{"x-ms-date", "Sat, 28 Feb 2026 12:00:00 GMT"}, {"Date", kDate}}, "AuthenticationFailed"},
      {{{"x-ms-date", kDate}, {"Date", "Sat, 28 Feb 2026 12:00:00 GMT"}}, ""},
  };
  for (const auto& given : requests) {
    HeaderList headers = given.headers;
    Call unsigned_call(kBlob, "GET", "/devstoreaccount1/c", headers);
    std::string text;
    string_to_sign(unsigned_call.request, unsigned_call.query, unsigned_call.target, false, {},
                   text);
    headers.emplace_back("Authorization", "SharedKey devstoreaccount1:" + sign(kTestKey, text));
    Call call(kBlob, "GET", "/devstoreaccount1/c", headers);
    EXPECT_EQ(code_of(call.authenticate(kNow)), given.code);
  }
}

TEST(SharedKey, MalformedHeadersAndStrangers) {
  const struct {
    const char* authorization;
    int status;
    const char* code;
  } headers[] = {
      {"", 400, "InvalidAuthenticationInfo"},
      {"SharedKey", 400, "InvalidAuthenticationInfo"},
      {"SharedKey ", 400, "InvalidAuthenticationInfo"},
      {"SharedKey devstoreaccount1", 400, "InvalidAuthenticationInfo"},
      {"SharedKey :abc", 400, "InvalidAuthenticationInfo"},
      {"SharedKey devstoreaccount1:", 400, "InvalidAuthenticationInfo"},
      {"Basic dXNlcjpwYXNz", 400, "InvalidAuthenticationInfo"},
      {"SharedKey devstoreaccount1:not base64", 403, "AuthenticationFailed"},
      {"SharedKey devstoreaccount1:AAAA", 403, "AuthenticationFailed"},
      {"SharedKey stranger:AAAA", 403, "AuthenticationFailed"},
  };
  for (const auto& given : headers) {
    Call call(kBlob, "GET", "/devstoreaccount1/c",
              {{"x-ms-date", kDate}, {"Authorization", given.authorization}});
    const auto caller = call.authenticate(kNow);
    ASSERT_FALSE(caller.ok()) << given.authorization;
    EXPECT_EQ(code_of(caller), given.code) << given.authorization;
    EXPECT_EQ(caller.error().status, given.status) << given.authorization;
  }
}

// Two keys are tried, so that a guess costs twice the length of the text.
TEST(SharedKey, GuessesAreLimited) {
  const auto outcome = [](size_t text_bytes, Dialect dialect) {
    std::string padding;
    std::string text;
    HeaderList headers = {{"x-ms-date", kDate},
                          {"x-ms-delete-snapshots", "include"},
                          {"x-ms-deleted-one", "1"},
                          {"x-ms-meta-pad", ""}};
    for (int round = 0; round < 2; ++round) {
      headers.back().second = padding;
      Call call(kBlob, "PUT", "/devstoreaccount1/c/b", headers);
      string_to_sign(call.request, call.query, call.target, false, dialect, text);
      if (round == 0) padding.assign(text_bytes - text.size(), 'a');
    }
    EXPECT_EQ(text.size(), text_bytes);
    headers.emplace_back("Authorization", "SharedKey devstoreaccount1:" + sign(kTestKey, text));
    return code_of(Call(kBlob, "PUT", "/devstoreaccount1/c/b", headers).authenticate(kNow));
  };
  const size_t most = kMaxGuessedBytes / 2;
  EXPECT_EQ(outcome(most, {.sdk_header_order = true}), "");
  EXPECT_EQ(outcome(most + 1, {.sdk_header_order = true}), "AuthenticationFailed");
  EXPECT_EQ(outcome(most + 1, {}), "");  // Needs no guess.
}

TEST(SharedKey, LongTextsAreQuotedInPart) {
  Call call(kBlob, "GET", "/devstoreaccount1/c/b",
            {{"x-ms-date", kDate},
             {"x-ms-meta-a", std::string(30'000, 'a')},
             {"Authorization", "SharedKey devstoreaccount1:" + std::string(30'000, 'A')}});
  EXPECT_LE(detail_of(call.authenticate(kNow)).size(), 2 * kMaxQuotedBytes + 200);
}

TEST(HeaderOrder, TheTwoOrders) {
  const auto entry = [](std::string_view name) { return NumberedHeader{{name, ""}, 0}; };
  const struct {
    const char* first;
    const char* second;
    bool by_bytes;
    bool by_sdk;
  } pairs[] = {
      {"x-ms-a", "x-ms-b", true, true},
      {"x-ms-a", "x-ms-a-b", true, true},
      {"x-ms-delete-snapshots", "x-ms-deleted-container-name", true, false},
      {"x-ms-enable-snapshot-virtual-directory-access", "x-ms-enabled-protocols", true, false},
      {"x-ms-meta-a1", "x-ms-meta-a_1", true, false},
      {"x-ms-meta-ab", "x-ms-meta-a-b", false, true},
      {"x-ms-meta-a", "X-MS-META-A", false, false},
  };
  for (const auto& pair : pairs) {
    EXPECT_EQ(byte_order(entry(pair.first), entry(pair.second)), pair.by_bytes) << pair.first;
    EXPECT_EQ(sdk_order(entry(pair.first), entry(pair.second)), pair.by_sdk) << pair.first;
  }
}
}  // namespace

}  // namespace kyanite::auth
