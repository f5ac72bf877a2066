#include "auth/sas.h"

#include "auth/address_range.h"
#include "auth/failure.h"
#include "auth/testing.h"

namespace kyanite::auth {

namespace {
constexpr auto kBlob = wire::Service::kBlob;
constexpr auto kQueue = wire::Service::kQueue;
constexpr auto kTable = wire::Service::kTable;
constexpr auto kFile = wire::Service::kFile;
const Time kNow = iso("2026-03-01T12:00:00Z");

// "sp=r&st=...": the values encoded.
std::string encode(const HeaderList& fields) {
  std::string out;
  for (const auto& [field, value] : fields) {
    if (!out.empty()) out.push_back('&');
    out.append(field).append("=").append(wire::percent_encode(value));
  }
  return out;
}

std::string token(HeaderList fields, std::string_view text, std::string_view key = kTestKey) {
  fields.emplace_back("sig", sign(key, text));
  return encode(fields);
}

struct Case {
  const char* name;
  wire::Service service;
  const char* path;
  HeaderList fields;
  std::string text;
};

// Layouts older than the SDKs at hand can make, written out by hand.
const std::vector<Case>& old_tokens() {
  static const std::vector<Case> all = {
      {"2012-02-12 container",
       kBlob,
       "/devstoreaccount1/c/b",
       {{"sv", "2012-02-12"}, {"sr", "c"}, {"sp", "r"}, {"st", "2026-03-01"}, {"se", "2026-03-02"}},
       "r\n2026-03-01\n2026-03-02\n/devstoreaccount1/c\n\n2012-02-12"},
      {"2012-02-12 queue",
       kQueue,
       "/devstoreaccount1/q/messages",
       {{"sv", "2012-02-12"}, {"sp", "r"}, {"se", "2026-03-02T00:00Z"}},
       "r\n\n2026-03-02T00:00Z\n/devstoreaccount1/q\n\n2012-02-12"},
      {"2012-02-12 table",
       kTable,
       "/devstoreaccount1/People",
       {{"sv", "2012-02-12"},
        {"tn", "People"},
        {"sp", "r"},
        {"se", "2026-03-02"},
        {"spk", "a"},
        {"epk", "b"}},
       "r\n\n2026-03-02\n/devstoreaccount1/people\n\n2012-02-12\na\n\nb\n"},
      {"2013-08-15 blob signs the overrides",
       kBlob,
       "/devstoreaccount1/c/b",
       {{"sv", "2013-08-15"},
        {"sr", "b"},
        {"sp", "r"},
        {"se", "2026-03-02"},
        {"rsct", "text/plain"}},
       "r\n\n2026-03-02\n/devstoreaccount1/c/b\n\n2013-08-15\n\n\n\n\ntext/plain"},
      {"2014-02-14 blob with the service",
       kBlob,
       "/devstoreaccount1/c/b",
       {{"sv", "2014-02-14"}, {"sr", "b"}, {"sp", "r"}, {"se", "2026-03-02"}},
       "r\n\n2026-03-02\n/blob/devstoreaccount1/c/b\n\n2014-02-14\n\n\n\n\n"},
      {"2015-02-21 file",
       kFile,
       "/devstoreaccount1/s/f",
       {{"sv", "2015-02-21"}, {"sr", "f"}, {"sp", "r"}, {"se", "2026-03-02"}},
       "r\n\n2026-03-02\n/file/devstoreaccount1/s/f\n\n2015-02-21\n\n\n\n\n"},
      {"host style",
       kBlob,
       "/c/b",
       {{"sv", "2018-11-09"}, {"sr", "c"}, {"sp", "r"}, {"se", "2026-03-02"}},
       "r\n\n2026-03-02\n/blob/devstoreaccount1/c\n\n\n\n2018-11-09\nc\n\n\n\n\n\n"},
      {"a policy may stand for everything",
       kBlob,
       "/devstoreaccount1/c/b",
       {{"sv", "2018-11-09"}, {"sr", "c"}, {"si", "policy"}},
       "\n\n\n/blob/devstoreaccount1/c\npolicy\n\n\n2018-11-09\nc\n\n\n\n\n\n"},
  };
  return all;
}

TEST(Sas, OldLayoutsByEitherKey) {
  for (const auto& given : old_tokens()) {
    for (const auto& key : {kTestKey, kOtherKey}) {
      Call call(given.service, "GET",
                std::string(given.path) + "?" + token(given.fields, given.text, key));
      const auto caller = call.authenticate(kNow);
      ASSERT_TRUE(caller.ok()) << given.name << ": " << detail_of(caller);
      EXPECT_EQ(caller->kind, Caller::Kind::kServiceSas);
      EXPECT_EQ(caller->version, given.fields.front().second);
    }
  }
}

TEST(Sas, AChangedTextIsRefused) {
  for (const auto& given : old_tokens()) {
    const std::string text = "x" + given.text;
    Call call(given.service, "GET", std::string(given.path) + "?" + token(given.fields, text));
    EXPECT_EQ(code_of(call.authenticate(kNow)), "AuthenticationFailed") << given.name;
  }
}

// A container token of 2018-11-09 with some fields replaced or added; signed as the layout wants.
std::string container_token(const HeaderList& changes) {
  HeaderList fields = {{"sp", "rl"},
                       {"st", "2026-03-01T11:00:00Z"},
                       {"se", "2026-03-01T13:00:00Z"},
                       {"si", ""},
                       {"sip", ""},
                       {"spr", ""},
                       {"sv", "2018-11-09"},
                       {"sr", "c"}};
  for (const auto& [field, value] : changes) {
    for (auto& [known, current] : fields) {
      if (known == field) current = value;
    }
  }
  const auto value = [&](std::string_view field) {
    for (const auto& [known, current] : fields) {
      if (known == field) return current;
    }
    return std::string();
  };
  const std::string text = value("sp") + "\n" + value("st") + "\n" + value("se") +
                           "\n/blob/devstoreaccount1/c\n" + value("si") + "\n" + value("sip") +
                           "\n" + value("spr") + "\n" + value("sv") + "\n" + value("sr") +
                           "\n\n\n\n\n\n";
  return token(fields, text);
}

TEST(Sas, TheWindowIncludesItsStartAndExcludesItsEnd) {
  const Time start = iso("2026-03-01T11:00:00Z");
  const Time expiry = iso("2026-03-01T13:00:00Z");
  const struct {
    Time now;
    bool accepted;
  } moments[] = {
      {{start.ticks - 1}, false}, {start, true}, {{expiry.ticks - 1}, true}, {expiry, false}};
  for (const auto& moment : moments) {
    Call call(kBlob, "GET", "/devstoreaccount1/c/b?" + container_token({}));
    const auto caller = call.authenticate(moment.now);
    EXPECT_EQ(caller.ok(), moment.accepted) << moment.now.ticks - start.ticks;
    if (!moment.accepted) {
      EXPECT_EQ(code_of(caller), "AuthenticationFailed");
    }
  }
  Call late(kBlob, "GET", "/devstoreaccount1/c/b?" + container_token({}));
  EXPECT_EQ(detail_of(late.authenticate(expiry)),
            "Signature not valid in the specified time frame: Start [Sun, 01 Mar 2026 11:00:00 "
            "GMT] - Expiry [Sun, 01 "
            "Mar 2026 13:00:00 GMT] - Current [Sun, 01 Mar 2026 13:00:00 GMT]");
}

TEST(Sas, FieldsThatAreWrong) {
  const struct {
    HeaderList changes;
    const char* code;
  } tokens[] = {
      {{}, ""},
      {{{"st", ""}}, ""},
      {{{"st", "2026-03-01"}}, ""},
      {{{"st", "2026-03-01T11:00Z"}}, ""},
      {{{"st", "2026-03-01T11:00:00.1234567Z"}}, ""},
      {{{"st", "yesterday"}}, "AuthenticationFailed"},
      {{{"st", "2026-02-30"}}, "AuthenticationFailed"},
      {{{"se", "tomorrow"}}, "AuthenticationFailed"},
      {{{"se", ""}}, "AuthenticationFailed"},
      {{{"se", "2026-03-01T10:00:00Z"}}, "AuthenticationFailed"},  // before the start
      {{{"sp", ""}}, "AuthenticationFailed"},
      {{{"sp", "R"}}, "AuthenticationFailed"},
      {{{"sp", "r,l"}}, "AuthenticationFailed"},
      {{{"sp", "rlu"}}, "AuthenticationFailed"},  // No permission on blobs.
      {{{"sp", "racwdxyltfmeopi"}}, ""},
      {{{"sv", ""}}, "AuthenticationFailed"},
      {{{"sv", "2011-08-18"}}, "AuthenticationFailed"},
      {{{"sv", "newest"}}, "AuthenticationFailed"},
      {{{"sr", ""}}, "AuthenticationFailed"},
      {{{"sr", "x"}}, "AuthenticationFailed"},
      {{{"sr", "d"}}, "AuthenticationFailed"},   // without depth
      {{{"sr", "bs"}}, "AuthenticationFailed"},  // without snapshot
      {{{"sr", "bv"}}, "AuthenticationFailed"},  // without version
      {{{"spr", "https,http"}}, ""},
      {{{"spr", "https"}}, "AuthorizationProtocolMismatch"},
      {{{"spr", "http"}}, "AuthenticationFailed"},
      {{{"sip", "127.0.0.1"}}, ""},
      {{{"sip", "127.0.0.0-127.0.0.255"}}, ""},
      {{{"sip", "127.0.0.2"}}, "AuthorizationSourceIPMismatch"},
      {{{"sip", "127.0.0.2-127.0.0.9"}}, "AuthorizationSourceIPMismatch"},
      {{{"sip", "127.0.0.9-127.0.0.0"}}, "AuthenticationFailed"},
      {{{"sip", "localhost"}}, "AuthenticationFailed"},
  };
  for (const auto& given : tokens) {
    Call call(kBlob, "GET", "/devstoreaccount1/c/b?" + container_token(given.changes));
    const auto caller = call.authenticate(kNow);
    EXPECT_EQ(code_of(caller), given.code) << encode(given.changes) << ": " << detail_of(caller);
    if (!caller.ok()) {
      EXPECT_EQ(caller.error().status, 403);
    }
  }
}

TEST(Sas, HttpsOnlyTokensNeedTls) {
  Call call(kBlob, "GET", "/devstoreaccount1/c/b?" + container_token({{"spr", "https"}}));
  call.request.secure = true;
  EXPECT_TRUE(call.authenticate(kNow).ok());
}

TEST(Sas, TheSourceAddressIsNamedInTheRefusal) {
  Call call(kBlob, "GET", "/devstoreaccount1/c/b?" + container_token({{"sip", "10.0.0.1"}}));
  const auto caller = call.authenticate(kNow);
  ASSERT_FALSE(caller.ok());
  EXPECT_NE(caller.error().message.find("source IP 127.0.0.1."), std::string::npos);
}

TEST(Sas, TheSignatureItself) {
  const std::string good = container_token({});
  const std::string unsigned_token = good.substr(0, good.find("&sig="));
  for (const char* signature :
       {"", "AAAA", "%20", "not%20base64", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA%3D"}) {
    Call call(kBlob, "GET", "/devstoreaccount1/c/b?" + unsigned_token + "&sig=" + signature);
    EXPECT_EQ(code_of(call.authenticate(kNow)), "AuthenticationFailed") << signature;
  }
  Call wrong(kBlob, "GET", "/devstoreaccount1/other/b?" + good);
  EXPECT_EQ(detail_of(wrong.authenticate(kNow)),
            "Signature did not match. String to sign used was "
            "rl\n2026-03-01T11:00:00Z\n2026-03-01T13:00:00Z\n"
            "/blob/devstoreaccount1/other\n\n\n\n2018-11-09\nc\n\n\n\n\n\n");
}

TEST(Sas, LevelsThatATokenDoesNotReach) {
  const auto blob_text = [](std::string_view sr) {
    return "r\n\n2026-03-02\n/blob/devstoreaccount1/c\n\n\n\n2018-11-09\n" + std::string(sr) +
           "\n\n\n\n\n\n";
  };
  const struct {
    const char* name;
    wire::Service service;
    const char* path;
    HeaderList fields;
    std::string text;
  } tokens[] = {
      {"a blob token at a container", kBlob, "/devstoreaccount1/c", {{"sr", "b"}}, blob_text("b")},
      {"a container token at the service",
       kBlob,
       "/devstoreaccount1/",
       {{"sr", "c"}},
       blob_text("c")},
      {"a queue token at the service", kQueue, "/devstoreaccount1/", {}, ""},
      {"a file token at a share", kFile, "/devstoreaccount1/s", {{"sr", "f"}}, ""},
      {"a blob resource in a file token", kFile, "/devstoreaccount1/s/f", {{"sr", "b"}}, ""},
      {"a table token without table", kTable, "/devstoreaccount1/People", {}, ""},
      {"a table token for another table",
       kTable,
       "/devstoreaccount1/People",
       {{"tn", "Places"}},
       ""},
  };
  for (const auto& given : tokens) {
    HeaderList fields = given.fields;
    fields.insert(fields.end(), {{"sv", "2018-11-09"}, {"sp", "r"}, {"se", "2026-03-02"}});
    Call call(given.service, "GET", std::string(given.path) + "?" + token(fields, given.text));
    EXPECT_EQ(code_of(call.authenticate(kNow)), "AuthenticationFailed") << given.name;
  }
}

TEST(Sas, ASignatureAloneNamesTheMissingField) {
  Call call(kFile, "GET", "/devstoreaccount1/s?restype=share&sig=x");
  EXPECT_EQ(detail_of(call.authenticate(kNow)), "sr is mandatory. Cannot be empty");
}

TEST(Sas, WhatATokenGrants) {
  const HeaderList fields = {{"sv", "2020-12-06"}, {"sr", "b"},       {"sp", "racwd"},
                             {"se", "2026-03-02"}, {"ses", "scope"},  {"rscc", "one"},
                             {"rscd", "two"},      {"rsce", "three"}, {"rscl", "four"},
                             {"rsct", "five"}};
  const std::string text =
      "racwd\n\n2026-03-02\n/blob/devstoreaccount1/c/"
      "b\n\n\n\n2020-12-06\nb\n\nscope\none\ntwo\nthree\nfour\nfive";
  Call call(kBlob, "GET", "/devstoreaccount1/c/b?" + token(fields, text));
  const auto caller = call.authenticate(kNow);
  ASSERT_TRUE(caller.ok()) << detail_of(caller);
  EXPECT_EQ(caller->permissions, Letters("acdrw"));
  EXPECT_EQ(caller->scope, Scope::kObject);
  EXPECT_EQ(caller->container, "c");
  EXPECT_EQ(caller->encryption_scope, "scope");
  EXPECT_EQ(caller->overrides.cache_control, "one");
  EXPECT_EQ(caller->overrides.content_disposition, "two");
  EXPECT_EQ(caller->overrides.content_encoding, "three");
  EXPECT_EQ(caller->overrides.content_language, "four");
  EXPECT_EQ(caller->overrides.content_type, "five");
  EXPECT_EQ(caller->expiry, iso("2026-03-02"));
}

// Whoever holds a token could add these without breaking its signature.
TEST(Sas, UnsignedFieldsGrantNothing) {
  const HeaderList old_fields = {
      {"sv", "2012-02-12"}, {"sr", "b"}, {"sp", "r"}, {"se", "2026-03-02"}};
  const std::string old_token =
      token(old_fields, "r\n\n2026-03-02\n/devstoreaccount1/c/b\n\n2012-02-12");
  Call overridden(kBlob, "GET", "/devstoreaccount1/c/b?" + old_token + "&rsct=text/html");
  const auto caller = overridden.authenticate(kNow);
  ASSERT_TRUE(caller.ok());
  EXPECT_EQ(caller->overrides.content_type, "");
  Call confined(kBlob, "GET", "/devstoreaccount1/c/b?" + old_token + "&sip=127.0.0.1");
  EXPECT_EQ(code_of(confined.authenticate(kNow)), "AuthenticationFailed");

  const HeaderList account_fields = {
      {"sv", "2019-12-12"}, {"ss", "b"}, {"srt", "o"}, {"sp", "r"}, {"se", "2026-03-02"}};
  const std::string account_token =
      token(account_fields, "devstoreaccount1\nr\nb\no\n\n2026-03-02\n\n\n2019-12-12\n");
  Call plain(kBlob, "GET", "/devstoreaccount1/c/b?" + account_token + "&rsct=text/html&ses=scope");
  const auto account_caller = plain.authenticate(kNow);
  ASSERT_TRUE(account_caller.ok()) << detail_of(account_caller);
  EXPECT_EQ(account_caller->overrides.content_type, "");
  EXPECT_EQ(account_caller->encryption_scope, "");
  Call with_policy(kBlob, "GET", "/devstoreaccount1/c/b?" + account_token + "&si=policy");
  EXPECT_EQ(code_of(with_policy.authenticate(kNow)), "AuthenticationFailed");
}

TEST(Sas, AccountTokensThatAreWrong) {
  const struct {
    HeaderList changes;
    const char* code;
  } tokens[] = {
      {{}, ""},
      {{{"sv", "2015-02-21"}}, "AuthenticationFailed"},
      {{{"ss", ""}}, "AuthenticationFailed"},
      {{{"ss", "bx"}}, "AuthenticationFailed"},
      {{{"srt", ""}}, "AuthenticationFailed"},
      {{{"srt", "x"}}, "AuthenticationFailed"},
      {{{"sp", ""}}, "AuthenticationFailed"},
      {{{"sp", "rm"}}, "AuthenticationFailed"},  // Of no account.
      {{{"sp", "rwdxylacuptfi"}}, ""},
      {{{"se", ""}}, "AuthenticationFailed"},
      {{{"se", "2026-03-01T12:00:00Z"}}, "AuthenticationFailed"},
  };
  for (const auto& given : tokens) {
    HeaderList fields = {
        {"sv", "2019-12-12"}, {"ss", "b"}, {"srt", "sco"}, {"sp", "r"}, {"se", "2026-03-02"}};
    for (const auto& [field, value] : given.changes) {
      for (auto& [known, current] : fields) {
        if (known == field) current = value;
      }
    }
    const std::string text = "devstoreaccount1\n" + fields[3].second + "\n" + fields[1].second +
                             "\n" + fields[2].second + "\n\n" + fields[4].second + "\n\n\n" +
                             fields[0].second + "\n";
    Call call(kBlob, "GET", "/devstoreaccount1/c/b?" + token(fields, text));
    EXPECT_EQ(code_of(call.authenticate(kNow)), given.code) << encode(given.changes);
  }
}

TEST(Sas, DirectoryTokensReachWhatIsBelow) {
  const auto directory_token = [](std::string_view depth, std::string_view directory) {
    const HeaderList fields = {{"sv", "2020-02-10"},
                               {"sr", "d"},
                               {"sp", "rl"},
                               {"se", "2026-03-02"},
                               {"sdd", std::string(depth)}};
    return token(fields, "rl\n\n2026-03-02\n/blob/devstoreaccount1/c" + std::string(directory) +
                             "\n\n\n\n2020-02-10\nd\n\n\n\n\n\n");
  };
  const struct {
    const char* target;
    std::string token;
    const char* directory;  // null: refused
  } requests[] = {
      {"c/a/b", directory_token("1", "/a"), "a"},
      {"c/a/b", directory_token("2", "/a/b"), "a/b"},
      {"c/a/b/c/d", directory_token("2", "/a/b"), "a/b"},
      {"c/a/b", directory_token("3", "/a/b"), nullptr},
      {"c/ab/c", directory_token("1", "/a"), nullptr},
      {"c/x/a", directory_token("1", "/a"), nullptr},
      {"c/a//b", directory_token("2", "/a/"), nullptr},
      {"c/a/b", directory_token("", "/a"), nullptr},
      {"c/a/b", directory_token("-1", "/a"), nullptr},
      {"c?restype=container&comp=list&prefix=a/", directory_token("1", "/a"), "a"},
      {"c?restype=container&comp=list&prefix=a/b", directory_token("1", "/a"), "a"},
      {"c?restype=container&comp=list&prefix=a", directory_token("1", "/a"), nullptr},
      {"c?restype=container&comp=list", directory_token("1", "/a"), nullptr},
      {"c?restype=container&comp=list&prefix=b/&prefix=a/", directory_token("1", "/a"), nullptr},
      {"c?restype=container&comp=list&directory=a", directory_token("1", "/a"), nullptr},
      {"c?resource=filesystem&directory=a/b", directory_token("1", "/a"), nullptr},
      {"c?restype=container&comp=list", directory_token("0", ""), ""},
      {"c/a/b", directory_token("0", ""), ""},
      {"c/a/b", directory_token("0", "/a"), nullptr},
  };
  for (const auto& given : requests) {
    const std::string_view target = given.target;
    const char* joint = target.find('?') == std::string_view::npos ? "?" : "&";
    Call call(kBlob, "GET", "/devstoreaccount1/" + std::string(target) + joint + given.token);
    const auto caller = call.authenticate(kNow);
    EXPECT_EQ(caller.ok(), given.directory != nullptr) << given.target << " " << detail_of(caller);
    if (caller.ok() && given.directory != nullptr) {
      EXPECT_EQ(caller->directory, given.directory);
    }
  }
}

TEST(Sas, TableTokensAndTheirKeyRange) {
  const HeaderList fields = {{"sv", "2019-02-02"}, {"tn", "People"}, {"sp", "r"},
                             {"se", "2026-03-02"}, {"spk", "b"},     {"srk", "m"},
                             {"epk", "d"},         {"erk", "m"}};
  const std::string text =
      "r\n\n2026-03-02\n/table/devstoreaccount1/people\n\n\n\n2019-02-02\nb\nm\nd\nm";
  for (const char* path :
       {"/devstoreaccount1/people", "/devstoreaccount1/PEOPLE", "/devstoreaccount1/$batch"}) {
    Call call(kTable, "GET", std::string(path) + "?" + token(fields, text));
    const auto caller = call.authenticate(kNow);
    ASSERT_TRUE(caller.ok()) << path << ": " << detail_of(caller);
    EXPECT_EQ(caller->container, "people");
    const KeyRange& range = caller->key_range;
    EXPECT_FALSE(range.contains("a", "z"));
    EXPECT_FALSE(range.contains("b", "l"));
    EXPECT_TRUE(range.contains("b", "m"));
    EXPECT_TRUE(range.contains("c", "a"));
    EXPECT_TRUE(range.contains("d", "m"));
    EXPECT_FALSE(range.contains("d", "n"));
    EXPECT_FALSE(range.contains("e", "a"));
  }
  const HeaderList rows_only = {
      {"sv", "2019-02-02"}, {"tn", "t"}, {"sp", "r"}, {"se", "2026-03-02"}, {"srk", "m"}};
  Call call(kTable, "GET",
            "/devstoreaccount1/t?" +
                token(rows_only,
                      "r\n\n2026-03-02\n/table/devstoreaccount1/t\n\n\n\n2019-02-02\n\nm\n\n"));
  EXPECT_EQ(code_of(call.authenticate(kNow)), "AuthenticationFailed");
}

TEST(Sas, AParameterGivenTwiceIsRefused) {
  const std::string good = container_token({});
  for (const char* added : {"&sig=x", "&SIG=x", "&s%69g=x", "&sp=rwdl", "&se=2026-03-02", "&sr=c",
                            "&sv=2018-11-09", "&snapshot=2026-03-01&snapshot=2026-03-02"}) {
    Call call(kBlob, "GET", "/devstoreaccount1/c/b?" + good + added);
    EXPECT_EQ(code_of(call.authenticate(kNow)), "AuthenticationFailed") << added;
    Call before(kBlob, "GET", "/devstoreaccount1/c/b?" + std::string(added + 1) + "&" + good);
    EXPECT_EQ(code_of(before.authenticate(kNow)), "AuthenticationFailed") << added;
  }
  Call call(kBlob, "GET", "/devstoreaccount1/c/b?" + good + "&comp=metadata&comp=x");
  EXPECT_TRUE(call.authenticate(kNow).ok());
}

// The reply to garbage is no larger than it needs to be.
TEST(Sas, LongTextsAreQuotedInPart) {
  std::string path = "/devstoreaccount1/other/";
  path.append(20'000, 'a');
  Call call(kBlob, "GET", path + "?" + container_token({{"sr", "c"}}));
  call.target.container = std::string(20'000, 'c');
  EXPECT_LE(detail_of(call.authenticate(kNow)).size(), kMaxQuotedBytes + 100);
}

TEST(AddressRange, Forms) {
  const struct {
    const char* range;
    const char* address;
    bool inside;
  } cases[] = {
      {"10.0.0.1", "10.0.0.1", true},
      {"10.0.0.1", "10.0.0.2", false},
      {"10.0.0.1", "::ffff:10.0.0.1", true},
      {"10.0.0.1-10.0.1.0", "10.0.0.255", true},
      {"10.0.0.1-10.0.1.0", "10.0.1.1", false},
      {"10.0.0.1", "::1", false},
      {"::1", "::1", true},
      {"::1-::5", "::6", false},
      {"10.0.0.1", "", false},
  };
  for (const auto& given : cases) {
    const auto range = AddressRange::parse(given.range);
    ASSERT_TRUE(range) << given.range;
    EXPECT_EQ(range->contains(given.address), given.inside) << given.range << " " << given.address;
  }
  for (const char* bad :
       {"", "-", "10.0.0.1-", "10.0.0", "10.0.0.2-10.0.0.1", "10.0.0.1-::1x", "a.b.c.d"}) {
    EXPECT_FALSE(AddressRange::parse(bad)) << bad;
  }
}
}  // namespace

}  // namespace kyanite::auth
