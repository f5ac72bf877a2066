#include "auth/user_delegation.h"

#include <set>

#include "auth/bearer.h"
#include "auth/testing.h"

namespace kyanite::auth {

namespace {
const Time kNow = iso("2026-03-01T12:00:00Z");

Account account() {
  return {kTestAccount, {Key(unbase64(kTestKey).value()), Key(unbase64(kOtherKey).value())}};
}

Caller bearer() {
  Caller caller;
  caller.kind = Caller::Kind::kBearer;
  caller.object_id = "oid-1";
  caller.tenant_id = "tid-1";
  return caller;
}

TEST(UserDelegation, TheReplySaysOnWhichTerms) {
  const auto key =
      issue_delegation_key(account(), bearer(), wire::Service::kBlob, "2021-12-02",
                           iso("2026-03-01T10:00:00.5Z"), iso("2026-03-03T10:00:00Z"), "", kNow);
  ASSERT_TRUE(key.ok());
  EXPECT_EQ(key->signed_oid, "oid-1");
  EXPECT_EQ(key->signed_tid, "tid-1");
  EXPECT_EQ(key->signed_start, "2026-03-01T10:00:00Z");
  EXPECT_EQ(key->signed_expiry, "2026-03-03T10:00:00Z");
  EXPECT_EQ(key->signed_service, "b");
  EXPECT_EQ(key->signed_version, "2021-12-02");
  EXPECT_EQ(unbase64(key->value).value().size(), 32u);
  const auto again =
      issue_delegation_key(account(), bearer(), wire::Service::kBlob, "2021-12-02",
                           iso("2026-03-01T10:00:00Z"), iso("2026-03-03T10:00:00Z"), "", kNow);
  EXPECT_EQ(again->value, key->value);
}

TEST(UserDelegation, WithoutStartItBeginsNow) {
  const auto key = issue_delegation_key(account(), bearer(), wire::Service::kQueue, "2026-02-06",
                                        {}, iso("2026-03-02T00:00:00Z"), "", kNow);
  ASSERT_TRUE(key.ok());
  EXPECT_EQ(key->signed_start, "2026-03-01T12:00:00Z");
  EXPECT_EQ(key->signed_service, "q");
}

TEST(UserDelegation, DifferentTermsGiveDifferentKeys) {
  const Time start = iso("2026-03-01");
  const Time end = iso("2026-03-02");
  const DelegationTerms all[] = {
      {"o", "t", start, end, "b", "v", ""},   {"o2", "t", start, end, "b", "v", ""},
      {"o", "t2", start, end, "b", "v", ""},  {"o", "t", end, end, "b", "v", ""},
      {"o", "t", start, start, "b", "v", ""}, {"o", "t", start, end, "q", "v", ""},
      {"o", "t", start, end, "b", "v2", ""},  {"o", "t", start, end, "b", "v", "d"},
      {"o\n", "t", start, end, "b", "v", ""}, {"", "o\nt", start, end, "b", "v", ""}};
  std::set<std::string> keys;
  for (const auto& key : account().keys) {
    for (const auto& terms : all) keys.insert(derive_delegation_key(key, terms));
  }
  EXPECT_EQ(keys.size(), 2 * std::size(all));
}

TEST(UserDelegation, Limits) {
  const int64_t week = kMaxDelegationSeconds + 15 * 60;
  const struct {
    const char* name;
    int64_t start, expiry;  // seconds from now
    bool granted;
  } cases[] = {
      {"an hour", 0, 3600, true},
      {"a week and the skew", 0, week, true},
      {"more than that", 0, week + 1, false},
      {"begun long ago", -30 * 86400, 3600, true},
      {"expired", -3600, 0, false},
      {"ends before it begins", 3600, 1800, false},
      {"ends as it begins", 3600, 3600, false},
  };
  for (const auto& given : cases) {
    const auto key = issue_delegation_key(account(), bearer(), wire::Service::kBlob, "2021-12-02",
                                          after_seconds(kNow, given.start),
                                          after_seconds(kNow, given.expiry), "", kNow);
    EXPECT_EQ(key.ok(), given.granted) << given.name;
    if (!key.ok()) {
      EXPECT_EQ(code_of(key), "InvalidXmlNodeValue");
    }
  }
  Caller nameless = bearer();
  nameless.object_id.clear();
  EXPECT_EQ(code_of(issue_delegation_key(account(), nameless, wire::Service::kBlob, "2021-12-02",
                                         kNow, after_seconds(kNow, 60), "", kNow)),
            "AuthenticationFailed");
}

// A user delegation SAS for c/b with some fields replaced, signed with the key of its own terms.
std::string sas(const HeaderList& changes, std::string_view account_key = kTestKey,
                Role role = Role::kOwner) {
  HeaderList fields = {{"sp", "r"},           {"st", ""},
                       {"se", "2026-03-02"},  {"skoid", "oid-1"},
                       {"sktid", "tid-1"},    {"skt", "2026-03-01"},
                       {"ske", "2026-03-03"}, {"sks", "b"},
                       {"skv", "2021-12-02"}, {"saoid", ""},
                       {"suoid", ""},         {"scid", ""},
                       {"sip", ""},           {"spr", ""},
                       {"sv", "2020-02-10"},  {"sr", "b"}};
  for (const auto& [field, value] : changes) {
    for (auto& [known, current] : fields) {
      if (known == field) current = value;
    }
  }
  std::string text, query;
  for (const auto& [field, value] : fields) {
    text += value + "\n";
    if (field == "se") text += "/blob/devstoreaccount1/c/b\n";
    query += field + "=" + wire::percent_encode(value) + "&";
  }
  text += "\n\n\n\n\n";
  const auto time = [&](size_t at) {
    return wire::parse_iso_date(fields[at].second).value_or(Time{});
  };
  const DelegationTerms terms{fields[3].second, fields[4].second, time(5), time(6),
                              fields[7].second, fields[8].second, "",      role};
  const std::string derived = derive_delegation_key(Key(unbase64(account_key).value()), terms);
  return query + "sig=" + wire::percent_encode(sign(base64(derived), text));
}

TEST(UserDelegation, SasTokens) {
  const struct {
    HeaderList changes;
    const char* code;
  } tokens[] = {
      {{}, ""},
      {{{"se", "2026-04-01"}}, ""},  // The key's end is what counts.
      {{{"ske", "2026-03-01T12:00:00Z"}}, "AuthenticationFailed"},
      {{{"skt", "2026-03-01T12:00:01Z"}}, "AuthenticationFailed"},
      {{{"se", "2026-03-01T12:00:00Z"}}, "AuthenticationFailed"},
      {{{"skt", ""}}, "AuthenticationFailed"},
      {{{"ske", "never"}}, "AuthenticationFailed"},
      {{{"sktid", ""}}, "AuthenticationFailed"},
      {{{"skv", ""}}, "AuthenticationFailed"},
      {{{"sks", "q"}}, "AuthorizationServiceMismatch"},
      {{{"scid", "invalidcid"}}, "AuthenticationFailed"},
      {{{"scid", "01234567-89ab-cdef-0123-456789ABCDEF"}}, ""},
      {{{"saoid", "agent"}}, ""},
      {{{"spr", "https"}}, "AuthorizationProtocolMismatch"},
      {{{"sip", "10.0.0.1"}}, "AuthorizationSourceIPMismatch"},
      {{{"sp", ""}}, "AuthenticationFailed"},
      {{{"se", ""}}, "AuthenticationFailed"},
      {{{"sv", "2015-04-05"}}, "AuthenticationFailed"},
  };
  for (const auto& given : tokens) {
    Call call(wire::Service::kBlob, "GET", "/devstoreaccount1/c/b?" + sas(given.changes));
    const auto caller = call.authenticate(kNow);
    EXPECT_EQ(code_of(caller), given.code) << given.changes.size() << " " << detail_of(caller);
  }
  Call by_second_key(wire::Service::kBlob, "GET", "/devstoreaccount1/c/b?" + sas({}, kOtherKey));
  EXPECT_TRUE(by_second_key.authenticate(kNow).ok());
  Call with_policy(wire::Service::kBlob, "GET", "/devstoreaccount1/c/b?si=policy&" + sas({}));
  EXPECT_EQ(code_of(with_policy.authenticate(kNow)), "AuthenticationFailed");
}

// Who stands behind a SAS, and with which role.
TEST(UserDelegation, IdentitiesAndRoles) {
  const struct {
    HeaderList changes;
    Role of_key;
    const char* code;
    const char* object_id;
    Role role;
    bool names_user;
  } cases[] = {
      {{}, Role::kOwner, "", "oid-1", Role::kOwner, false},
      {{}, Role::kContributor, "", "oid-1", Role::kContributor, false},
      {{}, Role::kReader, "", "oid-1", Role::kReader, false},
      // Nobody without a role is given a key.
      {{}, Role::kNone, "AuthenticationFailed", "", Role::kNone, false},
      {{{"saoid", "agent"}}, Role::kOwner, "", "agent", Role::kOwner, true},
      {{{"suoid", "agent"}}, Role::kOwner, "", "agent", Role::kNone, true},
      {{{"saoid", "agent"}}, Role::kContributor, "AuthorizationPermissionMismatch", "", {}, false},
      {{{"suoid", "agent"}}, Role::kReader, "AuthorizationPermissionMismatch", "", {}, false},
      {{{"saoid", "a"}, {"suoid", "b"}}, Role::kOwner, "AuthenticationFailed", "", {}, false},
  };
  for (const auto& given : cases) {
    Call call(wire::Service::kBlob, "GET",
              "/devstoreaccount1/c/b?" + sas(given.changes, kTestKey, given.of_key));
    const auto caller = call.authenticate(kNow);
    ASSERT_EQ(code_of(caller), given.code) << detail_of(caller);
    if (!caller.ok()) continue;
    EXPECT_EQ(caller->object_id, given.object_id);
    EXPECT_EQ(caller->role, given.role);
    EXPECT_EQ(caller->names_user, given.names_user);
  }
}

// A role that was taken away since the key was given ends what the key gives.
TEST(UserDelegation, RolesAreLimitedByThoseOfToday) {
  const auto role_with = [](Role of_key, Role today) {
    Roles roles(Role::kNone);
    roles.give("oid-1", today);
    const TokenRules rules({}, {}, std::nullopt, roles);
    Settings settings = Call::settings();
    settings.token_rules = &rules;
    Call call(wire::Service::kBlob, "GET", "/devstoreaccount1/c/b?" + sas({}, kTestKey, of_key));
    return call.authenticate(kNow, settings)->role;
  };
  EXPECT_EQ(role_with(Role::kOwner, Role::kReader), Role::kReader);
  EXPECT_EQ(role_with(Role::kReader, Role::kOwner), Role::kReader);
  EXPECT_EQ(role_with(Role::kContributor, Role::kNone), Role::kNone);
}

TEST(UserDelegation, KeysAreOfRoles) {
  const auto value_for = [](Role role) {
    Caller caller = bearer();
    caller.role = role;
    return issue_delegation_key(account(), caller, wire::Service::kBlob, "2021-12-02", kNow,
                                after_seconds(kNow, 3600), "", kNow)
        ->value;
  };
  EXPECT_NE(value_for(Role::kOwner), value_for(Role::kReader));
  EXPECT_NE(value_for(Role::kContributor), value_for(Role::kReader));
}
}  // namespace

}  // namespace kyanite::auth
