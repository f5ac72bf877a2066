#include "auth/authorize.h"

#include "auth/testing.h"

namespace kyanite::auth {

namespace {
using Kind = Caller::Kind;
const Time kNow = iso("2026-03-01T12:00:00Z");

Caller caller_of(Kind kind, std::string_view permissions = {}) {
  Caller caller;
  caller.kind = kind;
  caller.permissions = permissions;
  caller.services = "b";
  caller.resource_types = "o";
  caller.expiry = iso("2026-03-02");
  return caller;
}

Target blob_target() {
  Target target;
  target.level = Level::kObject;
  target.container = "c";
  target.object = "b";
  return target;
}

const Need kReadBlob{.account_sas = "r", .service_sas = "r", .anonymous = PublicAccess::kBlob};
const Need kListBlobs{.resource_type = 'c',
                      .account_sas = "l",
                      .service_sas = "l",
                      .anonymous = PublicAccess::kContainer};
const Need kPutBlob{.account_sas = "cw", .service_sas = "cw"};
const Need kSetAcl{.resource_type = 'c', .bearer = false};
const Need kGetDelegationKey{.resource_type = 's', .bearer_only = true};

TEST(Authorize, EveryKindOfCaller) {
  const struct {
    const char* name;
    Caller caller;
    const Need& need;
    const char* code;
  } cases[] = {
      {"the owner reads", caller_of(Kind::kOwner), kReadBlob, ""},
      {"the owner sets the ACL", caller_of(Kind::kOwner), kSetAcl, ""},
      {"the owner asks for a delegation key", caller_of(Kind::kOwner), kGetDelegationKey,
       "AuthenticationFailed"},
      {"a token reads", caller_of(Kind::kBearer), kReadBlob, ""},
      {"a token sets the ACL", caller_of(Kind::kBearer), kSetAcl, "AuthorizationFailure"},
      {"a token asks for a delegation key", caller_of(Kind::kBearer), kGetDelegationKey, ""},
      {"account SAS", caller_of(Kind::kAccountSas, "r"), kReadBlob, ""},
      {"account SAS, one of two letters", caller_of(Kind::kAccountSas, "c"), kPutBlob, ""},
      {"account SAS without the permission", caller_of(Kind::kAccountSas, "wd"), kReadBlob,
       "AuthorizationPermissionMismatch"},
      {"account SAS of another type", caller_of(Kind::kAccountSas, "l"), kListBlobs,
       "AuthorizationResourceTypeMismatch"},
      {"account SAS never sets the ACL", caller_of(Kind::kAccountSas, "rwdlacup"), kSetAcl,
       "AuthorizationFailure"},
      {"account SAS and a delegation key", caller_of(Kind::kAccountSas, "r"), kGetDelegationKey,
       "AuthenticationFailed"},
      {"service SAS", caller_of(Kind::kServiceSas, "r"), kReadBlob, ""},
      {"service SAS without the permission", caller_of(Kind::kServiceSas, "wl"), kReadBlob,
       "AuthorizationPermissionMismatch"},
      {"service SAS never sets the ACL", caller_of(Kind::kServiceSas, "rwdl"), kSetAcl,
       "AuthorizationFailure"},
      {"user delegation SAS", caller_of(Kind::kUserDelegationSas, "c"), kPutBlob, ""},
      {"user delegation SAS without the permission", caller_of(Kind::kUserDelegationSas, "r"),
       kPutBlob, "AuthorizationPermissionMismatch"},
  };
  for (const auto& given : cases) {
    EXPECT_EQ(code_of(authorize(given.caller, given.need, blob_target(), {})), given.code)
        << given.name;
  }
}

TEST(Authorize, AccountSasOfAnotherService) {
  Target target = blob_target();
  target.service = wire::Service::kQueue;
  EXPECT_EQ(code_of(authorize(caller_of(Kind::kAccountSas, "r"), kReadBlob, target, {})),
            "AuthorizationServiceMismatch");
}

TEST(Authorize, PublicAccess) {
  const struct {
    PublicAccess access;
    const Need& need;
    bool allowed;
  } cases[] = {
      {PublicAccess::kNone, kReadBlob, false},
      {PublicAccess::kBlob, kReadBlob, true},
      {PublicAccess::kContainer, kReadBlob, true},
      {PublicAccess::kNone, kListBlobs, false},
      {PublicAccess::kBlob, kListBlobs, false},
      {PublicAccess::kContainer, kListBlobs, true},
      {PublicAccess::kContainer, kPutBlob, false},
      {PublicAccess::kContainer, kSetAcl, false},
      {PublicAccess::kContainer, kGetDelegationKey, false},
  };
  for (const auto& given : cases) {
    for (const bool challenged : {false, true}) {
      Caller caller;
      caller.expects_challenge = challenged;
      const Acl acl{{}, given.access};
      const auto outcome = authorize(caller, given.need, blob_target(), acl);
      EXPECT_EQ(outcome.ok(), given.allowed);
      if (outcome.ok()) continue;
      EXPECT_EQ(code_of(outcome), challenged ? "NoAuthenticationInformation" : "ResourceNotFound");
      EXPECT_EQ(outcome.error().status, challenged ? 401 : 404);
    }
  }
}

TEST(Authorize, WhetherTheAclMustBeRead) {
  Caller anonymous;
  EXPECT_TRUE(needs_acl(anonymous, kReadBlob));
  EXPECT_FALSE(needs_acl(anonymous, kPutBlob));
  Caller with_policy = caller_of(Kind::kServiceSas);
  with_policy.policy_pending = true;
  EXPECT_TRUE(needs_acl(with_policy, kPutBlob));
  EXPECT_FALSE(needs_acl(caller_of(Kind::kServiceSas), kReadBlob));
  EXPECT_FALSE(needs_acl(caller_of(Kind::kOwner), kReadBlob));
}

TEST(Authorize, PoliciesSupplyWhatTheTokenLeavesOpen) {
  const Time soon = iso("2026-03-02");
  const Time past = iso("2026-02-01");
  const Time future = iso("2026-03-01T12:00:01Z");
  const struct {
    const char* name;
    Time start, expiry;
    const char* permissions;
    AccessPolicy policy;
    const char* code;
  } cases[] = {
      {"all from the policy", {}, {}, "", {"p", past, soon, "r"}, ""},
      {"expiry from the token", {}, soon, "", {"p", past, {}, "r"}, ""},
      {"permission from the token", {}, {}, "r", {"p", {}, soon, ""}, ""},
      {"no start at all", {}, {}, "", {"p", {}, soon, "r"}, ""},
      {"an unknown policy", {}, {}, "", {"q", {}, soon, "r"}, "AuthenticationFailed"},
      {"ids differ in case", {}, {}, "", {"P", {}, soon, "r"}, "AuthenticationFailed"},
      {"two starts", past, {}, "", {"p", past, soon, "r"}, "AuthenticationFailed"},
      {"two expiries", {}, soon, "", {"p", {}, soon, "r"}, "AuthenticationFailed"},
      {"two permissions", {}, {}, "r", {"p", {}, soon, "r"}, "AuthenticationFailed"},
      {"no expiry", {}, {}, "r", {"p", past, {}, ""}, "AuthenticationFailed"},
      {"no permission", {}, soon, "", {"p", past, {}, ""}, "AuthenticationFailed"},
      {"an expired policy", {}, {}, "", {"p", {}, past, "r"}, "AuthenticationFailed"},
      {"a policy that ends now", {}, {}, "", {"p", {}, kNow, "r"}, "AuthenticationFailed"},
      {"a policy not begun", {}, {}, "", {"p", future, soon, "r"}, "AuthenticationFailed"},
      {"without the right letter",
       {},
       {},
       "",
       {"p", {}, soon, "w"},
       "AuthorizationPermissionMismatch"},
  };
  for (const auto& given : cases) {
    Caller caller = caller_of(Kind::kServiceSas, given.permissions);
    caller.start = given.start;
    caller.expiry = given.expiry;
    caller.policy_id = "p";
    caller.policy_pending = true;
    auto outcome = apply_policy(caller, {{"other", {}, soon, "rwdl"}, given.policy}, kNow);
    // Whoever forgets the error of apply_policy still gets nothing.
    if (!outcome) {
      EXPECT_FALSE(authorize(caller, kReadBlob, blob_target(), {}).ok()) << given.name;
    } else {
      outcome = authorize(caller, kReadBlob, blob_target(), {});
    }
    EXPECT_EQ(code_of(outcome), given.code) << given.name;
  }
}

TEST(Authorize, OthersHaveNoPolicy) {
  Caller owner = caller_of(Kind::kOwner);
  EXPECT_TRUE(apply_policy(owner, {}, kNow).ok());
}

TEST(Authorize, TableKeyRange) {
  Caller caller = caller_of(Kind::kServiceSas, "r");
  caller.key_range.start_partition = "m";
  Target target;
  target.service = wire::Service::kTable;
  target.entity = EntityKeys{"a", "1"};
  EXPECT_EQ(code_of(authorize(caller, kReadBlob, target, {})), "AuthorizationFailure");
  target.entity->partition = "m";
  EXPECT_TRUE(authorize(caller, kReadBlob, target, {}).ok());
}

// By role, by access control of paths, or not at all.
TEST(Authorize, Roles) {
  const Role roles[] = {Role::kNone, Role::kReader, Role::kContributor, Role::kOwner};
  for (const Kind kind : {Kind::kBearer, Kind::kUserDelegationSas}) {
    for (const Role role : roles) {
      for (const Role needed : roles) {
        for (const bool by_path : {false, true}) {
          Caller caller = caller_of(kind, "r");
          caller.role = role;
          Need need{.service_sas = "r", .role = needed};
          if (by_path) need.act = posix::Act::kReadFile;
          const bool enough = role >= needed;
          EXPECT_EQ(code_of(authorize(caller, need, blob_target(), {})),
                    enough || by_path ? "" : "AuthorizationPermissionMismatch");
          EXPECT_EQ(asks_paths(caller, need), !enough);
        }
      }
    }
  }
  // A SAS grants no more than its letters, whoever signed it.
  Caller caller = caller_of(Kind::kUserDelegationSas, "l");
  EXPECT_EQ(code_of(authorize(caller, kReadBlob, blob_target(), {})),
            "AuthorizationPermissionMismatch");
}

TEST(Authorize, RolesAreOfIdentities) {
  for (const Kind kind : {Kind::kOwner, Kind::kAccountSas, Kind::kServiceSas, Kind::kAnonymous}) {
    Caller caller = caller_of(kind, "r");
    caller.role = Role::kNone;
    EXPECT_FALSE(asks_paths(caller, kReadBlob));
    EXPECT_TRUE(identity_of(caller).superuser);
  }
  Caller caller = caller_of(Kind::kBearer);
  caller.object_id = "ann";
  caller.groups = {"team"};
  EXPECT_TRUE(identity_of(caller).superuser);
  caller.role = Role::kContributor;
  const posix::Identity identity = identity_of(caller);
  EXPECT_FALSE(identity.superuser);
  EXPECT_EQ(identity.object_id, "ann");
  EXPECT_EQ(identity.groups, caller.groups);
}

TEST(Roles, OfUsersAndTheirGroups) {
  Roles roles(Role::kNone);
  EXPECT_EQ(roles.of("ann", {"team"}), Role::kNone);
  roles.give("Ann", Role::kReader);
  roles.give("TEAM", Role::kContributor);
  roles.give("banned", Role::kNone);
  const struct {
    const char* id;
    std::vector<std::string> groups;
    Role role;
  } cases[] = {
      {"ann", {}, Role::kReader},
      {"ANN", {"others"}, Role::kReader},
      {"ann", {"team"}, Role::kContributor},
      {"bob", {"others", "Team"}, Role::kContributor},
      {"ann", {"banned"}, Role::kReader},
      {"bob", {"others"}, Role::kNone},
      {"", {}, Role::kNone},
  };
  for (const auto& given : cases) EXPECT_EQ(roles.of(given.id, given.groups), given.role);
  EXPECT_EQ(roles.given("team"), Role::kContributor);
  EXPECT_EQ(roles.given("bob"), std::nullopt);
  // Without a word on anybody everybody is an owner.
  EXPECT_EQ(Roles().of("ann", {}), Role::kOwner);
  Roles limited;
  limited.give("bob", Role::kNone);
  EXPECT_EQ(limited.of("bob", {}), Role::kNone);
  EXPECT_EQ(limited.of("ann", {}), Role::kOwner);
}

TEST(Authorize, OverwritingTakesMoreThanCreating) {
  EXPECT_TRUE(may_overwrite(caller_of(Kind::kOwner)));
  EXPECT_TRUE(may_overwrite(caller_of(Kind::kBearer)));
  EXPECT_TRUE(may_overwrite(caller_of(Kind::kServiceSas, "cw")));
  EXPECT_FALSE(may_overwrite(caller_of(Kind::kServiceSas, "c")));
  EXPECT_FALSE(may_overwrite(caller_of(Kind::kAccountSas, "c")));
  EXPECT_FALSE(may_overwrite(caller_of(Kind::kUserDelegationSas, "cd")));
  EXPECT_FALSE(may_overwrite(Caller()));
}

TEST(Authorize, TokensStayWithinTheirScope) {
  const Need former{.service_sas = "r", .reaches_former = true};
  const Need base{.service_sas = "r"};
  const Need lists{.resource_type = 'c', .service_sas = "r", .by_prefix = true};
  const auto at = [](Level level, const char* object, const char* prefix, const char* snapshot,
                     const char* version) {
    Target target;
    target.level = level;
    target.container = "c";
    target.object = object;
    target.prefix = prefix;
    target.snapshot = snapshot;
    target.version_id = version;
    return target;
  };
  constexpr Level kBlobs = Level::kObject;
  constexpr Level kBox = Level::kContainer;
  const struct {
    Scope scope;
    const char* directory;
    const Need& need;
    Target target;
    bool allowed;
  } cases[] = {
      {Scope::kContainer, "", base, at(kBox, "", "", "", ""), true},
      {Scope::kObject, "", base, at(kBlobs, "b", "", "", ""), true},
      {Scope::kObject, "", lists, at(kBox, "", "", "", ""), false},
      {Scope::kObject, "", lists, at(kBlobs, "b", "", "", ""), false},
      {Scope::kSnapshot, "", former, at(kBlobs, "b", "", "S", ""), true},
      {Scope::kSnapshot, "", former, at(kBlobs, "b", "", "", "V"), true},
      {Scope::kSnapshot, "", former, at(kBlobs, "b", "", "", ""), false},
      {Scope::kSnapshot, "", former, at(kBlobs, "b", "", "S", "V"), false},
      {Scope::kSnapshot, "", base, at(kBlobs, "b", "", "S", ""), false},
      {Scope::kSnapshot, "", lists, at(kBox, "", "", "S", ""), false},
      {Scope::kDirectory, "a/b", base, at(kBlobs, "a/b", "", "", ""), true},
      {Scope::kDirectory, "a/b", base, at(kBlobs, "a/b/c", "", "", ""), true},
      {Scope::kDirectory, "a/b", base, at(kBlobs, "a/bc", "", "", ""), false},
      {Scope::kDirectory, "a/b", base, at(kBlobs, "a", "", "", ""), false},
      {Scope::kDirectory, "a/b", base, at(kBlobs, "x/a/b", "", "", ""), false},
      {Scope::kDirectory, "a/b", lists, at(kBox, "", "a/b/", "", ""), true},
      {Scope::kDirectory, "a/b", lists, at(kBox, "", "a/b/c", "", ""), true},
      {Scope::kDirectory, "a/b", lists, at(kBox, "", "a/b", "", ""), false},
      {Scope::kDirectory, "a/b", lists, at(kBox, "", "a/", "", ""), false},
      {Scope::kDirectory, "a/b", lists, at(kBox, "", "", "", ""), false},
      {Scope::kDirectory, "a/b", base, at(kBox, "", "a/b/", "", ""), false},
      {Scope::kDirectory, "", lists, at(kBox, "", "", "", ""), true},
      {Scope::kDirectory, "", base, at(kBlobs, "b", "", "", ""), true},
  };
  for (size_t i = 0; i < std::size(cases); ++i) {
    const auto& given = cases[i];
    for (const Kind kind : {Kind::kServiceSas, Kind::kUserDelegationSas}) {
      Caller caller = caller_of(kind, "r");
      caller.scope = given.scope;
      caller.directory = given.directory;
      EXPECT_EQ(code_of(authorize(caller, given.need, given.target, {})),
                given.allowed ? "" : "AuthorizationFailure")
          << "case " << i;
    }
  }
}

TEST(Authorize, TagsTakeAPermissionOfTheirOwn) {
  EXPECT_TRUE(may_see_tags(caller_of(Kind::kOwner)));
  EXPECT_TRUE(may_see_tags(caller_of(Kind::kBearer)));
  for (const Kind kind : {Kind::kAccountSas, Kind::kServiceSas, Kind::kUserDelegationSas}) {
    EXPECT_TRUE(may_see_tags(caller_of(kind, "t")));
    EXPECT_EQ(code_of(authorize_tags(caller_of(kind, "racwdxylfmeopi"))),
              "AuthorizationPermissionMismatch");
  }
  Caller anyone;
  EXPECT_EQ(code_of(authorize_tags(anyone)), "ResourceNotFound");
  anyone.expects_challenge = true;
  EXPECT_EQ(code_of(authorize_tags(anyone)), "NoAuthenticationInformation");
}

TEST(Letters, Parse) {
  EXPECT_EQ(Letters::parse("rw", "rwd"), Letters("wr"));
  EXPECT_EQ(Letters::parse("", "rwd"), Letters());
  EXPECT_FALSE(Letters::parse("rx", "rwd"));
  EXPECT_FALSE(Letters::parse("R", "rwd"));
  EXPECT_FALSE(Letters::parse("r ", "rwd"));
}
}  // namespace

}  // namespace kyanite::auth
