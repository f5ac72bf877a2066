#include "net/tls.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/pkcs12.h>
#include <openssl/provider.h>
#include <openssl/ssl.h>

#include <cstdio>
#include <cstring>
#include <new>
#include <utility>

#include "base/freed_by.h"

namespace kyanite::net {

namespace {
void free_chain(STACK_OF(X509) * chain) { sk_X509_pop_free(chain, X509_free); }

using Context = std::unique_ptr<SSL_CTX, FreedBy<SSL_CTX_free>>;
using Certificate = std::unique_ptr<X509, FreedBy<X509_free>>;
using Key = std::unique_ptr<EVP_PKEY, FreedBy<EVP_PKEY_free>>;
using Chain = std::unique_ptr<STACK_OF(X509), FreedBy<free_chain>>;
using Pkcs12 = std::unique_ptr<PKCS12, FreedBy<PKCS12_free>>;
using Bio = std::unique_ptr<BIO, FreedBy<BIO_free>>;

// "what: OpenSSL's first reason", and forgets the rest of its error queue.
Failure<std::string> failure(std::string what) {
  const unsigned long code = ERR_get_error();
  const char* reason = code == 0 ? nullptr : ERR_reason_error_string(code);
  ERR_clear_error();
  if (reason != nullptr) what.append(": ").append(reason);
  return Failure<std::string>{std::move(what)};
}

// HTTP/2 is not spoken here; a client that offers only that is served HTTP/1.1 as if it had offered
// nothing.
int choose_protocol(SSL*, const unsigned char** chosen, unsigned char* chosen_length,
                    const unsigned char* offered, unsigned offered_length, void*) {
  static constexpr unsigned char kHttp11[] = "\x08http/1.1";
  unsigned char* match = nullptr;
  const int found = SSL_select_next_proto(&match, chosen_length, kHttp11, sizeof kHttp11 - 1,
                                          offered, offered_length);
  if (found != OPENSSL_NPN_NEGOTIATED) return SSL_TLSEXT_ERR_NOACK;
  *chosen = match;
  return SSL_TLSEXT_ERR_OK;
}

// Nobody is asked on a terminal: an encrypted key cannot be used. Notes that it was wanted.
int no_password(char*, int, int, void* wanted) {
  if (wanted != nullptr) *static_cast<bool*>(wanted) = true;
  return -1;
}

Failure<std::string> unusable_key(const std::string& which, bool password_wanted) {
  if (!password_wanted) return failure("cannot use " + which);
  ERR_clear_error();
  return Failure<std::string>{
      which +
      " is encrypted: give it without a password, or with its certificate in one PKCS#12 "
      "file"};
}

// Each of the two is taken for itself where they are of different kinds.
bool belong_together(const Context& context) {
  const bool belong = SSL_CTX_check_private_key(context.get()) == 1;
  ERR_clear_error();
  return belong;
}

Context new_context(const SSL_METHOD* method) {
  Context context(SSL_CTX_new(method));
  if (!context) throw std::bad_alloc();
  SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION);
  // Writes are repeated from where they stopped, and idle connections keep no record buffers.
  SSL_CTX_set_mode(context.get(), SSL_MODE_ENABLE_PARTIAL_WRITE |
                                      SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                                      SSL_MODE_RELEASE_BUFFERS);
  SSL_CTX_set_read_ahead(context.get(), 1);  // One receive for a record instead of two.
  SSL_CTX_set_default_passwd_cb(context.get(), no_password);
  return context;
}

Context new_server_context() {
  Context context = new_context(TLS_server_method());
  SSL_CTX_set_options(context.get(), SSL_OP_NO_RENEGOTIATION | SSL_OP_CIPHER_SERVER_PREFERENCE);
  SSL_CTX_set_alpn_select_cb(context.get(), choose_protocol, nullptr);
  return context;
}

// Certificates exported by old software are encrypted with ciphers that OpenSSL 3 keeps in its
// legacy provider.
bool parse_pfx(PKCS12* pfx, const char* password, Key& key, Certificate& certificate,
               Chain& chain) {
  for (const bool with_legacy : {false, true}) {
    if (with_legacy && OSSL_PROVIDER_try_load(nullptr, "legacy", 1) == nullptr) return false;
    EVP_PKEY* key_out = nullptr;
    X509* certificate_out = nullptr;
    STACK_OF(X509)* chain_out = nullptr;
    const bool parsed = PKCS12_parse(pfx, password, &key_out, &certificate_out, &chain_out) == 1;
    key.reset(key_out);
    certificate.reset(certificate_out);
    chain.reset(chain_out);
    if (parsed) return key && certificate;
    const unsigned long code = ERR_peek_last_error();
    if (ERR_GET_LIB(code) == ERR_LIB_PKCS12 &&
        ERR_GET_REASON(code) == PKCS12_R_MAC_VERIFY_FAILURE) {
      return false;  // The password is wrong.
    }
  }
  return false;
}
}  // namespace

TlsContext::Loaded TlsContext::from_pem_files(const std::string& certificate_path,
                                              const std::string& key_path) {
  Context context = new_server_context();
  ERR_clear_error();
  if (SSL_CTX_use_certificate_chain_file(context.get(), certificate_path.c_str()) != 1) {
    return failure("cannot use certificate " + certificate_path);
  }
  bool password_wanted = false;
  SSL_CTX_set_default_passwd_cb_userdata(context.get(), &password_wanted);
  if (SSL_CTX_use_PrivateKey_file(context.get(), key_path.c_str(), SSL_FILETYPE_PEM) != 1)
    return unusable_key("private key " + key_path, password_wanted);
  SSL_CTX_set_default_passwd_cb_userdata(context.get(), nullptr);
  if (!belong_together(context))
    return Failure{key_path + " is not the key of certificate " + certificate_path};
  return std::unique_ptr<TlsContext>(new TlsContext(context.release()));
}

TlsContext::Loaded TlsContext::from_pem_text(const std::string& chain, const std::string& key) {
  Context context = new_server_context();
  ERR_clear_error();
  const Bio chain_text(BIO_new_mem_buf(chain.data(), static_cast<int>(chain.size())));
  const Bio key_text(BIO_new_mem_buf(key.data(), static_cast<int>(key.size())));
  if (!chain_text || !key_text) throw std::bad_alloc();
  const Certificate certificate(PEM_read_bio_X509(chain_text.get(), nullptr, nullptr, nullptr));
  if (!certificate || SSL_CTX_use_certificate(context.get(), certificate.get()) != 1)
    return failure("cannot use the certificate");
  while (const Certificate next{PEM_read_bio_X509(chain_text.get(), nullptr, nullptr, nullptr)}) {
    if (SSL_CTX_add1_chain_cert(context.get(), next.get()) != 1) return failure("bad chain");
  }
  ERR_clear_error();  // The end of the chain counts as one.
  bool password_wanted = false;
  const Key private_key(
      PEM_read_bio_PrivateKey(key_text.get(), nullptr, no_password, &password_wanted));
  if (!private_key || SSL_CTX_use_PrivateKey(context.get(), private_key.get()) != 1)
    return unusable_key("the private key", password_wanted);
  if (!belong_together(context)) return Failure{std::string("the key is not the certificate's")};
  return std::unique_ptr<TlsContext>(new TlsContext(context.release()));
}

TlsContext::Loaded TlsContext::from_pfx_file(const std::string& path, const std::string& password) {
  Context context = new_server_context();
  ERR_clear_error();
  Bio file(BIO_new_file(path.c_str(), "rb"));
  if (!file) return failure("cannot open certificate " + path);
  Pkcs12 pfx(d2i_PKCS12_bio(file.get(), nullptr));
  if (!pfx) return failure("not a PKCS#12 file: " + path);
  Key key;
  Certificate certificate;
  Chain chain;
  if (!parse_pfx(pfx.get(), password.c_str(), key, certificate, chain)) {
    return failure("cannot decrypt certificate " + path);
  }
  if (SSL_CTX_use_cert_and_key(context.get(), certificate.get(), key.get(), chain.get(), 1) != 1) {
    return failure("cannot use certificate " + path);
  }
  return std::unique_ptr<TlsContext>(new TlsContext(context.release()));
}

TlsContext::Loaded TlsContext::for_clients(const std::string& ca_path) {
  Context context = new_context(TLS_client_method());
  ERR_clear_error();
  SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, nullptr);
  if (ca_path.empty()) {
    // A machine without any trusted certificate can still fetch over plain HTTP.
    SSL_CTX_set_default_verify_paths(context.get());
    ERR_clear_error();
  } else if (SSL_CTX_load_verify_file(context.get(), ca_path.c_str()) != 1) {
    return failure("cannot use the certificates in " + ca_path);
  }
  return std::unique_ptr<TlsContext>(new TlsContext(context.release()));
}

TlsContext::~TlsContext() {
  MutexLock lock(mutex_);
  SSL_CTX_free(context_);
}

void TlsContext::replace_with(std::unique_ptr<TlsContext> fresh) {
  MutexLock theirs(fresh->mutex_);
  MutexLock ours(mutex_);
  std::swap(context_, fresh->context_);
}

Time TlsContext::certificate_ends() const {
  MutexLock lock(mutex_);
  const X509* certificate = SSL_CTX_get0_certificate(context_);
  tm parts{};
  if (certificate == nullptr || ASN1_TIME_to_tm(X509_get0_notAfter(certificate), &parts) != 1)
    return {};
  return Time::from_unix_seconds(timegm(&parts));
}

// A session keeps its own reference, so that the context may be replaced while it lasts.
ssl_st* TlsContext::new_session(int socket) const {
  SSL* session = nullptr;
  {
    MutexLock lock(mutex_);
    session = SSL_new(context_);
  }
  if (session == nullptr || SSL_set_fd(session, socket) != 1) {
    SSL_free(session);
    throw std::bad_alloc();
  }
  return session;
}

ssl_st* TlsContext::open_session(int socket) const {
  SSL* session = new_session(socket);
  SSL_set_accept_state(session);
  return session;
}

ssl_st* TlsContext::open_client_session(int socket, const std::string& host) const {
  SSL* session = new_session(socket);
  const bool is_address = X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(session), host.c_str()) == 1;
  const bool named = is_address || (SSL_set1_host(session, host.c_str()) == 1 &&
                                    SSL_set_tlsext_host_name(session, host.c_str()) == 1);
  ERR_clear_error();
  if (!named) {
    SSL_free(session);
    throw std::bad_alloc();
  }
  SSL_set_connect_state(session);
  return session;
}

}  // namespace kyanite::net
