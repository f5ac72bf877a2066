// Which accounts the server holds: from the environment and the configuration file, or the
// well-known one for development.
#pragma once

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
// keys in base64. Errors name the account but never show a key.
Result<auth::Account, std::string> make_account(std::string_view name,
                                                const std::vector<std::string_view>& keys);

// "name:key1[:key2];name:key1..." as in AZURITE_ACCOUNTS; blanks around items and a last ';' are
// allowed.
Result<AccountList, std::string> parse_account_list(std::string_view text);

// Only addresses that cannot be reached from another machine: 127.0.0.0/8, ::1 and localhost. Other
// names count as reachable, whatever they resolve to today.
bool is_loopback(std::string_view host);

// The accounts to serve: those given, or the well-known one when none is given. The latter is
// refused when some of the hosts that serve data can be reached from other machines. So are two
// accounts of one name.
Result<AccountList, std::string> choose_accounts(AccountList given,
                                                 const std::vector<std::string>& hosts);

}  // namespace kyanite::server
