#include "auth/sas.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "auth/address_range.h"
#include "auth/failure.h"
#include "auth/mac.h"
#include "auth/sas_form.h"
#include "auth/sas_string.h"
#include "auth/user_delegation.h"
#include "base/bytes.h"
#include "wire/date.h"

namespace kyanite::auth {

namespace {
constexpr std::string_view kWrongLevel =
    "The specified signed resource is not allowed for the this resource level";
constexpr Letters kAccountPermissions = "rwdxylacuptfi";

constexpr wire::Version kAccountSasSince{20150405};
constexpr wire::Version kDelegationSasSince{20181109};
constexpr wire::Version kDirectorySasSince{20200210};

// What the checks below share. `caller` is filled as they pass.
struct Token {
  const http::Request& request;
  const wire::Query& query;
  const Target& target;
  const Account& account;
  Time now;
  const Roles* roles;
  wire::Version version;
  Caller caller;
};

wire::Error missing(std::string_view field) {
  return authentication_failed(std::string(field) + " is mandatory. Cannot be empty");
}

wire::Result<void> require(const wire::Query& query,
                           std::initializer_list<std::string_view> fields) {
  for (std::string_view field : fields) {
    if (query.get(field).empty()) return missing(field);
  }
  return {};
}

// An absent time stays unset; one that cannot be read is an error.
wire::Result<Time> read_time(const wire::Query& query, std::string_view field) {
  const std::string_view text = query.get(field);
  if (text.empty()) return Time{};
  const auto time = wire::parse_iso_date(text);
  if (!time || !time->set()) return authentication_failed(kNotWellFormed);
  return *time;
}

wire::Result<void> read_common(Token& token, const Letters& known) {
  Caller& caller = token.caller;
  const auto start = read_time(token.query, "st");
  if (!start) return start.error();
  const auto expiry = read_time(token.query, "se");
  if (!expiry) return expiry.error();
  const auto permissions = Letters::parse(token.query.get("sp"), known);
  if (!permissions) return authentication_failed(kNotWellFormed);
  caller.start = *start;
  caller.expiry = *expiry;
  caller.permissions = *permissions;
  caller.version = token.query.get("sv");
  if (token.version >= kSignsEncryptionScope && token.target.service == wire::Service::kBlob) {
    caller.encryption_scope = token.query.get("ses");
  }
  return {};
}

wire::Error no_match(std::string_view text) {
  return authentication_failed("Signature did not match. String to sign used was " +
                               quoted_text(text));
}

std::optional<std::string> read_signature(const wire::Query& query) {
  auto signature = unbase64(query.get("sig"));
  if (!signature || signature->size() != kMacBytes) return {};
  return signature;
}

// Whether the signature is the MAC of the text under any of the account's keys.
wire::Result<void> check_signature(const Token& token, std::string_view text) {
  const auto signature = read_signature(token.query);
  if (!signature) return authentication_failed("Signature size is invalid");
  for (const auto& key : token.account.keys) {
    if (equals_constant_time(Mac::of(key, text).bytes(), *signature)) return {};
  }
  return no_match(text);
}

wire::Result<void> check_protocol(const Token& token) {
  const std::string_view protocols = token.query.get("spr");
  if (protocols.empty() || protocols == "https,http" || protocols == "http,https") return {};
  if (protocols != "https") return authentication_failed(kNotWellFormed);
  if (!token.request.secure) return wire::Error(wire::Code::kAuthorizationProtocolMismatch);
  return {};
}

wire::Result<void> check_address(const Token& token) {
  const std::string_view addresses = token.query.get("sip");
  if (addresses.empty()) return {};
  const auto range = AddressRange::parse(addresses);
  if (!range) return authentication_failed(kNotWellFormed);
  if (range->contains(token.request.peer)) return {};
  const std::string peer(token.request.peer);
  return wire::Error(wire::Code::kAuthorizationSourceIPMismatch)
      .saying("This request is not authorized to perform this operation using this source IP " +
              peer + ".")
      .with("SourceIP", peer);
}

// What holds besides the signature. Times that a stored policy supplies are checked when it is
// applied. Tokens older than the signing of address and protocol carry neither: unsigned ones must
// not be trusted, nor silently ignored.
wire::Result<void> check_circumstances(const Token& token) {
  const Caller& caller = token.caller;
  if (!caller.policy_pending || caller.expiry.set()) {
    if (auto timely = check_window(caller.start, caller.expiry, token.now); !timely) return timely;
  }
  if (auto address = check_address(token); !address) return address;
  return check_protocol(token);
}

wire::Result<Caller> verify_account_sas(Token& token) {
  if (token.version < kAccountSasSince) return authentication_failed(kNotWellFormed);
  if (auto given = require(token.query, {"ss", "srt", "sp", "se"}); !given) return given.error();
  if (token.query.has("si")) return authentication_failed(kNotWellFormed);
  if (auto read = read_common(token, kAccountPermissions); !read) return read.error();
  const auto services = Letters::parse(token.query.get("ss"), "bqtf");
  const auto types = Letters::parse(token.query.get("srt"), "sco");
  if (!services || !types) return authentication_failed(kNotWellFormed);

  const std::string text = account_string_to_sign(token.query, token.account.name, token.version);
  if (auto matched = check_signature(token, text); !matched) return matched.error();
  if (auto held = check_circumstances(token); !held) return held.error();
  token.caller.kind = Caller::Kind::kAccountSas;
  token.caller.scope = Scope::kAccount;
  token.caller.services = *services;
  token.caller.resource_types = *types;
  return std::move(token.caller);
}

// What a token for one container or object names: the parts of its canonical resource.
struct Grant {
  std::string container;
  std::string path;
  std::string snapshot;
  Scope scope = Scope::kContainer;
};

// The first `depth` segments, or nothing when the path has fewer.
std::optional<std::string_view> leading_segments(std::string_view path, uint64_t depth) {
  size_t end = 0;
  for (uint64_t i = 0; i < depth; ++i) {
    if (end >= path.size()) return {};
    if (i > 0) ++end;  // Over the slash.
    const size_t slash = path.find('/', end);
    if (slash == end || end >= path.size()) return {};
    end = slash == std::string_view::npos ? path.size() : slash;
  }
  return path.substr(0, end);
}

// A directory token reaches the directory and what is below. Listings name what they are about by
// their prefix; there a name that merely begins like the directory must not pass.
wire::Result<Grant> directory_grant(const Token& token, Grant grant) {
  const auto depth = parse_uint(token.query.get("sdd"));
  if (!depth || token.version < kDirectorySasSince) return authentication_failed(kNotWellFormed);
  std::string_view path = token.target.object;
  if (token.target.level == Level::kContainer) {
    path = token.target.prefix;
    path = path.substr(0, path.rfind('/') == std::string_view::npos ? 0 : path.rfind('/'));
  }
  const auto directory = leading_segments(path, *depth);
  if (!directory) return authentication_failed(kWrongLevel);
  grant.scope = Scope::kDirectory;
  grant.path = *directory;
  return grant;
}

wire::Result<Grant> blob_grant(const Token& token) {
  const Target& target = token.target;
  const std::string_view resource = token.query.get("sr");
  Grant grant{target.container, "", "", Scope::kContainer};
  if (resource == "c") return grant;
  if (resource == "d") return directory_grant(token, std::move(grant));
  const bool snapshot = resource == "bs";
  const bool version = resource == "bv";
  if (resource != "b" && !snapshot && !version) return authentication_failed(kNotWellFormed);
  if (target.level != Level::kObject) return authentication_failed(kWrongLevel);
  grant.path = target.object;
  grant.scope = snapshot || version ? Scope::kSnapshot : Scope::kObject;
  if (snapshot) grant.snapshot = target.snapshot;
  if (version) grant.snapshot = target.version_id;
  if ((snapshot || version) && grant.snapshot.empty()) return authentication_failed(kWrongLevel);
  return grant;
}

wire::Result<Grant> file_grant(const Token& token) {
  const std::string_view resource = token.query.get("sr");
  Grant grant{token.target.container, "", "", Scope::kContainer};
  if (resource == "s") return grant;
  if (resource != "f") return authentication_failed(kNotWellFormed);
  if (token.target.level != Level::kObject) return authentication_failed(kWrongLevel);
  grant.path = token.target.object;
  grant.scope = Scope::kObject;
  return grant;
}

// Batches are addressed to the service; there the table is the one the token names and the parts of
// the batch are held to it.
wire::Result<Grant> table_grant(const Token& token) {
  const std::string_view table = token.query.get("tn");
  if (table.empty()) return missing("tn");
  if (!token.target.container.empty() && !equals_ignoring_case(table, token.target.container)) {
    return authentication_failed(kWrongLevel);
  }
  return Grant{ascii_lower(table), "", "", Scope::kContainer};
}

wire::Result<Grant> read_grant(const Token& token) {
  const wire::Service service = token.target.service;
  if (service == wire::Service::kBlob || service == wire::Service::kFile) {
    if (token.query.get("sr").empty()) return missing("sr");
  }
  if (service == wire::Service::kTable) return table_grant(token);
  if (token.target.level == Level::kService) return authentication_failed(kWrongLevel);
  if (service == wire::Service::kBlob) return blob_grant(token);
  if (service == wire::Service::kFile) return file_grant(token);
  return Grant{token.target.container, "", "", Scope::kContainer};
}

void take_grant(Caller& caller, Grant grant) {
  caller.scope = grant.scope;
  caller.container = std::move(grant.container);
  if (grant.scope == Scope::kDirectory) caller.directory = std::move(grant.path);
}

ResponseOverrides read_overrides(const wire::Query& query) {
  return {std::string(query.get("rscc")), std::string(query.get("rscd")),
          std::string(query.get("rsce")), std::string(query.get("rscl")),
          std::string(query.get("rsct"))};
}

wire::Result<KeyRange> read_key_range(const wire::Query& query) {
  KeyRange range;
  const auto read = [&](std::string_view field, std::optional<std::string>& out) {
    if (const auto value = query.find(field)) out = std::string(*value);
  };
  read("spk", range.start_partition);
  read("srk", range.start_row);
  read("epk", range.end_partition);
  read("erk", range.end_row);
  // Row keys are bounds within the partition of the same end.
  if ((range.start_row && !range.start_partition) || (range.end_row && !range.end_partition)) {
    return authentication_failed(kNotWellFormed);
  }
  return range;
}

// Tokens of the years in which the service came into the canonical resource are found in both
// forms.
wire::Result<void> check_service_signature(const Token& token, const Grant& grant) {
  const auto text = [&](bool with_service) {
    return service_string_to_sign(
        token.query, token.target.service,
        canonical_resource(token.target, grant.container, grant.path, with_service), grant.snapshot,
        token.version);
  };
  auto matched = check_signature(token, text(true));
  if (!matched && token.version < kSignsAddressAndProtocol)
    matched = check_signature(token, text(false));
  return matched;
}

wire::Result<Caller> verify_service_sas(Token& token) {
  auto grant = read_grant(token);
  if (!grant) return grant.error();
  if (auto given = require(token.query, {"sv"}); !given) return given.error();
  if (token.version < wire::kSharedAccessWithVersion) return authentication_failed(kNotWellFormed);
  token.caller.policy_id = token.query.get("si");
  token.caller.policy_pending = !token.caller.policy_id.empty();
  if (!token.caller.policy_pending) {
    if (auto given = require(token.query, {"sp", "se"}); !given) return given.error();
  }
  if (auto read = read_common(token, service_permissions(token.target.service)); !read)
    return read.error();
  if (token.version < kSignsAddressAndProtocol &&
      (token.query.has("sip") || token.query.has("spr"))) {
    return authentication_failed(kNotWellFormed);
  }
  if (auto matched = check_service_signature(token, *grant); !matched) return matched.error();
  if (auto held = check_circumstances(token); !held) return held.error();

  const wire::Service service = token.target.service;
  if (service == wire::Service::kTable) {
    auto range = read_key_range(token.query);
    if (!range) return range.error();
    token.caller.key_range = std::move(*range);
  } else if (service != wire::Service::kQueue && token.version >= kSignsOverrides) {
    token.caller.overrides = read_overrides(token.query);
  }
  token.caller.kind = Caller::Kind::kServiceSas;
  take_grant(token.caller, std::move(*grant));
  return std::move(token.caller);
}

bool is_guid(std::string_view text) {
  if (text.size() != 36) return false;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool dash = i == 8 || i == 13 || i == 18 || i == 23;
    const char c = text[i];
    const bool digit = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
    if (dash ? c != '-' : !digit) return false;
  }
  return true;
}

wire::Result<DelegationTerms> read_terms(const Token& token) {
  const wire::Query& query = token.query;
  if (auto given = require(query, {"skoid", "sktid", "skt", "ske", "sks", "skv"}); !given)
    return given.error();
  const auto start = read_time(query, "skt");
  if (!start) return start.error();
  const auto expiry = read_time(query, "ske");
  if (!expiry) return expiry.error();
  if (query.get("sks") != name(token.target.service).substr(0, 1)) {
    return wire::Error(wire::Code::kAuthorizationServiceMismatch);
  }
  return DelegationTerms{query.get("skoid"), query.get("sktid"),  *start, *expiry, query.get("sks"),
                         query.get("skv"),   query.get("skdutid")};
}

wire::Result<void> check_delegation_form(const Token& token) {
  const wire::Service service = token.target.service;
  const wire::Version since =
      service == wire::Service::kBlob ? kDelegationSasSince : kSignsDelegatedUser;
  if (token.version < since || service == wire::Service::kTable || token.query.has("si")) {
    return authentication_failed(kNotWellFormed);
  }
  if (const std::string_view correlation = token.query.get("scid");
      !correlation.empty() && !is_guid(correlation)) {
    return authentication_failed("Invalid correlation id format.");
  }
  // Each of these changes what the token means, so it counts only where the signature covers it.
  const bool blob = service == wire::Service::kBlob;
  const auto unsigned_use = [&](std::string_view field, bool covered) {
    return token.query.has(field) && !covered;
  };
  if (unsigned_use("suoid", blob && token.version >= kSignsAgents) ||
      unsigned_use("saoid", blob && token.version >= kSignsAgents) ||
      unsigned_use("sduoid", token.version >= kSignsDelegatedUser) ||
      unsigned_use("srh", blob && token.version >= kSignsRequestParts) ||
      unsigned_use("srq", blob && token.version >= kSignsRequestParts)) {
    return authentication_failed(kNotWellFormed);
  }
  return require(token.query, {"sp", "se"});
}

// Finds the role of who was given the key. Nobody without one is.
wire::Result<void> check_delegation_signature(Token& token, const Grant& grant,
                                              DelegationTerms terms) {
  const auto signature = read_signature(token.query);
  if (!signature) return authentication_failed("Signature size is invalid");
  const std::string text =
      delegation_string_to_sign(token.request, token.query, token.target.service,
                                canonical_resource(token.target, grant.container, grant.path, true),
                                grant.snapshot, token.version);
  for (const auto& key : token.account.keys) {
    for (const Role role : {Role::kOwner, Role::kContributor, Role::kReader}) {
      terms.role = token.caller.role = role;
      const std::string derived = derive_delegation_key(key, terms);
      if (equals_constant_time(Mac::of(std::string_view(derived), text).bytes(), *signature))
        return {};
    }
  }
  return no_match(text);
}

// Who signs for somebody else must be an owner: it vouches for them, or lends what they lack.
wire::Result<void> take_named_user(const wire::Query& query, Caller& caller) {
  const std::string_view trusted = query.get("saoid");
  const std::string_view checked = query.get("suoid");
  if (trusted.empty() && checked.empty()) return {};
  if (!trusted.empty() && !checked.empty()) return authentication_failed(kNotWellFormed);
  if (caller.role < Role::kOwner) return wire::Error(wire::Code::kAuthorizationPermissionMismatch);
  caller.names_user = true;
  caller.object_id = trusted.empty() ? checked : trusted;
  if (trusted.empty()) caller.role = Role::kNone;
  return {};
}

wire::Result<Caller> verify_delegation_sas(Token& token) {
  auto grant = read_grant(token);
  if (!grant) return grant.error();
  if (auto form = check_delegation_form(token); !form) return form.error();
  const auto terms = read_terms(token);
  if (!terms) return terms.error();
  if (auto read = read_common(token, service_permissions(token.target.service)); !read)
    return read.error();
  if (auto matched = check_delegation_signature(token, *grant, *terms); !matched)
    return matched.error();
  // A token that promises to outlive its key ends with the key.
  if (auto timely = check_window(terms->start, terms->expiry, token.now); !timely)
    return timely.error();
  if (auto held = check_circumstances(token); !held) return held.error();

  Caller& caller = token.caller;
  caller.kind = Caller::Kind::kUserDelegationSas;
  caller.object_id = terms->object_id;
  caller.tenant_id = terms->tenant_id;
  if (const auto given =
          token.roles == nullptr ? std::nullopt : token.roles->given(caller.object_id))
    caller.role = std::min(caller.role, *given);
  if (auto named = take_named_user(token.query, caller); !named) return named.error();
  if (token.target.service != wire::Service::kQueue) caller.overrides = read_overrides(token.query);
  take_grant(caller, std::move(*grant));
  return std::move(caller);
}
}  // namespace

Letters service_permissions(wire::Service service) {
  switch (service) {
    case wire::Service::kBlob:
      return "racwdxyltfmeopi";
    case wire::Service::kQueue:
      return "raup";
    case wire::Service::kTable:
      return "raud";
    case wire::Service::kFile:
      return "rcwdl";
  }
  return {};
}

wire::Result<void> check_window(Time start, Time expiry, Time now) {
  if (start <= now && now < expiry) return {};
  const auto quoted = [](Time time) { return "[" + wire::http_date(time).str() + "]"; };
  if (!start.set() || expiry <= start) {
    return authentication_failed("Signed expiry time " + quoted(expiry) +
                                 " must be after signed start time " +
                                 quoted(start.set() ? start : now));
  }
  return authentication_failed("Signature not valid in the specified time frame: Start " +
                               quoted(start) + " - Expiry " + quoted(expiry) + " - Current " +
                               quoted(now));
}

wire::Result<Caller> verify_sas(const http::Request& request, const wire::Query& query,
                                const Target& target, const Account& account, Time now,
                                const Roles* roles) {
  if (auto form = check_sas_form(query); !form) return form.error();
  const std::string_view signed_version = query.get("sv");
  const auto version = wire::Version::parse(signed_version);
  if (!signed_version.empty() && !version) return authentication_failed(kNotWellFormed);
  Token token{request, query, target, account, now, roles, version.value_or(wire::Version{}), {}};
  if (query.has("ss") || query.has("srt")) return verify_account_sas(token);
  if (query.has("skoid")) return verify_delegation_sas(token);
  return verify_service_sas(token);
}

}  // namespace kyanite::auth
