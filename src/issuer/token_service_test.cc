#include "issuer/token_service.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "base/bytes.h"
#include "base/executor.h"

namespace kyanite::issuer {
namespace {

class TextBody final : public http::BodyReader {
 public:
  explicit TextBody(std::string text) : text_(std::move(text)) {}
  Task<Result<Buffer, http::BodyError>> next() override {
    Buffer out = Buffer::copy_of(text_);
    text_.clear();
    co_return out;
  }
  std::optional<uint64_t> length() const override { return text_.size(); }

 private:
  std::string text_;
};

struct Answer {
  int status;
  std::string body;
};

class TokenServiceTest : public testing::Test {
 protected:
  TokenServiceTest() : key_(TokenKey::make()), service_(*key_, clock_) { service_.set_port(10011); }

  Answer ask(std::string_view method, std::string_view path, std::string_view query,
             std::vector<http::Header> headers, const std::string& form) {
    http::Request request;
    request.method = method;
    request.path = path;
    request.query = query;
    for (const auto& [name, value] : headers) request.headers.add(name, value);
    TextBody body(form);
    request.body = &body;
    auto reply = RunLoop::run(service_.serve(request));
    return {reply.status, std::get<std::string>(reply.body)};
  }
  Answer get(std::string_view path, std::string_view query = {},
             std::vector<http::Header> headers = {}) {
    headers.push_back({"Host", "localhost:10011"});
    return ask("GET", path, query, headers, "");
  }
  Answer post(const std::string& form, std::string_view path = "/adfs/oauth2/v2.0/token",
              std::string_view host = "localhost:10011") {
    return ask("POST", path, "", {{"Host", host}}, form);
  }

  ManualClock clock_{Time::from_unix_seconds(1'800'000'000)};
  const std::unique_ptr<const TokenKey> key_;
  TokenService service_;
};

std::string member(const std::string& json, const std::string& name) {
  const std::string mark = "\"" + name + "\":";
  const size_t at = json.find(mark);
  if (at == std::string::npos) return "(none)";
  size_t from = at + mark.size();
  if (json[from] == '"') ++from;
  return json.substr(from, json.find_first_of("\",}", from) - from);
}

std::string claims_of(const std::string& token) {
  const size_t from = token.find('.') + 1;
  std::string part = token.substr(from, token.find('.', from) - from);
  std::replace(part.begin(), part.end(), '-', '+');
  std::replace(part.begin(), part.end(), '_', '/');
  while (part.size() % 4 != 0) part += '=';
  return *unbase64(part);
}

constexpr const char* kGood =
    "grant_type=client_credentials&client_id=app&client_secret=x"
    "&scope=https%3A%2F%2Fstorage.azure.com%2F.default";

TEST_F(TokenServiceTest, ClientsGetTokens) {
  const Answer answer = post(kGood);
  ASSERT_EQ(answer.status, 200) << answer.body;
  EXPECT_EQ(member(answer.body, "token_type"), "Bearer");
  EXPECT_EQ(member(answer.body, "expires_in"), "3600");
  const std::string claims = claims_of(member(answer.body, "access_token"));
  EXPECT_EQ(member(claims, "aud"), "https://storage.azure.com");
  EXPECT_EQ(member(claims, "iss"), "https://localhost:10011/adfs/");
  EXPECT_EQ(member(claims, "nbf"), "1800000000");
  EXPECT_EQ(member(claims, "exp"), "1800003600");
  EXPECT_EQ(member(claims, "oid"), uuid_of("app"));
  EXPECT_TRUE(is_uuid(member(claims, "tid")));
  EXPECT_NE(member(claims, "oid"), member(claims, "tid"));
}

TEST_F(TokenServiceTest, IdsStayWhatTheyAre) {
  const std::string id = "0A1b2c3d-0000-4000-8000-123456789abc";
  const std::string form = "grant_type=client_credentials&client_id=" + id +
                           "&client_assertion=x&resource=https%3A%2F%2Fstorage.azure.com%2F";
  const Answer answer = post(form, "/" + id + "/oauth2/token", "127.0.0.1:10011");
  ASSERT_EQ(answer.status, 200) << answer.body;
  const std::string claims = claims_of(member(answer.body, "access_token"));
  EXPECT_EQ(member(claims, "oid"), ascii_lower(id));
  EXPECT_EQ(member(claims, "tid"), ascii_lower(id));
  EXPECT_EQ(member(claims, "iss"), "https://127.0.0.1:10011/" + id + "/");
  EXPECT_EQ(member(claims, "aud"), "https://storage.azure.com");
}

TEST_F(TokenServiceTest, RefusesByTheRulesOfOAuth) {
  struct Case {
    std::string form;
    int status;
    std::string_view error;
  };
  const std::string scope = "&scope=https%3A%2F%2Fstorage.azure.com%2F.default";
  const Case cases[] = {
      {"", 400, "unsupported_grant_type"},
      {"grant_type=password&client_id=a&client_secret=b" + scope, 400, "unsupported_grant_type"},
      {"grant_type=client_credentials&client_secret=b" + scope, 400, "invalid_request"},
      {"grant_type=client_credentials&client_id=a" + scope, 401, "invalid_client"},
      {"grant_type=client_credentials&client_id=a&client_secret=b", 400, "invalid_scope"},
      {"grant_type=client_credentials&client_id=a&client_secret=b&scope=openid", 400,
       "invalid_scope"},
      {"grant_type=client_credentials&client_id=%ff&client_secret=b" + scope, 400,
       "invalid_request"},
      {"grant_type=client_credentials&client_id=%f", 400, "invalid_request"},
      {std::string(kGood) + "&x=" + std::string(kMaxFormBytes, 'x'), 400, "invalid_request"},
  };
  for (const Case& c : cases) {
    const Answer answer = post(c.form);
    EXPECT_EQ(answer.status, c.status) << c.form.substr(0, 100);
    EXPECT_EQ(member(answer.body, "error"), c.error) << c.form.substr(0, 100);
  }
  EXPECT_EQ(get("/adfs/oauth2/v2.0/token").status, 405);
}

TEST_F(TokenServiceTest, AnswersToNamesOfLoopbackOnly) {
  for (const char* host : {"localhost", "localhost:1", "127.0.0.1:10011", "[::1]:10011"})
    EXPECT_EQ(post(kGood, "/adfs/oauth2/v2.0/token", host).status, 200) << host;
  for (const char* host : {"", "evil.example", "localhost.evil.example", "localhost:x",
                           "localhost:1234567", "127.0.0.1.evil.example", "localhost\""}) {
    EXPECT_EQ(post(kGood, "/adfs/oauth2/v2.0/token", host).status, 421) << host;
  }
}

TEST_F(TokenServiceTest, DescribesItself) {
  for (const char* path :
       {"/adfs/.well-known/openid-configuration", "/adfs/v2.0/.well-known/openid-configuration"}) {
    const Answer answer = get(path);
    ASSERT_EQ(answer.status, 200);
    EXPECT_EQ(member(answer.body, "issuer"), "https://localhost:10011/adfs/");
    EXPECT_EQ(member(answer.body, "token_endpoint"),
              "https://localhost:10011/adfs/oauth2/v2.0/token");
    EXPECT_EQ(member(answer.body, "jwks_uri"), "https://localhost:10011/adfs/discovery/v2.0/keys");
  }
  EXPECT_EQ(get("/adfs/discovery/v2.0/keys").body, key_->key_set());
  for (const char* path : {"/", "/adfs", "/adfs/", "//oauth2/token", "/a\"b/discovery/keys",
                           "/adfs/oauth2/v2.0/authorize"}) {
    EXPECT_EQ(get(path).status, 404) << path;
  }
}

TEST_F(TokenServiceTest, MachinesShowThatTheyAreOnes) {
  const std::string_view resource = "resource=https%3A%2F%2Fstorage.azure.com%2F";
  const Answer machine = get(kVirtualMachinePath, resource, {{"Metadata", "true"}});
  ASSERT_EQ(machine.status, 200) << machine.body;
  EXPECT_EQ(member(machine.body, "expires_on"), "1800003600");
  const std::string claims = claims_of(member(machine.body, "access_token"));
  EXPECT_EQ(member(claims, "iss"), "https://localhost:10011/adfs/");
  EXPECT_EQ(member(claims, "aud"), "https://storage.azure.com");
  EXPECT_EQ(get(std::string(kVirtualMachinePath) + "/", resource, {{"Metadata", "true"}}).status,
            200);
  EXPECT_EQ(get(kVirtualMachinePath, resource).status, 400);
  EXPECT_EQ(get(kVirtualMachinePath, "", {{"Metadata", "true"}}).status, 400);

  const Answer app = get(kAppServicePath, std::string(resource) + "&client_id=mine",
                         {{"X-IDENTITY-HEADER", key_->derived_secret()}});
  ASSERT_EQ(app.status, 200) << app.body;
  EXPECT_EQ(member(claims_of(member(app.body, "access_token")), "oid"), uuid_of("mine"));
  EXPECT_EQ(get(kAppServicePath, resource).status, 401);
  EXPECT_EQ(get(kAppServicePath, resource, {{"X-IDENTITY-HEADER", "guess"}}).status, 401);
}

TEST(TokenKey, IsKept) {
  std::string pattern = testing::TempDir() + "/kyanite-key-XXXXXX";
  const std::string directory = mkdtemp(pattern.data());
  const auto first = TokenKey::open(directory);
  ASSERT_TRUE(first) << first.error();
  const auto second = TokenKey::open(directory);
  ASSERT_TRUE(second);
  EXPECT_EQ((*first)->key_set(), (*second)->key_set());
  EXPECT_EQ((*first)->derived_secret(), (*second)->derived_secret());
  EXPECT_NE((*first)->key_set(), TokenKey::make()->key_set());
  struct stat found {};
  ASSERT_EQ(stat((directory + "/token_key.pem").c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0777U, 0600U);
  std::ofstream(directory + "/token_key.pem", std::ios::trunc) << "no key";
  EXPECT_FALSE(TokenKey::open(directory));
  std::filesystem::remove_all(directory);
}

}  // namespace
}  // namespace kyanite::issuer
