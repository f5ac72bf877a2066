#include "datalake/tree_token.h"

#include "auth/mac.h"
#include "base/bytes.h"

namespace kyanite::datalake {

using service::Call;

namespace {

constexpr std::string_view kContinuation = "continuation";

// None, which no token has, if the account was taken away meanwhile.
std::string token_mac(const Call& call, std::string_view bound, std::string_view said) {
  const auto account = call.context.accounts.find(call.target.account);
  if (account == nullptr) return {};
  return std::string(auth::Mac::of(account->keys.front(), std::string(bound).append(said)).bytes());
}

}  // namespace

void append_bound(std::string& bound, std::string_view text) {
  append_varint(bound, text.size());
  bound += text;
}

wire::Error invalid_token(const Call& call) {
  return wire::invalid_query(kContinuation, call.query.get(kContinuation));
}

std::string write_token(const Call& call, std::string_view bound, std::string_view said) {
  return base64(token_mac(call, bound, said).append(said));
}

wire::Result<std::optional<std::string>> read_token(const Call& call, std::string_view bound) {
  const auto text = call.query.get(kContinuation);
  if (text.empty()) return std::optional<std::string>();
  const auto token = unbase64(text);
  if (!token || token->size() < auth::kMacBytes) return invalid_token(call);
  const std::string_view mac = std::string_view(*token).substr(0, auth::kMacBytes);
  const std::string_view said = std::string_view(*token).substr(auth::kMacBytes);
  if (!equals_constant_time(mac, token_mac(call, bound, said))) return invalid_token(call);
  return std::optional<std::string>(said);
}

}  // namespace kyanite::datalake
