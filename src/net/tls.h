// TLS settings of a listener: a certificate with its key; or of a client: whom it trusts. TLS 1.2
// or newer. Shared by all connections; thread-safe.
#pragma once

#include <memory>
#include <string>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/result.h"

struct ssl_ctx_st;  // SSL_CTX
struct ssl_st;      // SSL

namespace kyanite::net {

class TlsContext {
 public:
  using Loaded = Result<std::unique_ptr<TlsContext>, std::string>;

  // Both files are PEM; the certificate file may carry the chain behind it.
  static Loaded from_pem_files(const std::string& certificate_path, const std::string& key_path);
  // The same from memory.
  static Loaded from_pem_text(const std::string& chain, const std::string& key);
  // PKCS#12, as .NET and Windows export it.
  static Loaded from_pfx_file(const std::string& path, const std::string& password);

  // For connections made from here. Trusts the certificates in the PEM file, or those that the
  // system trusts when none is named.
  static Loaded for_clients(const std::string& ca_path);

  ~TlsContext();
  TlsContext(const TlsContext&) = delete;
  TlsContext& operator=(const TlsContext&) = delete;

  // Sessions opened from now on have the certificate of `fresh`. Those that are open keep theirs.
  void replace_with(std::unique_ptr<TlsContext> fresh);

  // The end of the certificate that new sessions show; not set for a client's.
  Time certificate_ends() const;

  // A server-side session on a non-blocking socket, owned by the caller. Throws std::bad_alloc.
  ssl_st* open_session(int socket) const;
  // A client-side session that accepts only a certificate for this host, a name or an address.
  ssl_st* open_client_session(int socket, const std::string& host) const;

 private:
  explicit TlsContext(ssl_ctx_st* context) : context_(context) {}

  ssl_st* new_session(int socket) const;

  mutable Mutex mutex_;
  ssl_ctx_st* context_ GUARDED_BY(mutex_);
};

}  // namespace kyanite::net
