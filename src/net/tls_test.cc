#include "net/tls.h"

#include <gtest/gtest.h>
#include <openssl/pem.h>
#include <openssl/pkcs12.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "net/client.h"
#include "net/test_peer.h"

namespace kyanite::net {
namespace {

struct Free {
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
  void operator()(X509* certificate) const { X509_free(certificate); }
  void operator()(PKCS12* pfx) const { PKCS12_free(pfx); }
  void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
  void operator()(FILE* file) const { fclose(file); }
};
template <class T>
using Owned = std::unique_ptr<T, Free>;

// A key and a self-signed certificate in files of a directory of their own.
class TlsTest : public ::testing::Test {
 protected:
  TlsTest() {
    char name[] = "/tmp/kyanite-tls-XXXXXX";
    directory_ = mkdtemp(name);
    key_.reset(EVP_EC_gen("P-256"));
    certificate_.reset(X509_new());
    ASN1_INTEGER_set(X509_get_serialNumber(certificate_.get()), 1);
    X509_gmtime_adj(X509_getm_notBefore(certificate_.get()), -60);
    X509_gmtime_adj(X509_getm_notAfter(certificate_.get()), 3600);
    X509_set_pubkey(certificate_.get(), key_.get());
    X509_NAME* subject = X509_get_subject_name(certificate_.get());
    X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC,
                               reinterpret_cast<const unsigned char*>("localhost"), -1, -1, 0);
    X509_set_issuer_name(certificate_.get(), subject);
    X509_sign(certificate_.get(), key_.get(), EVP_sha256());

    PEM_write_X509(open("certificate.pem").get(), certificate_.get());
    PEM_write_PrivateKey(open("key.pem").get(), key_.get(), nullptr, nullptr, 0, nullptr, nullptr);
    Owned<PKCS12> pfx(
        PKCS12_create("secret", "kyanite", key_.get(), certificate_.get(), nullptr, 0, 0, 0, 0, 0));
    i2d_PKCS12_fp(open("both.pfx").get(), pfx.get());

    client_.reset(SSL_CTX_new(TLS_client_method()));
    SSL_CTX_set_verify(client_.get(), SSL_VERIFY_PEER, nullptr);
    X509_STORE_add_cert(SSL_CTX_get_cert_store(client_.get()), certificate_.get());
  }
  ~TlsTest() override { std::filesystem::remove_all(directory_); }

  std::string path(const std::string& name) const { return directory_ + "/" + name; }
  Owned<FILE> open(const std::string& name) const {
    return Owned<FILE>(fopen(path(name).c_str(), "wb"));
  }
  std::unique_ptr<TlsContext> server_context() {
    auto loaded = TlsContext::from_pem_files(path("certificate.pem"), path("key.pem"));
    EXPECT_TRUE(loaded.ok());
    return std::move(*loaded);
  }

  std::string directory_;
  Owned<EVP_PKEY> key_;
  Owned<X509> certificate_;
  Owned<SSL_CTX> client_;
};

TEST_F(TlsTest, ServesWithCertificatesFromPemAndPfx) {
  auto from_pfx = TlsContext::from_pfx_file(path("both.pfx"), "secret");
  ASSERT_TRUE(from_pfx.ok()) << from_pfx.error();
  auto from_pem = server_context();
  for (const TlsContext* context : {from_pem.get(), from_pfx->get()}) {
    TestServer server(TestServer::one_thread(), context);
    TestPeer peer(server.port, client_.get());
    ASSERT_TRUE(peer.connected());
    ASSERT_TRUE(peer.send(get("/headers") + get("/pipelined")));
    EXPECT_EQ(peer.answer().body, "127.0.0.1 secure");
    EXPECT_EQ(peer.answer().body, "pipelined");
  }
}

// The serial number of the certificate that the peer was shown.
int64_t serial_shown(const TestPeer& peer) {
  const Owned<X509> shown(SSL_get1_peer_certificate(peer.session()));
  return shown ? ASN1_INTEGER_get(X509_get_serialNumber(shown.get())) : -1;
}

TEST_F(TlsTest, ReplacedCertificatesAreForNewConnections) {
  auto context = server_context();
  TestServer server(TestServer::one_thread(), context.get());
  TestPeer before(server.port, client_.get());
  ASSERT_TRUE(before.connected());
  const Owned<X509> renewed(X509_dup(certificate_.get()));
  ASN1_INTEGER_set(X509_get_serialNumber(renewed.get()), 2);
  X509_sign(renewed.get(), key_.get(), EVP_sha256());
  PEM_write_X509(open("certificate.pem").get(), renewed.get());
  client_.reset(SSL_CTX_new(TLS_client_method()));
  SSL_CTX_set_verify(client_.get(), SSL_VERIFY_PEER, nullptr);
  X509_STORE_add_cert(SSL_CTX_get_cert_store(client_.get()), renewed.get());
  context->replace_with(server_context());

  TestPeer after(server.port, client_.get());
  ASSERT_TRUE(after.connected());
  EXPECT_EQ(serial_shown(before), 1);
  const int64_t left = context->certificate_ends().unix_seconds() - time(nullptr);
  EXPECT_GT(left, 3000);
  EXPECT_LE(left, 3600);
  EXPECT_EQ(serial_shown(after), 2);
  for (TestPeer* peer : {&before, &after}) {
    ASSERT_TRUE(peer->send(get("/headers")));
    EXPECT_EQ(peer->answer().body, "127.0.0.1 secure");
  }
}

TEST_F(TlsTest, ReportsBadFiles) {
  const auto failure = [](TlsContext::Loaded loaded) { return loaded ? "" : loaded.error(); };
  const std::string certificate = path("certificate.pem");
  EXPECT_NE(
      failure(TlsContext::from_pem_files("/no/such.pem", path("key.pem"))).find("/no/such.pem"),
      std::string::npos);
  EXPECT_NE(failure(TlsContext::from_pem_files(certificate, certificate)).find("private key"),
            std::string::npos);
  EXPECT_NE(failure(TlsContext::from_pfx_file("/no/such.pfx", "")).find("/no/such.pfx"),
            std::string::npos);
  EXPECT_NE(failure(TlsContext::from_pfx_file(certificate, "")).find("PKCS#12"), std::string::npos);
  EXPECT_NE(failure(TlsContext::from_pfx_file(path("both.pfx"), "wrong")).find("decrypt"),
            std::string::npos);
  Owned<EVP_PKEY> other(EVP_EC_gen("P-256"));
  PEM_write_PrivateKey(open("other.pem").get(), other.get(), nullptr, nullptr, 0, nullptr, nullptr);
  EXPECT_NE(failure(TlsContext::from_pem_files(certificate, path("other.pem"))).find("other.pem"),
            std::string::npos);
}

TEST_F(TlsTest, KeysThatCannotServeAreRefusedByASentence) {
  const Owned<EVP_PKEY> rsa(EVP_RSA_gen(2048));
  // In both forms that there are.
  const auto write = [&](const std::string& name, EVP_PKEY* key, bool encrypted) {
    char password[] = "secret";
    const EVP_CIPHER* cipher = encrypted ? EVP_aes_128_cbc() : nullptr;
    const int length = encrypted ? 6 : 0;
    PEM_write_PKCS8PrivateKey(open(name).get(), key, cipher, password, length, nullptr, nullptr);
    BIO* older = BIO_new_file(path(name + ".traditional").c_str(), "wb");
    PEM_write_bio_PrivateKey_traditional(
        older, key, cipher, reinterpret_cast<unsigned char*>(password), length, nullptr, nullptr);
    BIO_free(older);
  };
  write("rsa", rsa.get(), false);
  write("rsa-encrypted", rsa.get(), true);
  write("own-encrypted", key_.get(), true);
  const std::string certificate = path("certificate.pem");
  const std::string of_another = " is not the key of certificate " + certificate;
  const std::string encrypted =
      " is encrypted: give it without a password, or with its certificate in one PKCS#12 file";
  const std::pair<std::string, std::string> cases[] = {
      {"rsa", of_another}, {"rsa-encrypted", encrypted}, {"own-encrypted", encrypted}};
  for (const auto& [name, why] : cases) {
    for (const std::string& file : {path(name), path(name + ".traditional")}) {
      const auto loaded = TlsContext::from_pem_files(certificate, file);
      ASSERT_FALSE(loaded) << file;
      EXPECT_EQ(loaded.error(), (why == encrypted ? "private key " : "") + file + why);
      std::ifstream key(file);
      std::ifstream chain(certificate);
      const auto text = [](std::ifstream& from) {
        return std::string(std::istreambuf_iterator<char>(from), {});
      };
      EXPECT_FALSE(TlsContext::from_pem_text(text(chain), text(key))) << file;
    }
  }
}

TEST_F(TlsTest, MovesLargeBodiesAndFiles) {
  auto context = server_context();
  TestServer server(TestServer::one_thread(), context.get());
  TestPeer peer(server.port, client_.get());
  constexpr size_t kBytes = 20'000'000;
  for (const std::string path_and_size : {"/counted/20000000", "/stream/20000000"}) {
    ASSERT_TRUE(peer.send(get(path_and_size)));
    const Answer answer = peer.answer();
    EXPECT_EQ(answer.body.size(), kBytes);
    EXPECT_TRUE(matches_pattern(answer.body, 0));
  }
  ASSERT_TRUE(peer.send(get("/file")));
  EXPECT_TRUE(peer.answer().body == pattern());
  std::string body;
  while (body.size() < kBytes) body += pattern();
  ASSERT_TRUE(peer.send(put("/count", body)));
  EXPECT_EQ(peer.answer().body, std::to_string(body.size()) + " intact");
}

TEST_F(TlsTest, EndsInOrderAfterTheLastReplyAndBreaksAfterAFailure) {
  auto context = server_context();
  TestServer server(TestServer::one_thread(), context.get());
  TestPeer peer(server.port, client_.get());
  ASSERT_TRUE(peer.send(get("/bye", "Connection: close\r\n")));
  EXPECT_EQ(peer.answer().body, "bye");
  char byte;
  const ssize_t end = peer.receive(&byte, 1);
  EXPECT_EQ(SSL_get_error(peer.session(), static_cast<int>(end)), SSL_ERROR_ZERO_RETURN);

  TestPeer unlucky(server.port, client_.get());
  ASSERT_TRUE(unlucky.send("GET /failing/1000 HTTP/1.0\r\n\r\n"));
  char block[16 * 1024];
  ssize_t got;
  while ((got = unlucky.receive(block, sizeof block)) > 0) continue;
  EXPECT_NE(SSL_get_error(unlucky.session(), static_cast<int>(got)), SSL_ERROR_ZERO_RETURN);
}

TEST_F(TlsTest, NegotiatesHttp11AndNothingOld) {
  auto context = server_context();
  TestServer server(TestServer::one_thread(), context.get());
  const std::string offer = std::string("\x02h2") + "\x08http/1.1";
  SSL_CTX_set_alpn_protos(client_.get(), reinterpret_cast<const unsigned char*>(offer.data()),
                          static_cast<unsigned>(offer.size()));
  TestPeer peer(server.port, client_.get());
  ASSERT_TRUE(peer.connected());
  const unsigned char* chosen = nullptr;
  unsigned length = 0;
  SSL_get0_alpn_selected(peer.session(), &chosen, &length);
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(chosen), length), "http/1.1");

  SSL_CTX_set_max_proto_version(client_.get(), TLS1_1_VERSION);
  EXPECT_FALSE(TestPeer(server.port, client_.get()).connected());
}

TEST_F(TlsTest, ClientsReadFromThoseTheyTrust) {
  auto context = server_context();
  TestServer server(TestServer::one_thread(), context.get());
  const auto fetch = [&](const std::string& host, const std::string& ca_file) {
    ClientOptions options;
    options.allow_private = true;
    options.ca_file = ca_file;
    auto client = Client::create(options);
    EXPECT_TRUE(client.ok());
    const auto url =
        http::parse_url("https://" + host + ":" + std::to_string(server.port) + "/headers");
    auto fetched = RunLoop::run((*client)->get(*url, {}, {}, "account"));
    if (!fetched) return "error " + std::to_string(fetched.error().kind);
    auto body = RunLoop::run((*fetched)->next());
    return body ? std::string(body->view()) : std::string("no body");
  };
  const std::string refused = "error " + std::to_string(http::FetchError::kUnreachable);
  EXPECT_EQ(fetch("localhost", path("certificate.pem")), "127.0.0.1 secure");
  EXPECT_EQ(fetch("127.0.0.1", path("certificate.pem")), refused);  // It is not for this name.
  EXPECT_EQ(fetch("localhost", ""), refused);                       // Nobody vouches for it.
  EXPECT_FALSE(Client::create({.ca_file = "/no/such.pem"}).ok());
}

TEST_F(TlsTest, EndsConnectionsThatDoNotShakeHands) {
  auto context = server_context();
  Options options = TestServer::one_thread();
  options.timeouts.handshake = std::chrono::milliseconds(100);
  TestServer server(options, context.get());
  TestPeer silent(server.port);
  EXPECT_TRUE(silent.gone());
  EXPECT_TRUE(eventually([&] {
    const Metrics metrics = server.server.metrics();
    return metrics.connections_accepted == 1 && metrics.connections_open == 0;
  }));
  EXPECT_EQ(server.server.metrics().requests, 0u);
}

// OpenSSL knows only some methods of HTTP by name.
TEST_F(TlsTest, PlainRequestsAreToldWhatThisPortSpeaks) {
  auto context = server_context();
  TestServer server(TestServer::one_thread(), context.get());
  const std::string body(100'000, 'x');
  const std::string requests[] = {
      get("/plain"), put("/plain", body), "DELETE /plain HTTP/1.1\r\nHost: a\r\n\r\n",
      "PATCH /plain HTTP/1.1\r\nHost: a\r\n\r\n", "CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n"};
  for (const std::string& request : requests) {
    TestPeer peer(server.port);
    ASSERT_TRUE(peer.send(request));
    const auto answer = peer.answer();
    EXPECT_EQ(answer.status, 400) << request.substr(0, 10);
    EXPECT_NE(answer.body.find("HTTPS"), std::string::npos) << answer.body;
    EXPECT_TRUE(peer.gone());
  }
  EXPECT_EQ(server.server.metrics().requests, 0u);
}

}  // namespace
}  // namespace kyanite::net
