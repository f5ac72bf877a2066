// A certificate authority of this server's own, for HTTPS where nobody else gives certificates:
// made once, trusted by the user once, and it signs what the server shows to clients.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"

namespace kyanite::issuer {

inline constexpr int64_t kDay_s = 24 * 60 * 60;
inline constexpr int64_t kAuthorityLife_s = 10 * 365 * kDay_s;
inline constexpr int64_t kServerLife_s = 90 * kDay_s;
// A server's certificate is replaced when less than this is left of it.
inline constexpr int64_t kRenewBefore_s = 30 * kDay_s;

// What a server shows to its clients. `ends` is never later than the authority's own end.
struct ServerCertificate {
  std::string chain_pem;
  std::string key_pem;
  Time ends;
};

// Thread-safe.
class Authority {
 public:
  using Opened = Result<std::unique_ptr<const Authority>, std::string>;

  // The one kept in the directory, or a new one: authority.pem with the key, for its owner alone,
  // and ca.pem with the certificate. The error is a sentence for whoever starts the server: the
  // files are unusable, or the authority is past its end.
  static Opened open(const std::string& directory, Time now);
  // One that is kept nowhere.
  static std::unique_ptr<const Authority> make(Time now);

  ~Authority();

  // What clients must trust.
  const std::string& certificate_pem() const { return certificate_pem_; }
  Time ends() const { return ends_; }
  // A new key, and a certificate for the hosts: names, with "*." for any first label, and numeric
  // addresses.
  ServerCertificate issue(const std::vector<std::string>& hosts, Time now) const;

 private:
  struct Pair;
  explicit Authority(std::unique_ptr<Pair> pair);

  std::unique_ptr<Pair> pair_;
  std::string certificate_pem_;
  Time ends_;
};

// A name, perhaps with a star, or a numeric address, by its characters.
bool is_certificate_host(std::string_view host);

// The hosts of a server's certificate: loopback by its names and addresses, names below localhost
// that carry an account ("acme.blob.localhost"), and those given. An address that means every
// address stands for all of this machine's, `machine`.
std::vector<std::string> certificate_hosts(const std::vector<std::string>& given,
                                           const std::vector<std::string>& machine);

// This machine's name and the addresses of its interfaces.
std::vector<std::string> machine_hosts();

}  // namespace kyanite::issuer
