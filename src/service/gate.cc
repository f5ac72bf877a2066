#include "service/gate.h"

#include "auth/authenticate.h"
#include "auth/authorize.h"
#include "auth/shared_key.h"
#include "http/url.h"
#include "service/operation.h"
#include "service/service.h"
#include "wire/query.h"

namespace kyanite::service {

using wire::Code;

namespace {

constexpr std::string_view kSecondary = "-secondary";

// Takes an account name, with or without "-secondary"; false when there is no such account.
bool take_account(Call& call, std::string_view name) {
  const bool secondary = name.size() > kSecondary.size() && name.ends_with(kSecondary);
  if (secondary) name.remove_suffix(kSecondary.size());
  if (call.context.accounts.find(name) == nullptr) return false;
  call.target.account = name;
  call.target.secondary = secondary;
  return true;
}

// Takes the account that a request means whose path begins with none. The clients for JavaScript of
// shares and of Data Lake leave it out of the destinations of renames, and sign what they send. A
// SAS or a token names no account, but the source of the rename is in the same one.
bool take_implied_account(Call& call) {
  const auto& headers = call.request.headers;
  if (const auto signature = auth::SharedKeyCredential::parse(headers.get("Authorization")))
    return take_account(call, signature->account);
  std::string_view path = headers.get("x-ms-rename-source");
  const auto source = http::parse_url(headers.get("x-ms-file-rename-source"));
  if (source) path = source->path;
  if (!path.starts_with('/')) return false;
  return take_account(call, path.substr(1, path.find('/', 1) - 1));
}

// account.blob.example:10000 -> account. Nothing when the host is an address or a single name.
std::string_view first_label(std::string_view host) {
  const size_t dot = host.find('.');
  if (dot == std::string_view::npos || host.front() == '[') return {};
  return host.substr(0, dot);
}

}  // namespace

wire::Result<void> resolve(Call& call) {
  const auto& request = call.request;
  auto& target = call.target;
  target.raw_path = request.path;
  const std::string_view host = request.headers.get("Host");
  call.endpoint = std::string(request.secure ? "https://" : "http://") + std::string(host) + "/";

  std::string_view rest = request.path;
  if (rest.empty() || rest.front() != '/') return wire::Error(Code::kInvalidUri);
  rest.remove_prefix(1);
  const bool by_host = call.context.product_style_url && take_account(call, first_label(host));
  if (!by_host) {
    const size_t slash = rest.find('/');
    const std::string_view name = rest.substr(0, slash);
    if (take_account(call, name)) {
      target.path_style = true;
      rest = slash == std::string_view::npos ? std::string_view() : rest.substr(slash + 1);
      call.endpoint.append(name).append("/");
    } else if (take_implied_account(call)) {
      call.endpoint.append(target.account).append("/");
    } else {
      return wire::Error(Code::kResourceNotFound)
          .saying("The account named in the host or at the start of the path is not served here.");
    }
  }
  auto query = wire::Query::parse(request.query);
  if (!query) return wire::Error(Code::kInvalidUri);
  call.query = std::move(*query);
  auto path = wire::percent_decode(rest);
  if (!path) return wire::Error(Code::kInvalidUri);
  return call.service->address(call, *path);
}

wire::Result<void> authenticate(Call& call) {
  return auth::authenticate(call.request, call.query, call.target, call.context.auth(),
                            call.version, call.now, call.caller);
}

Task<wire::Result<void>> authorize(Call& call) {
  const std::string& user = call.caller.object_id;
  call.cause = {call.operation->name, call.request_id, user.empty() ? call.target.account : user};
  if (call.target.secondary && !call.operation->reads()) {
    co_return wire::Error(Code::kInsufficientAccountPermissions)
        .saying("Write operations are not allowed on the secondary endpoint.");
  }
  auth::Acl acl;
  if (auth::needs_acl(call.caller, call.operation->need)) {
    auto loaded = co_await call.service->acl(call);
    if (!loaded) co_return loaded.error();
    acl = std::move(*loaded);
    if (auto applied = auth::apply_policy(call.caller, acl.policies, call.now); !applied)
      co_return applied.error();
  }
  const auth::Need& need = call.operation->need;
  auto allowed = auth::authorize(call.caller, need, call.target, acl);
  if (!allowed) co_return allowed.error();
  // What access control of paths must decide is decided where the path is followed.
  if (call.caller.names_user || auth::asks_paths(call.caller, need))
    co_return co_await call.service->require_paths(call);
  co_return wire::Result<void>();
}

}  // namespace kyanite::service
