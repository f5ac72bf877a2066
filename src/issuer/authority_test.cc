#include "issuer/authority.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "issuer/openssl.h"
#include "os/directory.h"

namespace kyanite::issuer {
namespace {

const Time kNow = Time::from_unix_seconds(1'800'000'000);

class AuthorityTest : public testing::Test {
 protected:
  AuthorityTest() {
    std::string pattern = testing::TempDir() + "/kyanite-issuer-XXXXXX";
    directory_ = mkdtemp(pattern.data());
  }
  ~AuthorityTest() override { std::filesystem::remove_all(directory_); }

  std::string text(const std::string& name) const {
    auto read = os::read_text(directory_ + "/" + name);
    return read ? *read : "";
  }
  unsigned mode(const std::string& name) const {
    struct stat found {};
    EXPECT_EQ(stat((directory_ + "/" + name).c_str(), &found), 0);
    return found.st_mode & 0777;
  }
  std::string error_of(Time now) const {
    const auto opened = Authority::open(directory_, now);
    return opened ? "" : opened.error();
  }

  std::string directory_;
};

// Whether a client that trusts the authority takes the certificate at that time.
bool verifies(const Authority& authority, const ServerCertificate& server, Time at) {
  using Store = std::unique_ptr<X509_STORE, FreedBy<X509_STORE_free>>;
  using Check = std::unique_ptr<X509_STORE_CTX, FreedBy<X509_STORE_CTX_free>>;
  const Store store(X509_STORE_new());
  X509_STORE_add_cert(store.get(), certificate_from(authority.certificate_pem()).get());
  const Certificate certificate = certificate_from(server.chain_pem);
  const Check check(X509_STORE_CTX_new());
  X509_STORE_CTX_init(check.get(), store.get(), certificate.get(), nullptr);
  X509_STORE_CTX_set_default(check.get(), "ssl_server");
  X509_STORE_CTX_set_time(check.get(), 0, static_cast<time_t>(at.unix_seconds()));
  return X509_verify_cert(check.get()) == 1;
}

TEST_F(AuthorityTest, IsMadeOnceAndKept) {
  const std::string inside = directory_ + "/deep/issuer";
  const auto first = Authority::open(inside, kNow);
  ASSERT_TRUE(first) << first.error();
  const auto second = Authority::open(inside, after_seconds(kNow, 1000));
  ASSERT_TRUE(second) << second.error();
  EXPECT_EQ((*first)->certificate_pem(), (*second)->certificate_pem());
  EXPECT_EQ(mode("deep/issuer/authority.pem"), 0600U);
  EXPECT_EQ(text("deep/issuer/ca.pem"), (*first)->certificate_pem());
  EXPECT_EQ(text("deep/issuer/ca.pem").find("PRIVATE"), std::string::npos);
  EXPECT_EQ((*first)->ends(), after_seconds(kNow, kAuthorityLife_s));

  // What is shown to users follows what is kept.
  std::filesystem::remove(inside + "/ca.pem");
  ASSERT_TRUE(Authority::open(inside, kNow));
  EXPECT_EQ(text("deep/issuer/ca.pem"), (*first)->certificate_pem());
}

TEST_F(AuthorityTest, RefusesWhatItCannotUse) {
  ASSERT_TRUE(Authority::open(directory_, kNow));
  EXPECT_EQ(error_of(after_seconds(kNow, kAuthorityLife_s - 1)), "");
  EXPECT_NE(error_of(after_seconds(kNow, kAuthorityLife_s)).find("past its end"),
            std::string::npos);
  const std::string whole = text("authority.pem");
  const std::string other = Authority::make(kNow)->certificate_pem();
  const size_t certificate = whole.find("-----BEGIN CERTIFICATE");
  for (const std::string& damaged :
       {std::string(), whole.substr(0, certificate), whole.substr(certificate),
        whole.substr(0, certificate) + other}) {
    std::ofstream(directory_ + "/authority.pem", std::ios::trunc) << damaged;
    EXPECT_NE(error_of(kNow).find("authority.pem"), std::string::npos) << damaged;
  }
}

TEST_F(AuthorityTest, SignsForHostsForAWhile) {
  const auto authority = Authority::make(kNow);
  const auto server = authority->issue(certificate_hosts({"box.example", "192.0.2.7"}, {}), kNow);
  EXPECT_EQ(server.ends, after_seconds(kNow, kServerLife_s));
  EXPECT_TRUE(verifies(*authority, server, kNow));
  EXPECT_TRUE(verifies(*authority, server, after_seconds(kNow, -1800)));
  EXPECT_FALSE(verifies(*authority, server, after_seconds(kNow, kServerLife_s + 1)));
  EXPECT_FALSE(verifies(*Authority::make(kNow), server, kNow));
  EXPECT_NE(authority->issue({"a"}, kNow).key_pem, server.key_pem);
  // Nothing outlives the authority.
  const Time late = after_seconds(kNow, kAuthorityLife_s - 100);
  EXPECT_EQ(authority->issue({"a"}, late).ends, authority->ends());

  const Certificate certificate = certificate_from(server.chain_pem);
  const auto is_for = [&](const char* host) {
    return X509_check_host(certificate.get(), host, 0, 0, nullptr) == 1 ||
           X509_check_ip_asc(certificate.get(), host, 0) == 1;
  };
  for (const char* host : {"localhost", "127.0.0.1", "::1", "acme.blob.localhost",
                           "acme.dfs.localhost", "box.example", "192.0.2.7"}) {
    EXPECT_TRUE(is_for(host)) << host;
  }
  for (const char* host : {"example", "other.example", "192.0.2.8", "a.b.blob.localhost"})
    EXPECT_FALSE(is_for(host)) << host;
}

TEST(CertificateHosts, EveryAddressStandsForThoseOfTheMachine) {
  const auto has = [](const std::vector<std::string>& hosts, const std::string& host) {
    return std::count(hosts.begin(), hosts.end(), host);
  };
  const std::vector<std::string> machine = {"box", "192.0.2.7", "127.0.0.1"};
  EXPECT_EQ(has(certificate_hosts({"127.0.0.1"}, machine), "box"), 0);
  for (const char* every : {"0.0.0.0", "::"}) {
    const auto hosts = certificate_hosts({every, "box"}, machine);
    EXPECT_EQ(has(hosts, "192.0.2.7"), 1);
    EXPECT_EQ(has(hosts, "box"), 1);
    EXPECT_EQ(has(hosts, "127.0.0.1"), 1);
    EXPECT_EQ(has(hosts, every), 0);
  }
  // What could not be written into a certificate is left out.
  EXPECT_EQ(certificate_hosts({"a,DNS:b", "", "fe80::1%eth0"}, {}), certificate_hosts({}, {}));
  EXPECT_GE(machine_hosts().size(), 1U);
}

}  // namespace
}  // namespace kyanite::issuer
