#include "auth/authenticate.h"

#include "auth/mac.h"
#include "auth/testing.h"

namespace kyanite::auth {

namespace {
constexpr auto kBlob = wire::Service::kBlob;
const Time kNow = iso("2026-03-01T12:00:00Z");
const std::string kDate = "Sun, 01 Mar 2026 12:00:00 GMT";

TEST(Authenticate, NobodyIsAnonymous) {
  const struct {
    HeaderList headers;
    const char* query;
    bool expects_challenge;
  } cases[] = {
      {{}, "", false},
      {{{"x-ms-version", "2019-07-07"}}, "", false},
      {{{"x-ms-version", "2019-12-12"}}, "", true},
      {{}, "?api-version=2021-12-02", true},
      {{{"x-ms-version", "soon"}}, "", false},
  };
  for (const auto& given : cases) {
    Call call(kBlob, "GET", std::string("/devstoreaccount1/c/b") + given.query, given.headers);
    const auto caller = call.authenticate(kNow);
    ASSERT_TRUE(caller.ok());
    EXPECT_EQ(caller->kind, Caller::Kind::kAnonymous);
    EXPECT_EQ(caller->expects_challenge, given.expects_challenge);
  }
}

TEST(Authenticate, TheHeaderGoesBeforeTheQuery) {
  const std::string text = "GET\n\n\n\n\n\n\n\n\n\n\n\nx-ms-date:" + kDate +
                           "\n/devstoreaccount1/devstoreaccount1/c/b\nsig:garbage\nsv:2021-12-02";
  const std::string good = "SharedKey devstoreaccount1:" + sign(kTestKey, text);
  const std::string target = "/devstoreaccount1/c/b?sv=2021-12-02&sig=garbage";
  Call owner(kBlob, "GET", target, {{"x-ms-date", kDate}, {"Authorization", good}});
  const auto caller = owner.authenticate(kNow);
  ASSERT_TRUE(caller.ok()) << detail_of(caller);
  EXPECT_EQ(caller->kind, Caller::Kind::kOwner);
  Call twice(kBlob, "GET", target,
             {{"x-ms-date", kDate}, {"Authorization", good}, {"authorization", good}});
  EXPECT_EQ(code_of(twice.authenticate(kNow)), "InvalidAuthenticationInfo");
}

TEST(Authenticate, AWrongCredentialIsNotAnonymous) {
  Call call(kBlob, "GET", "/devstoreaccount1/c/b?sig=");
  EXPECT_EQ(code_of(call.authenticate(kNow)), "AuthenticationFailed");
}

TEST(Authenticate, UnknownAccounts) {
  const Accounts none;
  Call call(kBlob, "GET", "/devstoreaccount1/c/b");
  const auto caller = call.authenticate(kNow, Settings{&none, nullptr});
  EXPECT_EQ(code_of(caller), "ResourceNotFound");
}

TEST(Accounts, LookUp) {
  const Accounts accounts({{"one", {Key("a")}}, {"two", {Key("b")}}, {"one", {Key("c")}}});
  ASSERT_NE(accounts.find("one"), nullptr);
  EXPECT_EQ(accounts.find("one")->keys.front().bytes(), "c");
  EXPECT_EQ(accounts.find("three"), nullptr);
}

// RFC 4231, test case 2; more keys than a thread keeps prepared.
TEST(Mac, KnownValueWhateverWasPrepared) {
  const std::string expected = "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843";
  const Key jefe("Jefe");
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(hex(Mac::of(jefe, "what do ya want for nothing?").bytes()), expected);
    EXPECT_NE(hex(Mac::of(Key(std::to_string(i)), "what do ya want for nothing?").bytes()),
              expected);
  }
  EXPECT_EQ(hex(Mac::of(std::string_view("Jefe"), "what do ya want for nothing?").bytes()),
            expected);
  EXPECT_EQ(hex(Mac::of(Key(""), "").bytes()),
            "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad");
}
}  // namespace

}  // namespace kyanite::auth
