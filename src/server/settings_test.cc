#include "server/settings.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace kyanite::server {
namespace {

constexpr Listener kOnlyBlob[] = {Listener::kBlob};

Options options_of(const std::vector<std::string>& arguments) {
  auto options = parse_options(arguments);
  EXPECT_TRUE(options);
  return *options;
}

class SettingsTest : public testing::Test {
 protected:
  ~SettingsTest() override { unlink(path_.c_str()); }

  std::string write(const std::string& text) {
    std::ofstream(path_) << text;
    return path_;
  }

  const std::string path_ =
      testing::TempDir() + "kyanite-settings-" + std::to_string(getpid()) + ".json";
};

TEST_F(SettingsTest, AccountsOfEnvironmentAndFileAreBothServed) {
  const auto path = write(R"({"accounts": [{"name": "fromfile", "keys": ["a2V5"]}]})");
  const auto settings =
      make_settings(options_of({"--config", path}), kOnlyBlob, {"fromenvironment:a2V5"});
  ASSERT_TRUE(settings) << settings.error();
  ASSERT_EQ(settings->accounts.size(), 2u);
  EXPECT_EQ(settings->accounts[0].name, "fromenvironment");
  EXPECT_EQ(settings->accounts[1].name, "fromfile");
  EXPECT_FALSE(settings->token_rules);
  EXPECT_EQ(settings->tls, nullptr);
}

TEST_F(SettingsTest, OnlyServedListenersDecideOverTheWellKnownAccount) {
  EXPECT_FALSE(make_settings(options_of({"--blobHost", "0.0.0.0"}), kOnlyBlob, {}));
  EXPECT_TRUE(make_settings(options_of({"--queueHost", "0.0.0.0"}), kOnlyBlob, {}));
  EXPECT_TRUE(make_settings(options_of({"--adminHost", "0.0.0.0"}), kOnlyBlob, {}));
  EXPECT_TRUE(make_settings(options_of({"--blobHost", "0.0.0.0"}), kOnlyBlob, {"acme:a2V5"}));
}

TEST_F(SettingsTest, TheWellKnownAccountForAllIsSaidAloud) {
  const auto open =
      make_settings(options_of({"--blobHost", "0.0.0.0", "--insecureOffLoopback"}), kOnlyBlob, {});
  ASSERT_TRUE(open) << open.error();
  EXPECT_NE(open_to_all_notice(*open).find("0.0.0.0"), std::string::npos);
  const auto own = make_settings(options_of({"--blobHost", "0.0.0.0", "--insecureOffLoopback"}),
                                 kOnlyBlob, {"acme:a2V5"});
  EXPECT_EQ(open_to_all_notice(*own), "");
  const auto here = make_settings(options_of({"--insecureOffLoopback"}), kOnlyBlob, {});
  EXPECT_EQ(open_to_all_notice(*here), "");
}

TEST_F(SettingsTest, AccountsOfTheEnvironment) {
  const std::string folder = path_ + ".credentials";
  std::filesystem::create_directory(folder);
  const auto list = [&](const Environment& environment) {
    const auto read = read_environment_accounts(environment);
    EXPECT_TRUE(read) << read.error();
    return read->list;
  };
  EXPECT_EQ(list({}), "");
  EXPECT_EQ(list({{"AZURITE_ACCOUNTS", "a:k"}}), "a:k");
  EXPECT_EQ(list({{"AZURITE_ACCOUNTS", "a:k"}, {"KYANITE_ACCOUNTS", "b:k"}}), "b:k");
  EXPECT_EQ(list({{"CREDENTIALS_DIRECTORY", folder}, {"AZURITE_ACCOUNTS", "a:k"}}), "a:k");
  std::ofstream(folder + "/kyanite.accounts") << "c:k\nd:k\n";
  EXPECT_EQ(list({{"CREDENTIALS_DIRECTORY", folder}, {"AZURITE_ACCOUNTS", "a:k"}}), "a:k;c:k;d:k");
  std::filesystem::remove_all(folder);
}

TEST_F(SettingsTest, ACredentialWithoutAccountsIsNoInvitation) {
  const std::string folder = path_ + ".credentials";
  std::filesystem::create_directory(folder);
  const auto named = write(R"({"accounts": [{"name": "acme", "keys": ["a2V5"]}]})");
  struct Case {
    const char* credential;  // Null: there is none.
    std::vector<std::string> arguments;
    std::string variable;
    bool served;
  };
  const Case cases[] = {
      {nullptr, {}, "", true},
      {"", {}, "", false},
      {"\n \n", {}, "", false},
      {";\n", {}, "", false},
      {"", {"--insecureOffLoopback"}, "", false},
      {"", {}, "acme:a2V5", true},
      {"", {"--config", named}, "", true},
      {"acme:a2V5\n", {}, "", true},
  };
  for (const Case& c : cases) {
    const std::string file = folder + "/kyanite.accounts";
    std::filesystem::remove(file);
    if (c.credential != nullptr) std::ofstream(file) << c.credential;
    const auto read = read_environment_accounts(
        {{"CREDENTIALS_DIRECTORY", folder}, {"KYANITE_ACCOUNTS", c.variable}});
    ASSERT_TRUE(read) << read.error();
    const auto settings = make_settings(options_of(c.arguments), kOnlyBlob, *read);
    EXPECT_EQ(settings.ok(), c.served);
    if (settings) continue;
    for (const std::string& part : {file, std::string("/etc/kyanite/accounts")})
      EXPECT_NE(settings.error().find(part), std::string::npos) << settings.error();
  }
  std::filesystem::remove_all(folder);
}

TEST_F(SettingsTest, MistakesSayWhereTheyAre) {
  const auto two = write(R"({"accounts": [{"name": "acme", "keys": ["a2V5"]}]})");
  struct Case {
    std::vector<std::string> arguments;
    std::string_view environment;
    std::string_view message;
  };
  const Case cases[] = {
      {{}, "acme:?", "AZURITE_ACCOUNTS: "},
      {{"--config", two}, "acme:a2V5", "acme is given twice"},
      {{"--config", "/nonexistent"}, "", "/nonexistent"},
      {{"--cert", "/nonexistent", "--key", "/nonexistent"}, "", "/nonexistent"},
      {{"--cert", "/nonexistent"}, "", "/nonexistent"},
  };
  for (const Case& c : cases) {
    const auto settings =
        make_settings(options_of(c.arguments), kOnlyBlob, {std::string(c.environment)});
    ASSERT_FALSE(settings) << c.message;
    EXPECT_NE(settings.error().find(c.message), std::string::npos) << settings.error();
  }
}

TEST_F(SettingsTest, TokenSettingsWithoutTheFlagAreRefused) {
  const auto path = write(R"({"oauth": {"issuers": ["https://a/"]}})");
  const auto settings = make_settings(options_of({"--config", path}), kOnlyBlob, {});
  ASSERT_FALSE(settings);
  EXPECT_NE(settings.error().find("--oauth basic"), std::string::npos) << settings.error();
}

// A certificate is needed for --oauth, and refused here for not being there; the key set is looked
// at before it.
TEST_F(SettingsTest, TokensWithoutAKeySetStayOnThisMachine) {
  const std::string jwks = path_ + ".keys";
  std::ofstream(jwks) << R"({"keys": [{"kty": "EC", "crv": "P-256",
      "x": "zemNwwYc3Q91YkxLF-yWvYNEYXYdAOY5G6X9N5HIAmo",
      "y": "YeL2nagAzwNAV5kFU_E7I4pgR05RfumtUNd8e_1Xv7s"}]})";
  struct Case {
    std::vector<std::string> where;
    std::string config;  // "": none
    std::string_view refusal;
  };
  const std::string_view no_key_set = "no key set";
  const std::string_view no_certificate = "/nonexistent.pem";
  const std::string with_keys = R"({"oauth": {"jwks": ")" + jwks + R"("}})";
  const std::string without_keys = R"({"oauth": {"issuers": ["https://a/"]}})";
  const Case cases[] = {
      {{}, "", no_certificate},
      {{"--blobHost", "localhost"}, "", no_certificate},
      {{"--blobHost", "::1"}, "", no_certificate},
      {{"--blobHost", "0.0.0.0"}, "", no_key_set},
      {{"--blobHost", "::"}, "", no_key_set},
      {{"--blobHost", "192.168.1.2"}, without_keys, no_key_set},
      {{"--blobHost", "box.example"}, without_keys, no_key_set},
      {{"--blobHost", "0.0.0.0"}, with_keys, no_certificate},
  };
  for (const Case& c : cases) {
    std::vector<std::string> arguments = {"--oauth", "basic", "--cert", "/nonexistent.pem"};
    arguments.insert(arguments.end(), c.where.begin(), c.where.end());
    if (!c.config.empty()) {
      arguments.emplace_back("--config");
      arguments.push_back(write(c.config));
    }
    const auto settings = make_settings(options_of(arguments), kOnlyBlob, {"acme:a2V5"});
    ASSERT_FALSE(settings);
    EXPECT_NE(settings.error().find(c.refusal), std::string::npos) << settings.error();
  }
  // Where everybody has the key, a token that anybody can make gives nothing more.
  const std::vector<std::string> for_all = {"--oauth",
                                            "basic",
                                            "--cert",
                                            "/nonexistent.pem",
                                            "--blobHost",
                                            "::",
                                            "--insecureOffLoopback"};
  EXPECT_NE(make_settings(options_of(for_all), kOnlyBlob, {}).error().find(no_certificate),
            std::string::npos);
  EXPECT_NE(make_settings(options_of(for_all), kOnlyBlob, {"acme:a2V5"}).error().find(no_key_set),
            std::string::npos);
  unlink(jwks.c_str());
}

TEST_F(SettingsTest, TokensOfItsOwnAreForLoopbackAndFromNobodyElse) {
  struct Case {
    std::vector<std::string> more;
    std::string config;
    std::string_view refusal;  // "": none
  };
  const Case cases[] = {
      {{}, "", ""},
      {{"--tokenHost", "::1", "--tokenPort", "0"}, "", ""},
      {{}, R"({"oauth": {"defaultRole": "reader"}})", ""},
      {{"--blobHost", "0.0.0.0"}, "", "refusing to listen on 0.0.0.0 with --oauth local"},
      {{"--tokenHost", "192.168.1.2"}, "", "refusing to listen on 192.168.1.2"},
      {{"--adminHost", "box.example"}, "", "refusing to listen on box.example"},
      {{}, R"({"oauth": {"jwks": "keys.json"}})", "of another issuer"},
      {{}, R"({"oauth": {"issuers": ["https://login.example/"]}})", "of another issuer"},
  };
  for (const Case& c : cases) {
    std::vector<std::string> arguments = {"--oauth", "local", "--https"};
    arguments.insert(arguments.end(), c.more.begin(), c.more.end());
    if (!c.config.empty()) arguments.insert(arguments.end(), {"--config", write(c.config)});
    const auto settings = make_settings(options_of(arguments), kOnlyBlob, {"acme:a2V5"});
    EXPECT_EQ(settings.ok(), c.refusal.empty());
    if (settings) {
      EXPECT_TRUE(settings->local_tokens);
      EXPECT_FALSE(settings->token_rules);
    } else {
      EXPECT_NE(settings.error().find(c.refusal), std::string::npos) << settings.error();
    }
  }
}

TEST(Notices, ForgeableTokensAreSpokenOf) {
  Settings settings;
  EXPECT_EQ(forgeable_tokens_notice(settings), "");
  settings.token_rules.emplace();
  EXPECT_NE(forgeable_tokens_notice(settings).find("oauth.jwks"), std::string::npos);
}

TEST(Notices, NameWhatHasNoEffect) {
  EXPECT_TRUE(notices(options_of({"--blobPort", "1", "--adminPort", "2"})).empty());
  const auto all = notices(options_of({"--disableTelemetry", "--queuePort", "1", "--loose"}));
  ASSERT_EQ(all.size(), 2u);
  EXPECT_NE(all[0].find("disableTelemetry"), std::string::npos);
  EXPECT_NE(all[1].find("loose"), std::string::npos);
}

TEST(MakeSettings, SmbRulesOfAllAndOfOneAccount) {
  const std::string path = testing::TempDir() + "kyanite-smb-rules.json";
  std::ofstream(path) << R"({"settings": {"smbLeastDialect": "3.0"},
    "accounts": [{"name": "acme", "keys": ["a2V5"], "settings": {"smbEncryption": "required"}},
                 {"name": "other", "keys": ["a2V5"]}]})";
  const auto settings = make_settings(
      options_of({"--config", path, "--setting", "smbEncryption=allowed"}), kOnlyBlob, {});
  unlink(path.c_str());
  ASSERT_TRUE(settings) << settings.error();
  EXPECT_EQ(settings->smb_rules.of("acme").encryption, drive::Encryption::kRequired);
  EXPECT_EQ(settings->smb_rules.of("other").encryption, drive::Encryption::kAllowed);
  EXPECT_EQ(settings->smb_rules.of("acme").least_dialect, smb::Dialect::kSmb300);
  EXPECT_EQ(settings->smb_rules.of("other").least_dialect, smb::Dialect::kSmb300);
}

TEST(MakeSettings, SmbRulesSayWhetherAnybodyMayEncrypt) {
  constexpr drive::AccountRules kOff{drive::Encryption::kOff, smb::Dialect::kSmb210};
  EXPECT_TRUE(SmbRules().may_encrypt());
  SmbRules rules(kOff);
  EXPECT_FALSE(rules.may_encrypt());
  rules.set("plain", kOff);
  EXPECT_FALSE(rules.may_encrypt());
  rules.set("careful", {});
  EXPECT_TRUE(rules.may_encrypt());
}

}  // namespace
}  // namespace kyanite::server
