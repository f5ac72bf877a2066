// Host and path to account, service and resource.
#include "base/bytes.h"
#include "front/front.h"
#include "wire/query.h"

namespace kyanite::front {

using service::Call;
using wire::Code;

namespace {

constexpr std::string_view kSecondary = "-secondary";

// Takes an account name, with or without "-secondary"; false when there is no such account.
bool take_account(Call& call, const auth::Accounts& accounts, std::string_view name) {
  const bool secondary = name.size() > kSecondary.size() && name.ends_with(kSecondary);
  if (secondary) name.remove_suffix(kSecondary.size());
  if (accounts.find(name) == nullptr) return false;
  call.target.account = name;
  call.target.secondary = secondary;
  return true;
}

// account.blob.example:10000 -> account. Nothing when the host is an address or a single name.
std::string_view first_label(std::string_view host) {
  const size_t dot = host.find('.');
  if (dot == std::string_view::npos || host.front() == '[') return {};
  return host.substr(0, dot);
}

}  // namespace

wire::Result<void> Front::resolve(Call& call) const {
  const auto& request = call.request;
  auto& target = call.target;
  const auto& accounts = *settings_.auth.accounts;
  target.raw_path = request.path;
  const std::string_view host = request.headers.get("Host");
  call.endpoint = std::string(request.secure ? "https://" : "http://") + std::string(host) + "/";

  std::string_view rest = request.path;
  if (rest.empty() || rest.front() != '/') return wire::Error(Code::kInvalidUri);
  rest.remove_prefix(1);
  const bool by_host =
      settings_.product_style_url && take_account(call, accounts, first_label(host));
  if (!by_host) {
    const size_t slash = rest.find('/');
    const std::string_view name = rest.substr(0, slash);
    target.path_style = true;
    if (!take_account(call, accounts, name)) {
      return wire::Error(Code::kResourceNotFound)
          .saying("The account named in the host or at the start of the path is not served here.");
    }
    call.endpoint.append(name).append("/");
    rest = slash == std::string_view::npos ? std::string_view() : rest.substr(slash + 1);
  }
  auto query = wire::Query::parse(request.query);
  if (!query) return wire::Error(Code::kInvalidUri);
  call.query = std::move(*query);
  auto path = wire::percent_decode(rest);
  if (!path) return wire::Error(Code::kInvalidUri);
  return service_.address(call, *path);
}

}  // namespace kyanite::front
