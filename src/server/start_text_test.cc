#include "server/start_text.h"

#include <gtest/gtest.h>

namespace kyanite::server {
namespace {

TEST(StartText, Urls) {
  struct Case {
    std::string host;
    bool tls;
    std::string_view url;
  };
  const Case cases[] = {
      {"127.0.0.1", false, "http://127.0.0.1:80"},
      {"0.0.0.0", true, "https://127.0.0.1:80"},
      {"::", false, "http://[::1]:80"},
      {"::1", false, "http://[::1]:80"},
      {"box.example", false, "http://box.example:80"},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(url_of({Listener::kBlob, {c.host, 80}, c.tls}), c.url);
  }
}

TEST(StartText, ConnectionStringNamesEveryServiceAndOnlyThose) {
  const std::vector<Started> started = {{Listener::kBlob, {"127.0.0.1", 1}, true},
                                        {Listener::kQueue, {"127.0.0.1", 2}, true},
                                        {Listener::kSmb, {"127.0.0.1", 3}, false},
                                        {Listener::kAdmin, {"127.0.0.1", 4}, false}};
  EXPECT_EQ(connection_string(started, (*parse_account_list("acme:a2V5"))[0], true),
            "DefaultEndpointsProtocol=https;AccountName=acme;AccountKey=a2V5;"
            "BlobEndpoint=https://127.0.0.1:1/acme;QueueEndpoint=https://127.0.0.1:2/acme;");
}

TEST(StartText, WhatTheServerVouchesForComesBeforeTheEnd) {
  const std::vector<Started> started = {{Listener::kBlob, {"127.0.0.1", 1}, true},
                                        {Listener::kToken, {"127.0.0.1", 2}, true}};
  const std::string text = start_text(started, *parse_account_list("acme:a2V5"), "/x", false,
                                      trust_text("/x/issuer/ca.pem", "http://a/ca.pem"));
  EXPECT_NE(text.find("Token   https://127.0.0.1:2\n"), std::string::npos) << text;
  EXPECT_NE(text.find("NODE_EXTRA_CA_CERTS=/x/issuer/ca.pem\n"), std::string::npos);
  EXPECT_EQ(text.find("http://a/ca.pem"), std::string::npos);
  EXPECT_TRUE(text.ends_with("\nReady. Ctrl-C stops.\n"));
  // What is kept nowhere is fetched.
  EXPECT_NE(trust_text("", "http://a/ca.pem").find("curl -so ca.pem http://a/ca.pem\n"),
            std::string::npos);
  const std::string tokens = tokens_text("https://127.0.0.1:2", "http://127.0.0.1:3", "secret");
  for (const char* part :
       {"AZURE_AUTHORITY_HOST=https://127.0.0.1:2 AZURE_TENANT_ID=adfs",
        "IDENTITY_ENDPOINT=http://127.0.0.1:3/msi/token IDENTITY_HEADER=secret\n",
        "AZURE_POD_IDENTITY_AUTHORITY_HOST=http://127.0.0.1:3\n"}) {
    EXPECT_NE(tokens.find(part), std::string::npos) << part;
  }
}

TEST(ConnectionStrings, AreThoseOfAServerWithSuchOptions) {
  const AccountList two = *parse_account_list("acme:a2V5\nother:b3RoZXI=\n");
  constexpr Listener kTwo[] = {Listener::kBlob, Listener::kQueue, Listener::kSmb, Listener::kWeb};
  auto options = parse_options({"--blobHost", "0.0.0.0", "--queuePort", "7"});
  const auto plain = connection_strings(*options, kTwo, two);
  ASSERT_TRUE(plain) << plain.error();
  ASSERT_EQ(plain->size(), 2u);
  EXPECT_EQ((*plain)[0],
            "DefaultEndpointsProtocol=http;AccountName=acme;AccountKey=a2V5;"
            "BlobEndpoint=http://127.0.0.1:10000/acme;QueueEndpoint=http://127.0.0.1:7/acme;");
  EXPECT_EQ((*plain)[1],
            "DefaultEndpointsProtocol=http;AccountName=other;AccountKey=b3RoZXI=;"
            "BlobEndpoint=http://127.0.0.1:10000/other;QueueEndpoint=http://127.0.0.1:7/other;");
  options = parse_options({"--https"});
  EXPECT_TRUE(connection_strings(*options, kTwo, two)
                  ->front()
                  .starts_with("DefaultEndpointsProtocol=https;AccountName=acme;AccountKey=a2V5;"
                               "BlobEndpoint=https://"));
  options = parse_options({"--queuePort", "0"});
  const auto unknown = connection_strings(*options, kTwo, two);
  ASSERT_FALSE(unknown);
  EXPECT_NE(unknown.error().find("--queuePort 0"), std::string::npos) << unknown.error();
}

TEST(StartText, KeysAreShownOnlyWhenAskedForOrPublic) {
  const std::vector<Started> started = {{Listener::kBlob, {"127.0.0.1", 1}, false}};
  const AccountList own = *parse_account_list("acme:a2V5");
  EXPECT_NE(start_text(started, own, "/x", true).find("a2V5"), std::string::npos);
  EXPECT_EQ(start_text(started, own, "/x", false).find("a2V5"), std::string::npos);
  const AccountList well_known = *choose_accounts({}, {"127.0.0.1"});
  EXPECT_NE(start_text(started, well_known, "/x", false).find(kWellKnownKey), std::string::npos);
  const AccountList rekeyed = *parse_account_list("devstoreaccount1:a2V5");
  EXPECT_EQ(start_text(started, rekeyed, "/x", false).find("a2V5"), std::string::npos);
}

TEST(StartText, DrivesCanBeMountedByWhatItSays) {
  const std::vector<Started> started = {{Listener::kBlob, {"127.0.0.1", 1}, true},
                                        {Listener::kSmb, {"0.0.0.0", 3}, false}};
  const AccountList own = *parse_account_list("acme:a2V5");
  const std::string open = start_text(started, own, "/x", true);
  EXPECT_NE(open.find("  SMB     smb://127.0.0.1:3/SHARE\n"), std::string::npos);
  EXPECT_NE(open.find("  mount -t cifs //127.0.0.1/SHARE /mnt "
                      "-o port=3,username=acme,password=a2V5\n"),
            std::string::npos);
  const std::string closed = start_text(started, own, "/x", false);
  EXPECT_EQ(closed.find("a2V5"), std::string::npos);
  EXPECT_NE(closed.find("password='<key of acme>'\n"), std::string::npos);
  EXPECT_EQ(start_text({started[0]}, own, "/x", true).find("mount"), std::string::npos);
}

TEST(StartText, ShowsLocationAndListeners) {
  const std::vector<Started> started = {{Listener::kBlob, {"127.0.0.1", 1}, false},
                                        {Listener::kAdmin, {"127.0.0.1", 4}, false}};
  const std::string text = start_text(started, *choose_accounts({}, {}), "/x", false);
  EXPECT_NE(text.find("data in /x\n"), std::string::npos);
  EXPECT_NE(text.find("  Blob    http://127.0.0.1:1/devstoreaccount1\n"), std::string::npos);
  EXPECT_NE(text.find("  Admin   http://127.0.0.1:4  (/healthz, /metrics)\n"), std::string::npos);
}

}  // namespace
}  // namespace kyanite::server
