#include "auth/bearer.h"

#include "auth/testing.h"
#include "auth/user_delegation.h"

namespace kyanite::auth {

namespace {
const Time kNow = iso("2026-03-01T12:00:00Z");
constexpr int64_t kNowSeconds = 1772366400;

// Made once with Node's crypto module: a key set of one RSA, one P-256 and one symmetric key, and a
// token by each of the first two, valid from 11:00 to 13:00.
const char kKeySet[] =
    "{\"keys\":[{\"kty\":\"RSA\",\"n\":\"xcvCaSQShObIJtCJEVwo5yHUchSl-scm5wxD4C26_9-3_"
    "WcO3ChErX3QEgrBI"
    "qlSpD2Sjx4EkRSr51NplTc4t0klddmmrVfeHtl14hy_eFlONMYv9GfrY8bAO59PNXPfjMbEOVd3UjG5DJ6lBfBiF"
    "URNoKmp5D055Pa-lNX9JZiDNy87wP5mK04nBBFF8azp4iSEWksN5Xc4QXZC1L2BGNnR_AMhVsS-N2yWCLeGwzO5_"
    "5KXFbb0vtpmF81bMD5oz2jUQiZyse37mUpO2XiaiRfajSZzGK2Gf8MM6bl6ZiP062-xJ9vqxj5meOly09F5uZzZT"
    "g8w2NJtwP6R1Kt5rQ\",\"e\":\"AQAB\",\"kid\":\"rsa-1\",\"use\":\"sig\"},{\"kty\":\"EC\",\"x\":"
    "\"zemNwwYc3Q91Yk"
    "xLF-yWvYNEYXYdAOY5G6X9N5HIAmo\",\"y\":\"YeL2nagAzwNAV5kFU_E7I4pgR05RfumtUNd8e_1Xv7s\",\"crv\":"
    "\""
    "P-256\",\"kid\":\"ec-1\"},{\"kty\":\"oct\",\"k\":\"AAAA\",\"kid\":\"skip\"}]}";
const char kRsaToken[] =
    "eyJhbGciOiJSUzI1NiIsInR5cCI6IkpXVCIsImtpZCI6InJzYS0xIn0.eyJhdWQiOiJodHRwczovL3N0b3JhZ2Uu"
    "YXp1cmUuY29tIiwiaXNzIjoiaHR0cHM6Ly9zdHMud2luZG93cy5uZXQvdGlkLTEvIiwibmJmIjoxNzcyMzYyODAw"
    "LCJleHAiOjE3NzIzNzAwMDAsIm9pZCI6Im9pZC0xIiwidGlkIjoidGlkLTEifQ.HU3v2Ngl3OlKAa3_iRZ_4yjmm"
    "cfuBijh4PxY5SOU3BcUPRP5YmpwllYm-FNVWlQVfl0zYT3c9eG14PIPTyaBAi32tqsyKo_bOTahWyte_q71LZvCe"
    "M_st0th3s2oxkzTcYXsZDf4rpTzrP-AsQB_VI12gyFMhdMnT9N_x2XqlFN_VkZYQijuQlApgweHhILiXQ8JDyu3z"
    "kYi9c_DCws8vBZ9Ppsl2xhRXArkXMGyWTLKbk_5kj69VhyNBquiBJtm0q5ljwu_iAUFreXZJQ8gSUqo9U7PW_zSB"
    "GrnIkHWrPCT4yrp0hZoRKP-x8okflw38AkHCYLKVNfmaWEch3VAhQ";
const char kEcToken[] =
    "eyJhbGciOiJFUzI1NiIsInR5cCI6IkpXVCIsImtpZCI6ImVjLTEifQ.eyJhdWQiOiJodHRwczovL3N0b3JhZ2UuY"
    "Xp1cmUuY29tIiwiaXNzIjoiaHR0cHM6Ly9zdHMud2luZG93cy5uZXQvdGlkLTEvIiwibmJmIjoxNzcyMzYyODAwL"
    "CJleHAiOjE3NzIzNzAwMDAsIm9pZCI6Im9pZC0xIiwidGlkIjoidGlkLTEifQ.0qMXB3e8xxz4nUKaOSjjp3Juv4"
    "_imYw6k8B1EjP6P-isiiQr4NxpuHet3RJ-yRHpizQ-u6AwHHlCUo5ccNlEtg";

std::string base64url(std::string_view bytes) {
  std::string out = base64(bytes);
  while (!out.empty() && out.back() == '=') out.pop_back();
  for (char& c : out) c = c == '+' ? '-' : c == '/' ? '_' : c;
  return out;
}

// An unsigned token.
std::string token(std::string_view claims, std::string_view header = R"({"alg":"none"})") {
  return base64url(header) + "." + base64url(claims) + ".";
}

std::string claims(std::string_view audience = "https://storage.azure.com",
                   std::string_view issuer = "https://sts.windows.net/tid-1/",
                   int64_t not_before = kNowSeconds, int64_t expires = kNowSeconds + 3600) {
  return R"({"aud":")" + std::string(audience) + R"(","iss":")" + std::string(issuer) +
         R"(","nbf":)" + std::to_string(not_before) + R"(,"exp":)" + std::to_string(expires) +
         R"(,"oid":"oid-1","tid":"tid-1"})";
}

struct Presented {
  std::string token;
  std::string version = "2021-12-02";
  bool secure = true;
  Time now = kNow;
};

wire::Result<Caller> present(const Presented& given, const TokenRules* rules) {
  Call call(wire::Service::kBlob, "GET", "/devstoreaccount1/c/b",
            {{"x-ms-version", given.version}, {"Authorization", "Bearer " + given.token}});
  call.request.secure = given.secure;
  Settings settings = Call::settings();
  settings.token_rules = rules;
  return call.authenticate(given.now, settings);
}

const TokenRules& basic() {
  static const TokenRules rules;
  return rules;
}

TEST(Bearer, WhoIsCalling) {
  const auto caller = present({token(claims())}, &basic());
  ASSERT_TRUE(caller.ok()) << detail_of(caller);
  EXPECT_EQ(caller->kind, Caller::Kind::kBearer);
  EXPECT_EQ(caller->object_id, "oid-1");
  EXPECT_EQ(caller->tenant_id, "tid-1");
  EXPECT_EQ(caller->role, Role::kOwner);
  EXPECT_TRUE(caller->groups.empty());
}

TEST(Bearer, GroupsAndRoles) {
  const auto with_groups = [](const std::string& groups) {
    std::string text = claims();
    text.insert(text.size() - 1, R"(,"groups":)" + groups);
    return token(text);
  };
  Roles roles(Role::kNone);
  roles.give("team", Role::kReader);
  const TokenRules rules({}, {}, std::nullopt, roles);
  const auto caller = present({with_groups(R"(["others","TEAM"])")}, &rules);
  ASSERT_TRUE(caller.ok()) << detail_of(caller);
  EXPECT_EQ(caller->role, Role::kReader);
  EXPECT_EQ(caller->groups, (std::vector<std::string>{"others", "TEAM"}));
  EXPECT_EQ(present({token(claims())}, &rules)->role, Role::kNone);
  EXPECT_EQ(present({with_groups(R"("team")")}, &rules)->role, Role::kReader);
  for (const char* wrong : {"1", "[1]", "{}"})
    EXPECT_EQ(code_of(present({with_groups(wrong)}, &rules)), "InvalidAuthenticationInfo") << wrong;
  std::string many = "[";
  for (size_t i = 0; i < kMaxGroups; ++i) many += "\"g\",";
  EXPECT_FALSE(present({with_groups(many + "\"g\"]")}, &rules).ok());
  many.back() = ']';
  EXPECT_TRUE(present({with_groups(many)}, &rules).ok());
}

TEST(Bearer, Audiences) {
  const struct {
    const char* audience;
    bool accepted;
  } cases[] = {
      {"https://storage.azure.com", true},
      {"https://storage.azure.com/", true},
      {"e406a681-f3d4-42a8-90b6-c2b029497af1", true},
      {"https://devstoreaccount1.blob.core.windows.net", true},
      {"https://devstoreaccount1.blob.core.windows.net/", true},
      {"https://devstoreaccount1.dfs.core.windows.net", true},
      {"https://devstoreaccount1.blob.core.usgovcloudapi.net", true},
      {"https://devstoreaccount1.queue.core.windows.net", false},
      {"https://otheraccount.blob.core.windows.net", false},
      {"https://devstoreaccount1.blob.core.windows.net.evil.com", false},
      {"http://devstoreaccount1.blob.core.windows.net", false},
      {"https://management.azure.com", false},
      {"", false},
  };
  for (const auto& given : cases) {
    const auto caller = present({token(claims(given.audience))}, &basic());
    EXPECT_EQ(caller.ok(), given.accepted) << given.audience;
    if (!caller.ok()) {
      EXPECT_EQ(code_of(caller), "InvalidAuthenticationInfo");
      EXPECT_EQ(caller.error().status, 401);
    }
  }
  const TokenRules own({"https://login.example.org/"}, {"api://kyanite/"});
  EXPECT_TRUE(present({token(claims("api://kyanite", "https://login.example.org/x"))}, &own).ok());
  EXPECT_FALSE(present({token(claims("api://kyanite"))}, &basic()).ok());
  EXPECT_TRUE(
      present(
          {token(
              R"({"aud":["x","https://storage.azure.com"],"iss":"https://sts.windows.net/t/","nbf":0,)"
              R"("exp":1772370000})")},
          &basic())
          .ok());
}

TEST(Bearer, Issuers) {
  for (const char* issuer : {"https://sts.windows.net/t/", "https://sts.windows-ppe.net/t/",
                             "https://login.microsoftonline.com/t/v2.0"}) {
    EXPECT_TRUE(present({token(claims("https://storage.azure.com", issuer))}, &basic()).ok())
        << issuer;
  }
  for (const char* issuer : {"", "https://sts.windows.net.evil.com/", "http://sts.windows.net/",
                             "https://example.org/"}) {
    EXPECT_EQ(code_of(present({token(claims("https://storage.azure.com", issuer))}, &basic())),
              "InvalidAuthenticationInfo")
        << issuer;
  }
}

TEST(Bearer, Lifetime) {
  const int64_t skew = kTokenSkewSeconds;
  const struct {
    int64_t not_before, expires;
    bool accepted;
  } cases[] = {
      {kNowSeconds, kNowSeconds + 1, true},
      {kNowSeconds + skew, kNowSeconds + 3600, true},
      {kNowSeconds + skew + 1, kNowSeconds + 3600, false},
      {kNowSeconds - 3600, kNowSeconds - skew + 1, true},
      {kNowSeconds - 3600, kNowSeconds - skew, false},
  };
  for (const auto& given : cases) {
    const auto caller =
        present({token(claims("https://storage.azure.com", "https://sts.windows.net/t/",
                              given.not_before, given.expires))},
                &basic());
    EXPECT_EQ(caller.ok(), given.accepted)
        << given.not_before - kNowSeconds << " " << given.expires - kNowSeconds;
  }
  EXPECT_FALSE(
      present({token(R"({"aud":"https://storage.azure.com","iss":"https://sts.windows.net/"})")},
              &basic())
          .ok());
}

TEST(Bearer, RefusedBeforeTheTokenIsRead) {
  EXPECT_EQ(detail_of(present({token(claims())}, nullptr)),
            "Authentication scheme Bearer is not supported.");
  EXPECT_EQ(detail_of(present({token(claims()), "2017-07-29"}, &basic())),
            "Authentication scheme Bearer is not supported in this version.");
  EXPECT_EQ(code_of(present({token(claims()), ""}, &basic())), "AuthenticationFailed");
  EXPECT_EQ(detail_of(present({token(claims()), "2021-12-02", false}, &basic())),
            "Authentication scheme Bearer is not allowed with HTTP.");
}

TEST(Bearer, MalformedTokens) {
  const std::string good = token(claims());
  const std::string bad[] = {"",
                             "x",
                             "a.b",
                             "a.b.c",
                             "..",
                             good + ".",
                             good + "=",
                             good.substr(1),
                             token("[]"),
                             token("{"),
                             token(R"({"aud":1})"),
                             token(R"({"aud":[1]})"),
                             token(R"({"nbf":"soon"})"),
                             token(R"({"exp":1e99})"),
                             token(R"({"exp":-1})"),
                             token(R"({"exp":99999999999999})"),
                             token(claims(), "{}x"),
                             std::string(kMaxTokenBytes + 1, 'a')};
  for (const auto& given : bad) {
    const auto caller = present({given}, &basic());
    EXPECT_EQ(code_of(caller), "InvalidAuthenticationInfo") << given.substr(0, 80);
    if (!caller.ok()) {
      EXPECT_EQ(caller.error().status, 400) << given.substr(0, 80);
    }
  }
}

// Tokens are padded with a claim that nobody looks at.
TEST(Bearer, TokensAreLimited) {
  const auto padded = [](size_t bytes) {
    std::string text = claims();
    text.insert(1, R"("pad":"",)");
    const size_t inside = text.find(R"("")") + 1;
    while (token(text).size() < bytes) text.insert(inside, 1, 'a');
    return token(text);
  };
  const std::string longest = padded(kMaxTokenBytes);
  ASSERT_EQ(longest.size(), kMaxTokenBytes);
  EXPECT_TRUE(present({longest}, &basic()).ok());
  const std::string longer = padded(kMaxTokenBytes + 1);
  EXPECT_EQ(code_of(present({longer}, &basic())), "InvalidAuthenticationInfo");

  const auto with_audiences = [](size_t count) {
    std::string list = R"(["https://storage.azure.com")";
    for (size_t i = 1; i < count; ++i) list += R"(,"a")";
    std::string text = claims();
    const std::string one = R"("https://storage.azure.com")";
    return token(text.replace(text.find(one), one.size(), list + "]"));
  };
  EXPECT_TRUE(present({with_audiences(kMaxAudiences)}, &basic()).ok());
  EXPECT_EQ(code_of(present({with_audiences(kMaxAudiences + 1)}, &basic())),
            "InvalidAuthenticationInfo");
}

// As a part of a batch has it from the batch.
TEST(Bearer, TheVersionNeedNotBeInTheHeaders) {
  Call call(wire::Service::kBlob, "DELETE", "/devstoreaccount1/c/b",
            {{"Authorization", "Bearer " + token(claims())}});
  call.request.secure = true;
  Settings settings = Call::settings();
  settings.token_rules = &basic();
  const auto as = [&](wire::Version version) {
    Caller caller;
    return code_of(
        authenticate(call.request, call.query, call.target, settings, version, kNow, caller));
  };
  EXPECT_EQ(as(wire::Version{20211202}), "");
  EXPECT_EQ(as(wire::kBearerTokens), "");
  EXPECT_EQ(as(wire::Version{20170729}), "AuthenticationFailed");
  EXPECT_EQ(as(wire::Version{}), "AuthenticationFailed");
}

TEST(Bearer, SignaturesAreVerifiedAgainstTheKeySet) {
  auto keys = KeySet::parse(kKeySet);
  ASSERT_TRUE(keys.ok()) << keys.error();
  const TokenRules strict({}, {}, std::move(*keys));
  EXPECT_TRUE(present({kRsaToken}, &strict).ok());
  EXPECT_TRUE(present({kEcToken}, &strict).ok());

  const std::string rsa = kRsaToken;
  const std::string ec = kEcToken;
  const std::string rsa_signature = rsa.substr(rsa.rfind('.'));
  const std::string ec_signature = ec.substr(ec.rfind('.'));
  const std::string unsigned_token = token(claims());
  const std::string refused[] = {
      unsigned_token,
      token(claims(), R"({"alg":"None"})"),
      rsa.substr(0, rsa.rfind('.') + 1),
      rsa.substr(0, rsa.rfind('.')) + ec_signature,
      ec.substr(0, ec.rfind('.')) + rsa_signature,
      unsigned_token.substr(0, unsigned_token.size() - 1) + rsa_signature,
      // The token's own word on the algorithm is not taken.
      base64url(R"({"alg":"HS256","kid":"rsa-1"})") + rsa.substr(rsa.find('.')),
      base64url(R"({"alg":"RS256","kid":"ec-1"})") + rsa.substr(rsa.find('.')),
      // A key that is not here is not looked for among the others.
      base64url(R"({"alg":"RS256","typ":"JWT","kid":"rsa-2"})") + rsa.substr(rsa.find('.')),
  };
  for (const auto& given : refused) {
    const auto caller = present({given}, &strict);
    EXPECT_EQ(code_of(caller), "InvalidAuthenticationInfo") << given.substr(0, 60);
    if (!caller.ok()) {
      EXPECT_EQ(caller.error().status, 401);
    }
  }
}

TEST(Bearer, KeySetsThatAreWrong) {
  for (const char* json : {"", "{}", "[]", R"({"keys":1})", R"({"keys":[]})", R"({"keys":[1]})",
                           R"({"keys":[{"kty":"oct","k":"AAAA"}]})",
                           R"({"keys":[{"kty":"RSA","n":"AAAA","e":"AQAB"}]})",
                           R"({"keys":[{"kty":"EC","crv":"P-256","x":"AA","y":"AA"}]})"}) {
    EXPECT_FALSE(KeySet::parse(json).ok()) << json;
  }
}

TEST(Bearer, KeySetsAreLimited) {
  const std::string json = kKeySet;
  const size_t from = json.find(R"({"kty":"EC")");
  const std::string key = json.substr(from, json.find('}', from) + 1 - from);
  std::string keys = key;
  for (size_t i = 1; i < kMaxKeys; ++i) keys += "," + key;
  EXPECT_TRUE(KeySet::parse(R"({"keys":[)" + keys + "]}").ok());
  EXPECT_FALSE(KeySet::parse(R"({"keys":[)" + keys + "," + key + "]}").ok());
}

TEST(Bearer, TheChallengeNamesTheTenant) {
  Settings settings = Call::settings();
  EXPECT_EQ(challenge(settings),
            "Bearer authorization_uri=https://login.microsoftonline.com/common/oauth2/authorize "
            "resource_id=https://storage.azure.com");
  const TokenRules rules({}, {}, std::nullopt, Roles(), "tid-1");
  settings.token_rules = &rules;
  EXPECT_NE(challenge(settings).find("/tid-1/oauth2"), std::string::npos);
}

// A SAS for one user counts only beside that user's token.
TEST(Bearer, SasBoundToAUser) {
  const Key key(unbase64(kTestKey).value());
  const DelegationTerms terms{"oid-1",      "tid-1", iso("2026-03-01"), iso("2026-03-03"), "b",
                              "2025-07-05", ""};
  const std::string text =
      "r\n\n2026-03-02\n/blob/devstoreaccount1/c/"
      "b\noid-1\ntid-1\n2026-03-01\n2026-03-03\nb\n2025-07-05\n\n\n\n\n"
      "oid-1\n\n\n2025-07-05\nb\n\n\n\n\n\n\n";
  const std::string signature = sign(base64(derive_delegation_key(key, terms)), text);
  const std::string target =
      "/devstoreaccount1/c/b?sp=r&se=2026-03-02&skoid=oid-1&sktid=tid-1&skt=2026-03-01&"
      "ske=2026-03-03&sks=b&skv=2025-07-05&sduoid=oid-1&sv=2025-07-05&sr=b&sig=" +
      wire::percent_encode(signature);
  Settings settings = Call::settings();
  settings.token_rules = &basic();
  const auto outcome = [&](HeaderList headers) {
    headers.emplace_back("x-ms-version", "2025-07-05");
    Call call(wire::Service::kBlob, "GET", target, headers);
    call.request.secure = true;
    return call.authenticate(kNow, settings);
  };
  const auto bound = outcome({{"Authorization", "Bearer " + token(claims())}});
  ASSERT_TRUE(bound.ok()) << detail_of(bound);
  EXPECT_EQ(bound->kind, Caller::Kind::kUserDelegationSas);
  EXPECT_EQ(code_of(outcome({})), "AuthenticationFailed");
  std::string other = claims();
  other.replace(other.find("oid-1"), 5, "oid-2");
  EXPECT_EQ(code_of(outcome({{"Authorization", "Bearer " + token(other)}})),
            "AuthenticationFailed");
}
}  // namespace

}  // namespace kyanite::auth
