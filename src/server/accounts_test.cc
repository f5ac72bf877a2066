#include "server/accounts.h"

#include <gtest/gtest.h>

namespace kyanite::server {
namespace {

std::string described(const AccountList& accounts) {
  std::string text;
  for (const auth::Account& account : accounts) {
    text += account.name;
    for (const auth::Key& key : account.keys) text.append("|").append(key.bytes());
    text += ' ';
  }
  return text;
}

TEST(Accounts, ListForm) {
  struct Case {
    std::string_view text;
    std::string_view outcome;  // the accounts with their decoded keys, or part of the error
    bool ok;
  };
  const Case cases[] = {
      {"", "", true},
      {"acc1:a2V5", "acc1|key ", true},
      {"acc1:a2V5;", "acc1|key ", true},
      {" acc1 : a2V5 : azI= ; acc2:a2V5 ", "acc1|key|k2 acc2|key ", true},
      {"acc1", "account acc1 has no key", false},
      {"acc1:", "a key of account acc1 is not base64", false},
      {"acc1:a2V5:", "a key of account acc1 is not base64", false},
      {"acc1:a2V5IQ", "acc1|key! ", true},
      {"acc1:a2V5!IQ==", "acc1|key! ", true},
      {"acc1:--__", "acc1|\xfb\xef\xff ", true},
      {"acc1:a2V5I", "acc1|key ", true},
      {"acc1:a2V5=IQ", "acc1|key ", true},
      {"acc1:a", "a key of account acc1 is not base64", false},
      {"acc1:%%%", "a key of account acc1 is not base64", false},
      {"acc1:a2V5:a2V5:a2V5", "more than two keys", false},
      {"a:a2V5", "a|key ", true},
      {"Acc1:a2V5", "Acc1|key ", true},
      {"a-b_c:a2V5", "a-b_c|key ", true},
      {"a-secondary:a2V5", "'a-secondary' is not an account name", false},
      {"a.b:a2V5", "is not an account name", false},
      {"a/b:a2V5", "is not an account name", false},
      {"a b:a2V5", "is not an account name", false},
      {"abcdefghijklmnopqrstuvwxyabcdefghijklmnopqrstuvwxyabcdefghijklm:a2V5",
       "abcdefghijklmnopqrstuvwxyabcdefghijklmnopqrstuvwxyabcdefghijklm|key ", true},
      {"abcdefghijklmnopqrstuvwxyabcdefghijklmnopqrstuvwxyabcdefghijklmn:a2V5",
       "is not an account name", false},
      {":a2V5", "'' is not an account name", false},
  };
  for (const Case& c : cases) {
    const auto accounts = parse_account_list(c.text);
    ASSERT_EQ(accounts.ok(), c.ok) << c.text;
    if (c.ok) {
      EXPECT_EQ(described(*accounts), c.outcome);
    } else {
      EXPECT_NE(accounts.error().find(c.outcome), std::string::npos) << accounts.error();
    }
  }
}

TEST(Accounts, ErrorsShowNoKey) {
  const auto accounts = make_account("acc1", {"c2VjcmV0!"});
  ASSERT_FALSE(accounts);
  EXPECT_EQ(accounts.error().find("c2VjcmV0"), std::string::npos) << accounts.error();
}

TEST(Accounts, Loopback) {
  for (auto host : {"127.0.0.1", "127.9.8.7", "::1", "localhost", "LocalHost"}) {
    EXPECT_TRUE(is_loopback(host)) << host;
  }
  for (auto host : {"0.0.0.0", "::", "10.0.0.1", "128.0.0.1", "example.org", "", "127.0.0.1.nip"}) {
    EXPECT_FALSE(is_loopback(host)) << host;
  }
}

TEST(Accounts, WellKnownOneOnLoopbackOnly) {
  auto chosen = choose_accounts({}, {"127.0.0.1", "::1"});
  ASSERT_TRUE(chosen);
  ASSERT_EQ(chosen->size(), 1u);
  EXPECT_EQ(chosen->at(0).name, kWellKnownAccount);
  EXPECT_EQ(chosen->at(0).keys.at(0).bytes().size(), 64u);

  auto refused = choose_accounts({}, {"127.0.0.1", "0.0.0.0"});
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().find("0.0.0.0"), std::string::npos);
  EXPECT_NE(refused.error().find("AZURITE_ACCOUNTS"), std::string::npos);
  EXPECT_TRUE(choose_accounts({}, {"0.0.0.0"}, true));
}

TEST(Accounts, GivenOnesReplaceTheWellKnownOne) {
  auto chosen = choose_accounts(*parse_account_list("acc1:a2V5"), {"0.0.0.0"});
  ASSERT_TRUE(chosen);
  EXPECT_EQ(described(*chosen), "acc1|key ");
}

TEST(Accounts, TwiceTheSameNameIsRefused) {
  auto chosen = choose_accounts(*parse_account_list("acc1:a2V5;acc1:azI="), {"127.0.0.1"});
  ASSERT_FALSE(chosen);
  EXPECT_NE(chosen.error().find("acc1 is given twice"), std::string::npos);
}

}  // namespace
}  // namespace kyanite::server
