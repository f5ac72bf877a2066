// The certificate that the listeners show, kept fresh while the server runs: one that was given is
// loaded again when its files change, one of the server's own authority is renewed before it ends.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "issuer/authority.h"
#include "net/tls.h"
#include "server/file_stamp.h"
#include "server/settings.h"

namespace kyanite::server {

class Certificates {
 public:
  virtual ~Certificates() = default;
  // Called every now and then, by one thread. New connections have the fresh certificate; what goes
  // wrong is logged, and the old one stays.
  virtual void check() = 0;
  // Null: plain HTTP.
  virtual net::TlsContext* context() const = 0;
  // Whom clients must trust; null for certificates that were given.
  virtual const issuer::Authority* authority() const { return nullptr; }
};

// Files that the flags name.
class GivenCertificate final : public Certificates {
 public:
  // `settings` outlives it.
  explicit GivenCertificate(const Settings& settings) : settings_(settings) {}

  void check() override;
  net::TlsContext* context() const override { return settings_.tls.get(); }

 private:
  using Stamps = std::array<FileStamp, 2>;  // Of the certificate and its key.

  const Settings& settings_;
  std::optional<Stamps> seen_;
  std::optional<Stamps> tried_;
};

// Signed by an authority of the server's own.
class LocalCertificate final : public Certificates {
 public:
  LocalCertificate(std::unique_ptr<const issuer::Authority> authority,
                   std::vector<std::string> hosts, const Clock& clock);

  void check() override;
  net::TlsContext* context() const override { return context_.get(); }
  const issuer::Authority* authority() const override { return authority_.get(); }

 private:
  std::unique_ptr<net::TlsContext> issue();

  const std::unique_ptr<const issuer::Authority> authority_;
  const std::vector<std::string> hosts_;
  const Clock& clock_;
  Time ends_;
  std::unique_ptr<net::TlsContext> context_;
};

// As the settings want it. The location is the caller's alone by now. The error is a sentence for
// whoever starts the server.
Result<std::unique_ptr<Certificates>, std::string> make_certificates(const Settings& settings,
                                                                     const Clock& clock);

}  // namespace kyanite::server
