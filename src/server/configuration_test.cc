#include "server/configuration.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

namespace kyanite::server {
namespace {

TEST(Configuration, ReadsEverySetting) {
  const auto configuration = parse_configuration(R"({
    "accounts": [{"name": "acme", "keys": ["a2V5", "azI="]}, {"keys": ["a2V5"], "name": "other"}],
    "oauth": {"jwks": "keys.json", "issuers": ["https://a/", "https://b/"], "audiences": ["x"],
              "roles": {"Ann": "reader", "group": "none"}, "defaultRole": "contributor"}
  })");
  ASSERT_TRUE(configuration) << configuration.error();
  ASSERT_EQ(configuration->accounts.size(), 2u);
  EXPECT_EQ(configuration->accounts[0].name, "acme");
  ASSERT_EQ(configuration->accounts[0].keys.size(), 2u);
  EXPECT_EQ(configuration->accounts[0].keys[1].bytes(), "k2");
  EXPECT_EQ(configuration->accounts[1].name, "other");
  EXPECT_EQ(configuration->tokens->jwks_file, "keys.json");
  EXPECT_EQ(configuration->tokens->issuers.size(), 2u);
  EXPECT_EQ(configuration->tokens->audiences.size(), 1u);
  TokenConfiguration tokens = *configuration->tokens;
  tokens.jwks_file.clear();
  const auto rules = make_token_rules(tokens);
  ASSERT_TRUE(rules);
  EXPECT_EQ(rules->roles().of("ann", {"GROUP"}), auth::Role::kReader);
  EXPECT_EQ(rules->roles().of("bob", {"group"}), auth::Role::kNone);
  EXPECT_EQ(rules->roles().of("bob", {}), auth::Role::kContributor);
}

TEST(Configuration, EverythingMayBeLeftOut) {
  const auto configuration = parse_configuration("{}");
  ASSERT_TRUE(configuration);
  EXPECT_TRUE(configuration->accounts.empty());
  EXPECT_FALSE(configuration->tokens);
}

TEST(Configuration, MistakesAreExplained) {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"", "not JSON"},
      {"{", "not JSON"},
      {R"({"accounts": []} x)", "not JSON"},
      {"[]", "the whole must be an object"},
      {R"({"account": []})", "the configuration has no setting 'account'"},
      {R"({"accounts": {}})", "accounts must be a list"},
      {R"({"accounts": ["acme"]})", "each of accounts must be an object"},
      {R"({"accounts": [{"name": "acme"}]})", "acme has no key"},
      {R"({"accounts": [{"name": "acme", "key": "a2V5"}]})", "no setting 'key'"},
      {R"({"accounts": [{"name": "acme", "keys": "a2V5"}]})", "accounts.keys must be a list"},
      {R"({"accounts": [{"name": "acme", "keys": [1]}]})", "each of accounts.keys must be a text"},
      {R"({"accounts": [{"name": "acme", "keys": ["?"]}]})", "acme is not base64"},
      {R"({"accounts": [{"name": 1, "keys": ["a2V5"]}]})", "accounts.name must be a text"},
      {R"({"accounts": [{"keys": ["a2V5"]}]})", "is not an account name"},
      {R"({"accounts": [{"name": "ac", "keys": ["a2V5"]}]})", "'ac' is not an account name"},
      {R"({"accounts": [{"name": "a-b-c", "keys": ["a2V5"]}]})", "is not an account name"},
      {R"({"accounts": [{"name": "Acc1", "keys": ["a2V5"]}]})", "is not an account name"},
      {R"({"oauth": []})", "oauth must be an object"},
      {R"({"oauth": {"jwks": ""}})", "oauth.jwks must be a text"},
      {R"({"oauth": {"issuers": "x"}})", "oauth.issuers must be a list"},
      {R"({"oauth": {"issuer": []}})", "oauth has no setting 'issuer'"},
      {R"({"oauth": {"roles": []}})", "oauth.roles must be an object"},
      {R"({"oauth": {"roles": {"ann": "king"}}})", "each of oauth.roles must be owner, contrib"},
      {R"({"oauth": {"roles": {"ann": 1}}})", "each of oauth.roles must be owner, contributor"},
      {R"({"oauth": {"defaultRole": ""}})", "oauth.defaultRole must be owner, contributor, reader"},
  };
  for (auto [text, message] : cases) {
    const auto configuration = parse_configuration(text);
    ASSERT_FALSE(configuration) << text;
    EXPECT_NE(configuration.error().find(message), std::string::npos) << configuration.error();
  }
}

TEST(Configuration, FilesAreNamedInErrorsAndBesideEachOther) {
  const std::string path = testing::TempDir() + "kyanite-" + std::to_string(getpid()) + ".json";
  EXPECT_NE(load_configuration(path).error().find(path), std::string::npos);
  std::ofstream(path) << R"({"oauth": {"jwks": "keys.json"}})";
  auto configuration = load_configuration(path);
  ASSERT_TRUE(configuration) << configuration.error();
  EXPECT_EQ(configuration->tokens->jwks_file, testing::TempDir() + "keys.json");
  std::ofstream(path) << R"({"oauth": {"jwks": "/keys.json"}})";
  EXPECT_EQ(load_configuration(path)->tokens->jwks_file, "/keys.json");
  std::ofstream(path) << "{";
  EXPECT_NE(load_configuration(path).error().find(path), std::string::npos);
  unlink(path.c_str());
  EXPECT_FALSE(load_configuration(testing::TempDir()));
}

TEST(Configuration, TokenRulesNeedTheirKeyFile) {
  EXPECT_TRUE(make_token_rules({}));
  TokenConfiguration tokens;
  tokens.jwks_file = "/nonexistent/keys.json";
  const auto rules = make_token_rules(tokens);
  ASSERT_FALSE(rules);
  EXPECT_NE(rules.error().find("/nonexistent/keys.json"), std::string::npos);
}

}  // namespace
}  // namespace kyanite::server
