#include "datalake/rename_order.h"

#include "base/bytes.h"
#include "datalake/access.h"
#include "datalake/path_reply.h"
#include "datalake/properties.h"

namespace kyanite::datalake {

using service::Call;
using wire::Code;

namespace {

constexpr std::string_view kSourceLease = "x-ms-source-lease-id";

wire::Result<blob::Checks> decode_source_checks(const Call& call) {
  constexpr headers::ConditionHeaders kConditions{
      "x-ms-source-if-match", "x-ms-source-if-none-match", "x-ms-source-if-modified-since",
      "x-ms-source-if-unmodified-since", ""};
  blob::Rules rules = blob::kChanges;
  rules.takes_directories = true;
  blob::Checks checks{rules, {}, {}, {}, {}, {}};
  if (!call.headers().get(kSourceLease).empty()) {
    auto lease_id = headers::decode_guid(call, kSourceLease);
    if (!lease_id) return lease_id.error();
    checks.lease_id = std::move(*lease_id);
  }
  auto asked = headers::decode_conditions(call, rules.operation, rules.accepts, kConditions);
  if (!asked) return asked.error();
  checks.asked = std::move(*asked);
  checks.asked.unmet = checks.asked.if_match_foreign = Code::kSourceConditionNotMet;
  return checks;
}

wire::Result<RenameMode> decode_rename_mode(const Call& call) {
  constexpr std::string_view kMode = "mode";
  const auto text = call.query.get(kMode);
  if (text.empty() || equals_ignoring_case(text, "posix")) return RenameMode::kPosix;
  if (equals_ignoring_case(text, "legacy")) return RenameMode::kLegacy;
  return wire::invalid_query(kMode, text);
}

}  // namespace

// The source is named from the file system on, without host and account, though some clients name
// the account where it is the beginning of the path.
wire::Result<http::Url> decode_rename_source(const Call& call) {
  const auto text = call.headers().get(kRenameSource);
  const std::string account = "/" + call.target.account + "/";
  std::string_view path = text;
  if (!path.starts_with('/')) return wire::invalid_header(kRenameSource, text);
  if (call.endpoint.ends_with(account) && path.starts_with(account))
    path.remove_prefix(account.size() - 1);
  auto url = http::parse_url(call.endpoint + std::string(path.substr(1)));
  if (!url) return wire::invalid_header(kRenameSource, text);
  return std::move(*url);
}

wire::Result<RenameOrder> decode_rename_order(const Call& call) {
  auto mode = decode_rename_mode(call);
  if (!mode) return mode.error();
  auto source = decode_source_checks(call);
  if (!source) return source.error();
  blob::Rules rules = blob::kCreates;
  rules.takes_directories = true;
  rules.keep = blob::Keep::kNothing;
  rules.key = blob::KeyUse::kIgnores;
  auto destination = blob::decode_checks(call, rules);
  if (!destination) return destination.error();
  auto properties = decode_properties(call);
  if (!properties) return properties.error();
  auto transaction = decode_transaction(call);
  if (!transaction) return transaction.error();
  return RenameOrder{*mode,
                     call.target.object,
                     std::move(*source),
                     std::move(*destination),
                     std::move(*properties),
                     std::move(*transaction)};
}

wire::Result<void> check_source_caller(const Call& call, const Call& source, bool own_credentials) {
  const auth::Caller& caller = source.caller;
  if (!caller.is_sas()) return {};
  const auto& letters = caller.permissions;
  if (!letters.has('m') && !(letters.has('w') && letters.has('d')))
    return wire::Error(Code::kAuthorizationPermissionMismatch);
  if (own_credentials || caller.scope == auth::Scope::kAccount) return {};
  const bool reaches =
      caller.scope != auth::Scope::kObject && source.target.container == call.target.container;
  if (!reaches) return wire::Error(Code::kAuthorizationFailure);
  return {};
}

std::string path_inside(std::string_view directory, std::string_view source) {
  while (source.ends_with('/')) source.remove_suffix(1);
  std::string path(directory);
  if (!path.empty() && !path.ends_with('/')) path += '/';
  return path.append(source.substr(source.rfind('/') + 1));
}

wire::Result<void> check_rename_reach(const Call& call, const Call& from, bool moves_tree,
                                      bool moves_into) {
  if (moves_tree && is_of_one_path(from.caller)) return wire::Error(Code::kAuthorizationFailure);
  if ((moves_tree || moves_into) && is_of_one_path(call.caller))
    return wire::Error(Code::kAuthorizationFailure);
  return {};
}

}  // namespace kyanite::datalake
