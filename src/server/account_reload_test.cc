#include "server/account_reload.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace kyanite::server {
namespace {

constexpr Listener kOnlyBlob[] = {Listener::kBlob};

class AccountReloadTest : public testing::Test {
 protected:
  ~AccountReloadTest() override { std::filesystem::remove(path_); }

  void write(const std::string& text) {
    // A new file each time, as editors and rotating tools make it.
    std::ofstream(path_ + ".new") << text;
    std::filesystem::rename(path_ + ".new", path_);
  }
  // "acme|key " of the accounts as they are now.
  std::string now() const {
    std::string text;
    for (const std::string& name : accounts_->names()) {
      text += name;
      const auto account = accounts_->find(name);
      for (const auto& key : account->keys) text.append("|").append(key.bytes());
      text += ' ';
    }
    return text;
  }
  void start(std::string_view environment = "") {
    auto options = parse_options({"--config", path_});
    auto settings = make_settings(std::move(*options), kOnlyBlob, {std::string(environment)});
    ASSERT_TRUE(settings) << settings.error();
    settings_.emplace(std::move(*settings));
    accounts_ = std::make_unique<auth::Accounts>(settings_->accounts);
    reload_.emplace(*settings_, *accounts_, [&] { ++changes_; });
  }

  const std::string path_ =
      testing::TempDir() + "kyanite-reload-" + std::to_string(getpid()) + ".json";
  std::optional<Settings> settings_;
  std::unique_ptr<auth::Accounts> accounts_;
  std::optional<AccountReload> reload_;
  int changes_ = 0;
};

TEST_F(AccountReloadTest, KeysRotateAndAccountsComeAndGo) {
  write(R"({"accounts": [{"name": "acme", "keys": ["a2V5"]}]})");
  start("other:b3RoZXI=");
  reload_->check();
  EXPECT_EQ(now(), "acme|key other|other ");
  EXPECT_EQ(changes_, 0);

  const auto in_flight = accounts_->find("acme");
  const auto untouched = accounts_->find("other");
  const uint64_t generation = accounts_->generation();
  write(
      R"({"accounts": [{"name": "acme", "keys": ["azI=", "a2V5"]}, {"name": "new", "keys": ["bmV3"]}]})");
  reload_->check();
  EXPECT_EQ(now(), "acme|k2|key new|new other|other ");
  EXPECT_EQ(changes_, 1);
  EXPECT_EQ(in_flight->keys[0].bytes(), "key");
  EXPECT_NE(accounts_->generation(), generation);
  EXPECT_EQ(accounts_->find("acme")->keys[1].serial(), in_flight->keys[0].serial())
      << "a key that stays is the same";
  EXPECT_FALSE(in_flight->has_key(accounts_->find("acme")->keys[0].serial()));
  EXPECT_EQ(accounts_->find("other"), untouched) << "one that has not changed stays the same";

  write(R"({"accounts": []})");
  reload_->check();
  EXPECT_EQ(now(), "other|other ");
}

TEST_F(AccountReloadTest, WhatCannotBeUsedChangesNothing) {
  const std::string good = R"({"accounts": [{"name": "acme", "keys": ["a2V5"]}]})";
  write(good);
  start();
  const char* const bad[] = {
      "", "{", R"({"accounts": [{"name": "acme", "keys": ["?"]}]})", R"({"acounts": []})",
      // The last one is gone: that does not open the door to the well-known account.
      "{}", R"({"accounts": []})",
      R"({"accounts": [{"name": "acme", "keys": ["a2V5"]}, {"name": "acme", "keys": ["a2V5"]}]})"};
  for (const char* text : bad) {
    write(text);
    reload_->check();
    EXPECT_EQ(now(), "acme|key ") << text;
  }
  std::filesystem::remove(path_);
  reload_->check();
  EXPECT_EQ(now(), "acme|key ") << "without a file";
  write(R"({"accounts": [{"name": "acme", "keys": ["azI="]}]})");
  reload_->check();
  EXPECT_EQ(now(), "acme|k2 ") << "and a good one counts again";
}

TEST_F(AccountReloadTest, TheWellKnownAccountStaysUntilOthersCome) {
  write("{}");
  start();
  write(R"({"settings": {"blobVersioning": true}})");
  reload_->check();
  EXPECT_EQ(accounts_->names(), std::vector<std::string>{std::string(kWellKnownAccount)});
  write(R"({"accounts": [{"name": "acme", "keys": ["a2V5"]}]})");
  reload_->check();
  EXPECT_EQ(now(), "acme|key ");
  write(R"({"accounts": []})");
  reload_->check();
  EXPECT_EQ(now(), "acme|key ") << "it does not come back by itself";
}

TEST_F(AccountReloadTest, ANewAccountWithSettingsOfItsOwnTakesARestart) {
  write(R"({"accounts": [{"name": "acme", "keys": ["a2V5"]}]})");
  start();
  write(
      R"({"accounts": [{"name": "acme", "keys": ["azI="], "settings": {"blobVersioning": true}}]})");
  reload_->check();
  EXPECT_EQ(now(), "acme|k2 ") << "what it has holds from the next start";
  write(
      R"({"accounts": [{"name": "acme", "keys": ["azM="]}, {"name": "new", "keys": ["bmV3"], "settings": {"blobVersioning": true}}]})");
  reload_->check();
  EXPECT_EQ(now(), "acme|k2 ");
}

TEST_F(AccountReloadTest, AccountsThatForgedTokensWouldReachAreNotTakenOver) {
  write("{}");
  auto options =
      parse_options({"--config", path_, "--insecureOffLoopback", "--blobHost", "0.0.0.0"});
  ASSERT_TRUE(options) << options.error();
  options->oauth = true;
  auto settings = make_settings(std::move(*options), kOnlyBlob, {});
  ASSERT_TRUE(settings) << settings.error();
  settings_.emplace(std::move(*settings));
  accounts_ = std::make_unique<auth::Accounts>(settings_->accounts);
  reload_.emplace(*settings_, *accounts_, [] {});
  write(R"({"accounts": [{"name": "acme", "keys": ["a2V5"]}]})");
  reload_->check();
  EXPECT_EQ(accounts_->names(), std::vector<std::string>{std::string(kWellKnownAccount)});
}

// What could not be read because of it is tried again.
TEST_F(AccountReloadTest, AnotherModeIsAChange) {
  write("{}");
  std::filesystem::permissions(path_, std::filesystem::perms::owner_write);
  const FileStamp before = FileStamp::of(path_);
  EXPECT_EQ(FileStamp::of(path_), before);
  std::filesystem::permissions(path_, std::filesystem::perms::owner_read);
  EXPECT_FALSE(FileStamp::of(path_) == before);
}

}  // namespace
}  // namespace kyanite::server
