// Owners of OpenSSL's objects, and PEM as text. Private to issuer/.
#pragma once

#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <memory>
#include <string>

#include "base/check.h"
#include "base/freed_by.h"

namespace kyanite::issuer {

using Certificate = std::unique_ptr<X509, FreedBy<X509_free>>;
using PrivateKey = std::unique_ptr<EVP_PKEY, FreedBy<EVP_PKEY_free>>;
using Bio = std::unique_ptr<BIO, FreedBy<BIO_free>>;
using Number = std::unique_ptr<BIGNUM, FreedBy<BN_free>>;
using Extension = std::unique_ptr<X509_EXTENSION, FreedBy<X509_EXTENSION_free>>;

inline Bio read_text(const std::string& text) {
  Bio bio(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
  CHECK(bio);
  return bio;
}

inline std::string text_of(BIO* bio) {
  char* bytes = nullptr;
  const auto length = BIO_get_mem_data(bio, &bytes);
  return {bytes, static_cast<size_t>(length)};
}

inline std::string pem_of(X509* certificate) {
  const Bio bio(BIO_new(BIO_s_mem()));
  CHECK(bio && PEM_write_bio_X509(bio.get(), certificate) == 1);
  return text_of(bio.get());
}

inline std::string pem_of(EVP_PKEY* key) {
  const Bio bio(BIO_new(BIO_s_mem()));
  CHECK(bio &&
        PEM_write_bio_PKCS8PrivateKey(bio.get(), key, nullptr, nullptr, 0, nullptr, nullptr) == 1);
  return text_of(bio.get());
}

// Null when there is none in the text.
inline PrivateKey key_from(const std::string& pem) {
  return PrivateKey(PEM_read_bio_PrivateKey(read_text(pem).get(), nullptr, nullptr, nullptr));
}
inline Certificate certificate_from(const std::string& pem) {
  return Certificate(PEM_read_bio_X509(read_text(pem).get(), nullptr, nullptr, nullptr));
}

}  // namespace kyanite::issuer
