// What the SDKs really sign, caught by tests/js/tools/make_auth_vectors.mjs, is accepted; the same
// slightly changed is not.
#include "auth/testing.h"

namespace kyanite::auth {

namespace {
using Kind = Caller::Kind;
constexpr auto kBlob = wire::Service::kBlob;
constexpr auto kQueue = wire::Service::kQueue;
constexpr auto kTable = wire::Service::kTable;
constexpr auto kFile = wire::Service::kFile;

struct Vector {
  std::string name;
  wire::Service service;
  Kind kind;
  std::string method;
  std::string target;
  HeaderList headers;
  int64_t now;
};

const std::vector<Vector>& vectors() {
  static const std::vector<Vector> all = {
#include "auth/sdk_vectors.inc"
  };
  return all;
}

TEST(Sdk, SignaturesOfTheSdksAreAccepted) {
  ASSERT_GT(vectors().size(), 150u);
  for (const auto& vector : vectors()) {
    Call call(vector.service, vector.method, vector.target, vector.headers);
    const auto caller = call.authenticate(Time::from_unix_seconds(vector.now));
    ASSERT_TRUE(caller.ok()) << vector.name << ": " << code_of(caller) << ": " << detail_of(caller);
    EXPECT_EQ(static_cast<int>(caller->kind), static_cast<int>(vector.kind)) << vector.name;
  }
}

TEST(Sdk, SignaturesForAnotherResourceAreRefused) {
  for (const auto& vector : vectors()) {
    if (vector.kind == Kind::kAccountSas) continue;  // Good for every resource of the account.
    // "/devstoreaccount1/c..." becomes "/devstoreaccount1/xc...".
    std::string target = vector.target;
    const size_t name = target.find('/', 1);
    target.insert(name + 1, "x");
    Call call(vector.service, vector.method, target, vector.headers);
    EXPECT_EQ(code_of(call.authenticate(Time::from_unix_seconds(vector.now))),
              "AuthenticationFailed")
        << vector.name;
  }
}

TEST(Sdk, SignaturesByAnUnknownKeyAreRefused) {
  const Accounts strangers({{kTestAccount, {Key("something else")}}});
  for (const auto& vector : vectors()) {
    Call call(vector.service, vector.method, vector.target, vector.headers);
    const auto caller =
        call.authenticate(Time::from_unix_seconds(vector.now), Settings{&strangers, nullptr});
    EXPECT_EQ(code_of(caller), "AuthenticationFailed") << vector.name;
  }
}

// Every field of a token is signed: changing any of them invalidates it.
TEST(Sdk, EveryFieldOfATokenIsSigned) {
  for (const auto& vector : vectors()) {
    if (vector.kind == Kind::kOwner) continue;
    for (size_t at = vector.target.find('?'); at != std::string::npos;
         at = vector.target.find('&', at + 1)) {
      const size_t equals = vector.target.find('=', at);
      const std::string field = vector.target.substr(at + 1, equals - at - 1);
      // Not signed by name, but part of what is: the first depth segments of the path, and the
      // signature itself.
      if (field == "sig" || field == "sdd") continue;
      // Older blob tokens, and those of files, say by their path whether they are for a container
      // or an object.
      if (field == "sr") continue;
      std::string target = vector.target;
      target.insert(equals + 1, field == "sp" || field == "ss" || field == "srt" ? "f" : "1");
      Call call(vector.service, vector.method, target, vector.headers);
      const std::string code = code_of(call.authenticate(Time::from_unix_seconds(vector.now)));
      EXPECT_TRUE(code == "AuthenticationFailed" || code == "AuthorizationServiceMismatch")
          << vector.name << " with another " << field << ": " << code;
    }
  }
}
}  // namespace

}  // namespace kyanite::auth
