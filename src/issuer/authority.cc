#include "issuer/authority.h"

#include <openssl/err.h>

#include "issuer/keep.h"
#include "issuer/openssl.h"
#include "os/directory.h"

namespace kyanite::issuer {

namespace {

constexpr const char* kSecretFile = "authority.pem";
constexpr const char* kCertificateFile = "ca.pem";
// Clocks of clients differ.
constexpr int64_t kBackdate_s = 60 * 60;

void set_name(X509_NAME* name, const char* part, const std::string& value) {
  const auto* bytes = reinterpret_cast<const unsigned char*>(value.data());
  CHECK(X509_NAME_add_entry_by_txt(name, part, MBSTRING_UTF8, bytes, static_cast<int>(value.size()),
                                   -1, 0) == 1);
}

void add_extension(X509* certificate, X509* by, int kind, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, by, certificate, nullptr, nullptr, 0);
  const Extension extension(X509V3_EXT_conf_nid(nullptr, &context, kind, value.c_str()));
  CHECK(extension && X509_add_ext(certificate, extension.get(), -1) == 1);
}

void set_serial(X509* certificate) {
  const Number number(BN_new());
  CHECK(number && BN_rand(number.get(), 127, BN_RAND_TOP_ANY, BN_RAND_BOTTOM_ANY) == 1);
  CHECK(BN_to_ASN1_INTEGER(number.get(), X509_get_serialNumber(certificate)) != nullptr);
}

void set_time(ASN1_TIME* to, Time time) {
  CHECK(ASN1_TIME_set(to, static_cast<time_t>(time.unix_seconds())) != nullptr);
}

Time time_of(const ASN1_TIME* from) {
  tm parts{};
  CHECK(ASN1_TIME_to_tm(from, &parts) == 1);
  return Time::from_unix_seconds(timegm(&parts));
}

// Version 3, random serial, valid from a little before `now`; without names and extensions.
Certificate blank_certificate(EVP_PKEY* key, Time now, Time ends) {
  Certificate certificate(X509_new());
  CHECK(certificate && X509_set_version(certificate.get(), 2) == 1);
  set_serial(certificate.get());
  set_time(X509_getm_notBefore(certificate.get()), after_seconds(now, -kBackdate_s));
  set_time(X509_getm_notAfter(certificate.get()), ends);
  CHECK(X509_set_pubkey(certificate.get(), key) == 1);
  return certificate;
}

// "DNS:localhost,IP:127.0.0.1"
std::string alternative_names(const std::vector<std::string>& hosts) {
  std::string text;
  for (const std::string& host : hosts) {
    if (!text.empty()) text += ',';
    ASN1_OCTET_STRING* address = a2i_IPADDRESS(host.c_str());
    text.append(address != nullptr ? "IP:" : "DNS:").append(host);
    ASN1_OCTET_STRING_free(address);
  }
  ERR_clear_error();
  return text;
}

}  // namespace

struct Authority::Pair {
  PrivateKey key;
  Certificate certificate;

  static std::unique_ptr<Pair> make(Time now);
  static std::unique_ptr<Pair> parse(const std::string& pem);
};

std::unique_ptr<Authority::Pair> Authority::Pair::make(Time now) {
  auto pair = std::make_unique<Pair>();
  pair->key.reset(EVP_EC_gen("P-256"));
  CHECK(pair->key);
  pair->certificate = blank_certificate(pair->key.get(), now, after_seconds(now, kAuthorityLife_s));
  X509* certificate = pair->certificate.get();
  X509_NAME* subject = X509_get_subject_name(certificate);
  set_name(subject, "O", "Kyanite");
  // The last digits tell one authority from the other in lists of trusted ones.
  const Number serial(ASN1_INTEGER_to_BN(X509_get0_serialNumber(certificate), nullptr));
  char* digits = BN_bn2hex(serial.get());
  const std::string whole(digits);
  OPENSSL_free(digits);
  set_name(subject, "CN", "Kyanite local authority " + whole.substr(0, 8));
  CHECK(X509_set_issuer_name(certificate, subject) == 1);
  add_extension(certificate, certificate, NID_basic_constraints, "critical,CA:TRUE,pathlen:0");
  add_extension(certificate, certificate, NID_key_usage, "critical,keyCertSign,cRLSign");
  add_extension(certificate, certificate, NID_subject_key_identifier, "hash");
  CHECK(X509_sign(certificate, pair->key.get(), EVP_sha256()) > 0);
  return pair;
}

// Null when key and certificate are not both there, or not of each other.
std::unique_ptr<Authority::Pair> Authority::Pair::parse(const std::string& pem) {
  auto pair = std::make_unique<Pair>();
  pair->key = key_from(pem);
  pair->certificate = certificate_from(pem);
  const bool whole = pair->key && pair->certificate &&
                     X509_check_private_key(pair->certificate.get(), pair->key.get()) == 1;
  ERR_clear_error();
  return whole ? std::move(pair) : nullptr;
}

Authority::Authority(std::unique_ptr<Pair> pair)
    : pair_(std::move(pair)),
      certificate_pem_(pem_of(pair_->certificate.get())),
      ends_(time_of(X509_get0_notAfter(pair_->certificate.get()))) {}

Authority::~Authority() = default;

Authority::Opened Authority::open(const std::string& directory, Time now) {
  const std::string path = directory + "/" + kSecretFile;
  auto kept = keep_secret(directory, kSecretFile, [&] {
    const auto fresh = Pair::make(now);
    return pem_of(fresh->key.get()) + pem_of(fresh->certificate.get());
  });
  if (!kept) return Failure{kept.error().what};
  auto pair = Pair::parse(*kept);
  if (!pair)
    return path + " does not hold a certificate with its key; without it a new one is made";
  std::unique_ptr<const Authority> authority(new Authority(std::move(pair)));
  if (authority->ends() <= now) {
    return "the certificate authority in " + path +
           " is past its end; without the file a new one is made, which clients must trust again";
  }
  const auto shown = os::read_text(directory + "/" + kCertificateFile);
  if (!shown || *shown != authority->certificate_pem()) {
    const auto written = os::write_text(directory, kCertificateFile, authority->certificate_pem());
    if (!written) return Failure{written.error().what};
  }
  return authority;
}

std::unique_ptr<const Authority> Authority::make(Time now) {
  return std::unique_ptr<const Authority>(new Authority(Pair::make(now)));
}

ServerCertificate Authority::issue(const std::vector<std::string>& hosts, Time now) const {
  CHECK(!hosts.empty());
  const PrivateKey key(EVP_EC_gen("P-256"));
  CHECK(key);
  const Time ends = std::min(after_seconds(now, kServerLife_s), ends_);
  const Certificate certificate = blank_certificate(key.get(), now, ends);
  X509* by = pair_->certificate.get();
  set_name(X509_get_subject_name(certificate.get()), "O", "Kyanite");
  set_name(X509_get_subject_name(certificate.get()), "CN", hosts.front());
  CHECK(X509_set_issuer_name(certificate.get(), X509_get_subject_name(by)) == 1);
  add_extension(certificate.get(), by, NID_basic_constraints, "critical,CA:FALSE");
  add_extension(certificate.get(), by, NID_key_usage, "critical,digitalSignature");
  add_extension(certificate.get(), by, NID_ext_key_usage, "serverAuth");
  add_extension(certificate.get(), by, NID_subject_alt_name, alternative_names(hosts));
  add_extension(certificate.get(), by, NID_subject_key_identifier, "hash");
  add_extension(certificate.get(), by, NID_authority_key_identifier, "keyid:always");
  CHECK(X509_sign(certificate.get(), pair_->key.get(), EVP_sha256()) > 0);
  return {pem_of(certificate.get()), pem_of(key.get()), ends};
}

}  // namespace kyanite::issuer
