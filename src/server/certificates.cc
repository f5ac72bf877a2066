#include "server/certificates.h"

#include "base/log.h"
#include "issuer/keep.h"

namespace kyanite::server {

namespace {

// An authority that ends soon is said to, so that clients can be told to trust another in time.
constexpr int64_t kAuthorityNotice_s = 180 * issuer::kDay_s;

std::vector<std::string> hosts_of(const Options& options) {
  std::vector<std::string> given = options.https_hosts;
  for (const ListenOptions& where : options.listen) given.push_back(where.host);
  return issuer::certificate_hosts(given, issuer::machine_hosts());
}

}  // namespace

void GivenCertificate::check() {
  if (settings_.tls == nullptr) return;
  const Options& options = settings_.options;
  const Stamps now = {FileStamp::of(options.cert_file), FileStamp::of(options.key_file)};
  const bool settled = seen_ == now;
  seen_ = now;
  // Files that changed since the last time may still be half written, or one of the two.
  if (!settled || tried_ == now) return;
  const bool first = !tried_;
  tried_ = now;
  auto loaded = load_certificate(options);
  if (!loaded) {
    log_error("the certificate of before stays in use: " + loaded.error());
    return;
  }
  settings_.tls->replace_with(std::move(*loaded));
  if (!first) log_info("new connections have the new certificate " + options.cert_file);
}

LocalCertificate::LocalCertificate(std::unique_ptr<const issuer::Authority> authority,
                                   std::vector<std::string> hosts, const Clock& clock)
    : authority_(std::move(authority)), hosts_(std::move(hosts)), clock_(clock), context_(issue()) {
  if (authority_->ends() < after_seconds(clock_.now(), kAuthorityNotice_s)) {
    log_warning(
        "the local certificate authority ends within half a year: without its files a new one is "
        "made, which clients must trust again");
  }
}

std::unique_ptr<net::TlsContext> LocalCertificate::issue() {
  const issuer::ServerCertificate made = authority_->issue(hosts_, clock_.now());
  ends_ = made.ends;
  auto loaded = net::TlsContext::from_pem_text(made.chain_pem, made.key_pem);
  CHECK(loaded);
  return std::move(*loaded);
}

void LocalCertificate::check() {
  if (after_seconds(clock_.now(), issuer::kRenewBefore_s) < ends_) return;
  if (authority_->ends() <= ends_) return;  // None would last longer.
  context_->replace_with(issue());
  log_info("new connections have a new certificate of the local authority");
}

Result<std::unique_ptr<Certificates>, std::string> make_certificates(const Settings& settings,
                                                                     const Clock& clock) {
  const Options& options = settings.options;
  using Made = std::unique_ptr<Certificates>;
  if (!options.https) return Made(new GivenCertificate(settings));
  std::unique_ptr<const issuer::Authority> authority;
  if (options.in_memory) {
    authority = issuer::Authority::make(clock.now());
  } else {
    auto opened = issuer::Authority::open(issuer::folder_in(options.location), clock.now());
    if (!opened) return Failure{opened.error()};
    authority = std::move(*opened);
  }
  return Made(new LocalCertificate(std::move(authority), hosts_of(options), clock));
}

}  // namespace kyanite::server
