#include "server/local_tokens.h"

#include "issuer/keep.h"

namespace kyanite::server {

LocalTokens::LocalTokens(std::unique_ptr<const issuer::TokenKey> key, TokenConfiguration tokens,
                         const Clock& clock)
    : key_(std::move(key)), tokens_(std::move(tokens)), service_(*key_, clock) {}

Result<std::unique_ptr<LocalTokens>, std::string> LocalTokens::open(
    const Options& options, const TokenConfiguration& tokens, const Clock& clock) {
  std::unique_ptr<const issuer::TokenKey> key;
  if (options.in_memory) {
    key = issuer::TokenKey::make();
  } else {
    auto opened = issuer::TokenKey::open(issuer::folder_in(options.location));
    if (!opened) return Failure{opened.error()};
    key = std::move(*opened);
  }
  return std::unique_ptr<LocalTokens>(new LocalTokens(std::move(key), tokens, clock));
}

void LocalTokens::add_to(Admin& admin) {
  for (const std::string_view path : {issuer::kVirtualMachinePath, issuer::kAppServicePath}) {
    admin.add(path, service_);
    admin.add(std::string(path) + "/", service_);
  }
}

void LocalTokens::set_port(uint16_t port) {
  service_.set_port(port);
  auto keys = auth::KeySet::parse(key_->key_set());
  CHECK(keys);
  TokenConfiguration own = tokens_;
  own.issuers = service_.issuer_prefixes();
  rules_ = make_token_rules(own, std::move(*keys));
}

}  // namespace kyanite::server
