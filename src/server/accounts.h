// Which accounts the server holds: from the environment and the configuration file, or the
// well-known one for development.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "auth/account.h"
#include "base/result.h"

namespace kyanite::server {

// The account of every Azure Storage emulator. Its key is public, so it protects nothing.
inline constexpr std::string_view kWellKnownAccount = "devstoreaccount1";
inline constexpr std::string_view kWellKnownKey =
    "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";

using AccountList = std::vector<auth::Account>;

// An account from its written form: a name of 3 to 24 lower-case letters and digits and one or two
// keys. Errors name the account but never show a key.
enum class KeyForm { kBase64, kAsAzurite };
Result<auth::Account, std::string> make_account(std::string_view name,
                                                const std::vector<std::string_view>& keys,
                                                KeyForm form = KeyForm::kBase64);

// The bytes that Azurite takes a key for, which need not be base64 text: letters of both base64
// alphabets count, all others are passed over, the first '=' ends it.
std::string lenient_unbase64(std::string_view text);

// "name:key1[:key2];name:key1..." as in AZURITE_ACCOUNTS; blanks around items and a last ';' are
// allowed, and lines instead of ';'. Keys are read as Azurite reads them.
Result<AccountList, std::string> parse_account_list(std::string_view text);

// Only addresses that cannot be reached from another machine: 127.0.0.0/8, ::1 and localhost. Other
// names count as reachable, whatever they resolve to today.
bool is_loopback(std::string_view host);

// The first of them that can be reached from other machines.
std::optional<std::string> open_host(const std::vector<std::string>& hosts);

// The accounts to serve: those given, or the well-known one when none is given. The latter is
// refused when some of the hosts that serve data can be reached from other machines, unless that is
// wanted. So are two accounts of one name.
Result<AccountList, std::string> choose_accounts(AccountList given,
                                                 const std::vector<std::string>& hosts,
                                                 bool insecure_off_loopback = false);

// Whether all of them together are the one whose key everybody knows.
bool is_well_known(const AccountList& accounts);

}  // namespace kyanite::server
