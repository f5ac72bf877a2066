#include "server/certificates.h"

#include <gtest/gtest.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>
#include <openssl/ssl.h>
#include <sys/socket.h>

#include <cstring>
#include <filesystem>
#include <fstream>

namespace kyanite::server {
namespace {

const Time kNow = Time::from_unix_seconds(1'800'000'000);

// What a client is shown now: the certificate in DER.
std::string shown_by(const net::TlsContext& context) {
  int pair[2];
  EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair), 0);
  SSL_CTX* trusting = SSL_CTX_new(TLS_client_method());
  SSL* client = SSL_new(trusting);
  SSL_set_fd(client, pair[0]);
  SSL_set_connect_state(client);
  SSL* server = context.open_session(pair[1]);
  for (int i = 0; i < 10; ++i) {
    SSL_do_handshake(client);
    SSL_do_handshake(server);
  }
  X509* certificate = SSL_get1_peer_certificate(client);
  unsigned char* der = nullptr;
  const int length = i2d_X509(certificate, &der);
  EXPECT_GT(length, 0);
  std::string out(reinterpret_cast<char*>(der), static_cast<size_t>(length));
  OPENSSL_free(der);
  X509_free(certificate);
  SSL_free(client);
  SSL_free(server);
  SSL_CTX_free(trusting);
  close(pair[0]);
  close(pair[1]);
  return out;
}

class CertificatesTest : public testing::Test {
 protected:
  CertificatesTest() {
    std::string pattern = testing::TempDir() + "/kyanite-certificates-XXXXXX";
    directory_ = mkdtemp(pattern.data());
    settings_.options.cert_file = directory_ + "/cert.pem";
    settings_.options.key_file = directory_ + "/key.pem";
  }
  ~CertificatesTest() override { std::filesystem::remove_all(directory_); }

  void write(const std::string& path, const std::string& text) {
    std::ofstream(path, std::ios::trunc) << text;
    // A file system's clock may be too coarse to tell two writes in a test apart.
    const auto stamp =
        std::filesystem::file_time_type::clock::now() + std::chrono::hours(++writes_);
    std::filesystem::last_write_time(path, stamp);
  }
  issuer::ServerCertificate fresh() { return authority_->issue({"localhost"}, kNow); }
  void write_both(const issuer::ServerCertificate& made) {
    write(settings_.options.cert_file, made.chain_pem);
    write(settings_.options.key_file, made.key_pem);
  }
  std::string shown() const { return shown_by(*settings_.tls); }

  const std::unique_ptr<const issuer::Authority> authority_ = issuer::Authority::make(kNow);
  std::string directory_;
  Settings settings_;
  int writes_ = 0;
};

TEST_F(CertificatesTest, FilesThatChangedAreReadAgainOnceTheyAreWritten) {
  write_both(fresh());
  settings_.tls = std::move(*load_certificate(settings_.options));
  GivenCertificate given(settings_);
  const std::string first = shown();
  for (int i = 0; i < 3; ++i) given.check();
  EXPECT_EQ(shown(), first);

  write_both(fresh());
  given.check();
  EXPECT_EQ(shown(), first);  // It may still be written.
  given.check();
  const std::string second = shown();
  EXPECT_NE(second, first);

  // A certificate without its key, then with it.
  const auto third = fresh();
  write(settings_.options.cert_file, third.chain_pem);
  for (int i = 0; i < 3; ++i) given.check();
  EXPECT_EQ(shown(), second);
  write(settings_.options.key_file, third.key_pem);
  for (int i = 0; i < 2; ++i) given.check();
  EXPECT_NE(shown(), second);
}

TEST_F(CertificatesTest, WhatIsBrokenOrGoneLeavesTheOldOne) {
  const auto good = fresh();
  write_both(good);
  settings_.tls = std::move(*load_certificate(settings_.options));
  GivenCertificate given(settings_);
  const std::string first = shown();
  write(settings_.options.cert_file, "no certificate");
  for (int i = 0; i < 3; ++i) given.check();
  EXPECT_EQ(shown(), first);
  std::filesystem::remove(settings_.options.cert_file);
  for (int i = 0; i < 3; ++i) given.check();
  EXPECT_EQ(shown(), first);
  write_both(fresh());
  for (int i = 0; i < 2; ++i) given.check();
  EXPECT_NE(shown(), first);
}

// A key in PEM, encrypted when there is a password.
std::string key_pem(EVP_PKEY* key, char* password = nullptr) {
  BIO* out = BIO_new(BIO_s_mem());
  const int length = password == nullptr ? 0 : static_cast<int>(strlen(password));
  EXPECT_EQ(PEM_write_bio_PKCS8PrivateKey(out, key, length > 0 ? EVP_aes_128_cbc() : nullptr,
                                          password, length, nullptr, nullptr),
            1);
  char* bytes = nullptr;
  const auto size = static_cast<size_t>(BIO_get_mem_data(out, &bytes));
  std::string pem(bytes, size);
  BIO_free(out);
  return pem;
}

TEST_F(CertificatesTest, KeysThatCannotServeLeaveTheOldOne) {
  EVP_PKEY* rsa = EVP_RSA_gen(2048);
  const auto next = fresh();  // The authority's certificates are of elliptic curves.
  BIO* in = BIO_new_mem_buf(next.key_pem.data(), static_cast<int>(next.key_pem.size()));
  EVP_PKEY* own = PEM_read_bio_PrivateKey(in, nullptr, nullptr, nullptr);
  BIO_free(in);
  ASSERT_NE(EVP_PKEY_get_base_id(own), EVP_PKEY_get_base_id(rsa));
  char password[] = "secret";
  for (const std::string& key : {key_pem(rsa), key_pem(rsa, password), key_pem(own, password)}) {
    write_both(fresh());
    settings_.tls = std::move(*load_certificate(settings_.options));
    GivenCertificate given(settings_);
    const std::string first = shown();
    write(settings_.options.cert_file, next.chain_pem);
    write(settings_.options.key_file, key);
    for (int i = 0; i < 3; ++i) given.check();
    EXPECT_EQ(shown(), first);
    // Once the key is one that it can use, the certificate is used.
    write(settings_.options.key_file, key_pem(own));
    for (int i = 0; i < 3; ++i) given.check();
    EXPECT_NE(shown(), first);
  }
  EVP_PKEY_free(own);
  EVP_PKEY_free(rsa);
}

TEST_F(CertificatesTest, OwnOnesAreRenewedBeforeTheyEnd) {
  ManualClock clock(kNow);
  settings_.options.cert_file.clear();
  settings_.options.https = true;
  settings_.options.location = directory_;
  auto made = make_certificates(settings_, clock);
  ASSERT_TRUE(made) << made.error();
  Certificates& own = **made;
  const std::string first = shown_by(*own.context());
  clock.advance_seconds(issuer::kServerLife_s - issuer::kRenewBefore_s - 1);
  own.check();
  EXPECT_EQ(shown_by(*own.context()), first);
  clock.advance_seconds(1);
  own.check();
  const std::string second = shown_by(*own.context());
  EXPECT_NE(second, first);
  own.check();
  EXPECT_EQ(shown_by(*own.context()), second);

  // The authority is the same after a restart, and nothing is renewed in vain at its end.
  auto again = make_certificates(settings_, clock);
  ASSERT_TRUE(again);
  EXPECT_EQ((*again)->authority()->certificate_pem(), own.authority()->certificate_pem());
  clock.set(after_seconds(own.authority()->ends(), -10));
  own.check();
  const std::string last = shown_by(*own.context());
  own.check();
  EXPECT_EQ(shown_by(*own.context()), last);
  clock.set(own.authority()->ends());
  EXPECT_FALSE(make_certificates(settings_, clock));
}

TEST_F(CertificatesTest, InMemoryNothingIsKept) {
  ManualClock clock(kNow);
  settings_.options.https = settings_.options.in_memory = true;
  settings_.options.location = directory_;
  ASSERT_TRUE(make_certificates(settings_, clock));
  EXPECT_TRUE(std::filesystem::is_empty(directory_));
  settings_.options.https = false;
  auto plain = make_certificates(settings_, clock);
  ASSERT_TRUE(plain);
  EXPECT_EQ((*plain)->context(), nullptr);
  EXPECT_EQ((*plain)->authority(), nullptr);
}

}  // namespace
}  // namespace kyanite::server
