#include "server/accounts.h"

#include <arpa/inet.h>

#include <algorithm>
#include <set>

#include "base/bytes.h"

namespace kyanite::server {

namespace {

constexpr size_t kShortestName = 3;
constexpr size_t kLongestName = 24;
constexpr size_t kLongestLabel = 63;  // A name may be a part of a host's.
constexpr size_t kMostKeys = 2;

bool is_account_name(std::string_view name) {
  return name.size() >= kShortestName && name.size() <= kLongestName &&
         std::all_of(name.begin(), name.end(),
                     [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); });
}

// Azurite takes any. What a path can have, and what cannot be mistaken for the second region of
// another account.
bool is_name_for_azurite(std::string_view name) {
  return !name.empty() && name.size() <= kLongestLabel && !name.ends_with("-secondary") &&
         std::all_of(name.begin(), name.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  c == '-' || c == '_';
         });
}

// At each of the separators.
std::vector<std::string_view> split(std::string_view text, std::string_view separators) {
  std::vector<std::string_view> parts;
  while (true) {
    const size_t end = text.find_first_of(separators);
    parts.push_back(trim(text.substr(0, end)));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

}  // namespace

std::string lenient_unbase64(std::string_view text) {
  std::string letters;
  for (char c : text.substr(0, text.find('='))) {
    if (c == '-') c = '+';
    if (c == '_') c = '/';
    const bool counts = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                        (c >= '0' && c <= '9') || c == '+' || c == '/';
    if (counts) letters += c;
  }
  if (letters.size() % 4 == 1) letters.pop_back();  // Six bits are no byte.
  letters.resize((letters.size() + 3) / 4 * 4, '=');
  auto bytes = unbase64(letters);
  CHECK(bytes);
  return std::move(*bytes);
}

Result<auth::Account, std::string> make_account(std::string_view name,
                                                const std::vector<std::string_view>& keys,
                                                KeyForm form) {
  const std::string shown(name);
  if (form == KeyForm::kBase64 && !is_account_name(name)) {
    return Failure{"'" + shown + "' is not an account name: 3 to 24 lower-case letters and digits"};
  }
  if (form == KeyForm::kAsAzurite && !is_name_for_azurite(name)) {
    return Failure{"'" + shown +
                   "' is not an account name: at most 63 letters, digits, '-' and '_', and no "
                   "-secondary at its end"};
  }
  if (keys.empty()) return Failure{"account " + shown + " has no key"};
  if (keys.size() > kMostKeys) return Failure{"account " + shown + " has more than two keys"};
  auth::Account account{shown, {}};
  for (std::string_view key : keys) {
    auto bytes = form == KeyForm::kBase64 ? unbase64(key) : lenient_unbase64(key);
    if (!bytes || bytes->empty()) {
      return Failure{"a key of account " + shown + " is not base64 text"};
    }
    account.keys.emplace_back(std::move(*bytes));
  }
  return account;
}

Result<AccountList, std::string> parse_account_list(std::string_view text) {
  AccountList accounts;
  for (std::string_view item : split(text, ";\n")) {
    if (item.empty()) continue;
    const auto parts = split(item, ":");
    auto account = make_account(parts[0], {parts.begin() + 1, parts.end()}, KeyForm::kAsAzurite);
    if (!account) return Failure{account.error()};
    accounts.push_back(std::move(*account));
  }
  return accounts;
}

bool is_loopback(std::string_view host) {
  const std::string text(host);
  in_addr v4{};
  if (inet_pton(AF_INET, text.c_str(), &v4) == 1) return ntohl(v4.s_addr) >> 24 == 127;
  in6_addr v6{};
  if (inet_pton(AF_INET6, text.c_str(), &v6) == 1) return IN6_IS_ADDR_LOOPBACK(&v6);
  return equals_ignoring_case(host, "localhost");
}

std::optional<std::string> open_host(const std::vector<std::string>& hosts) {
  const auto open = std::find_if_not(hosts.begin(), hosts.end(),
                                     [](const std::string& host) { return is_loopback(host); });
  return open == hosts.end() ? std::nullopt : std::optional(*open);
}

bool is_well_known(const AccountList& accounts) {
  return accounts.size() == 1 && accounts[0].name == kWellKnownAccount &&
         accounts[0].keys.size() == 1 && base64(accounts[0].keys[0].bytes()) == kWellKnownKey;
}

Result<AccountList, std::string> choose_accounts(AccountList given,
                                                 const std::vector<std::string>& hosts,
                                                 bool insecure_off_loopback) {
  std::set<std::string_view> names;
  for (const auth::Account& account : given) {
    if (!names.insert(account.name).second) {
      return Failure{"account " + account.name + " is given twice"};
    }
  }
  if (!given.empty()) return given;
  if (const auto host = open_host(hosts); host && !insecure_off_loopback) {
    return Failure{"refusing to listen on " + *host +
                   " with the well-known account only: anyone who reaches this address knows its "
                   "key. Give an account of your own by AZURITE_ACCOUNTS=name:key or --config, or "
                   "say --insecureOffLoopback if everybody may come in"};
  }
  auto well_known = make_account(kWellKnownAccount, {kWellKnownKey});
  CHECK(well_known);
  return AccountList{std::move(*well_known)};
}

}  // namespace kyanite::server
