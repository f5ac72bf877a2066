#include "server/root_certificates.h"

#include <openssl/x509.h>
#include <unistd.h>

#include <cstdlib>

namespace kyanite::server {

namespace {

constexpr const char* kElsewhere[] = {
    "/etc/ssl/certs/ca-certificates.crt",                 // Debian, Arch, Alpine
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",  // Fedora and its kin
    "/etc/ssl/ca-bundle.pem",                             // SUSE
    "/etc/ssl/cert.pem",
};

bool is_there(const char* path) { return access(path, R_OK) == 0; }

}  // namespace

void find_root_certificates() {
  if (std::getenv(X509_get_default_cert_file_env()) != nullptr ||
      std::getenv(X509_get_default_cert_dir_env()) != nullptr) {
    return;
  }
  if (is_there(X509_get_default_cert_file()) || is_there(X509_get_default_cert_dir())) return;
  for (const char* path : kElsewhere) {
    if (!is_there(path)) continue;
    setenv(X509_get_default_cert_file_env(), path, 0);
    return;
  }
}

}  // namespace kyanite::server
