// Requests and signatures for the tests of this folder. Signatures are made the plain way: the
// string to sign is written out by the test and hashed by OpenSSL's one-shot function, apart from
// the code under test.
#pragma once

#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <deque>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "auth/authenticate.h"
#include "base/bytes.h"
#include "wire/date.h"
#include "wire/query.h"

namespace kyanite::auth {

inline const std::string kTestAccount = "devstoreaccount1";
inline const std::string kTestKey =
    "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";
inline const std::string kOtherKey = "b3RoZXIga2V5";  // "other key"

inline Time iso(std::string_view text) { return wire::parse_iso_date(text).value(); }

// base64(HMAC-SHA256(unbase64(key), text))
inline std::string sign(std::string_view key_base64, std::string_view text) {
  const std::string key = unbase64(key_base64).value();
  unsigned char mac[EVP_MAX_MD_SIZE];
  unsigned length = 0;
  HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
       reinterpret_cast<const unsigned char*>(text.data()), text.size(), mac, &length);
  return base64({reinterpret_cast<const char*>(mac), length});
}

using HeaderList = std::vector<std::pair<std::string, std::string>>;

// A request with everything authentication looks at. Path-style unless the path does not begin with
// the account.
class Call {
 public:
  Call(wire::Service service, std::string method, std::string path_and_query,
       HeaderList headers = {})
      : method_(std::move(method)),
        target_text_(std::move(path_and_query)),
        headers_(std::move(headers)) {
    request.method = method_;
    request.target = target_text_;
    const size_t mark = target_text_.find('?');
    request.path = request.target.substr(0, mark);
    if (mark != std::string::npos) request.query = request.target.substr(mark + 1);
    for (const auto& [header, value] : headers_) request.headers.add(header, value);
    request.peer = "127.0.0.1";
    query = wire::Query::parse(request.query).value();
    resolve(service);
  }
  Call(const Call&) = delete;

  wire::Result<Caller> authenticate(Time now, const Settings& settings) {
    const auto version = wire::Version::parse(request.headers.get("x-ms-version"));
    Caller caller;
    auto done = auth::authenticate(request, query, target, settings,
                                   version.value_or(wire::Version()), now, caller);
    if (!done) return done.error();
    return caller;
  }
  wire::Result<Caller> authenticate(Time now) { return authenticate(now, settings()); }

  static const Settings& settings() {
    static const Accounts accounts(
        {{kTestAccount, {Key(unbase64(kTestKey).value()), Key(unbase64(kOtherKey).value())}}});
    static const Settings both_keys{&accounts, nullptr};
    return both_keys;
  }

  http::Request request;
  wire::Query query;
  Target target;

 private:
  void resolve(wire::Service service) {
    target.service = service;
    target.raw_path = request.path;
    target.account = kTestAccount;
    std::string_view path = request.path.substr(1);
    if (path.substr(0, kTestAccount.size()) == kTestAccount) {
      target.path_style = true;
      path.remove_prefix(kTestAccount.size());
      static constexpr std::string_view kSecondary = "-secondary";
      target.secondary = path.substr(0, kSecondary.size()) == kSecondary;
      if (target.secondary) path.remove_prefix(kSecondary.size());
      if (!path.empty()) path.remove_prefix(1);
    }
    if (service == wire::Service::kTable && (path == "Tables" || path == "$batch")) return;
    const size_t slash = path.find('/');
    target.container = wire::percent_decode(path.substr(0, slash)).value();
    if (slash != std::string_view::npos)
      target.object = wire::percent_decode(path.substr(slash + 1)).value();
    target.snapshot = query.get("snapshot");
    target.version_id = query.get("versionid");
    target.prefix = query.get("prefix");
    target.level = !target.object.empty()      ? Level::kObject
                   : !target.container.empty() ? Level::kContainer
                                               : Level::kService;
  }

  std::string method_;
  std::string target_text_;
  HeaderList headers_;
};

// "" when all is well, else the error's code.
template <class T>
std::string code_of(const wire::Result<T>& result) {
  return result.ok() ? std::string() : std::string(wire::name(result.error().code));
}

template <class T>
std::string detail_of(const wire::Result<T>& result) {
  if (result.ok()) return {};
  for (const auto& [element, value] : result.error().details) {
    if (element == "AuthenticationErrorDetail") return value;
  }
  return {};
}

}  // namespace kyanite::auth
