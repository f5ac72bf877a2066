// Where this system has the certificates of the authorities that it trusts. The OpenSSL in the one
// binary looks where Debian has them; other systems have them elsewhere.
#pragma once

namespace kyanite::server {

// Before any thread runs and any TLS context is made. SSL_CERT_FILE and SSL_CERT_DIR in the
// environment have the last word.
void find_root_certificates();

}  // namespace kyanite::server
