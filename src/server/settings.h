// Everything that is decided before a file is opened or a port taken: command line, environment,
// configuration file, certificates.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>

#include "auth/bearer.h"
#include "base/result.h"
#include "net/tls.h"
#include "server/account_settings.h"
#include "server/accounts.h"
#include "server/configuration.h"
#include "server/file_stamp.h"
#include "server/options.h"
#include "service/settings.h"

namespace kyanite::server {

struct Settings {
  Options options;
  std::vector<std::string> hosts;    // Those of listeners that serve data.
  AccountList accounts;              // Never empty.
  AccountList environment_accounts;  // Those of them that no file names.
  FileStamp config_stamp;            // Of the configuration file, taken before it was read.
  std::optional<auth::TokenRules> token_rules;     // Nothing: bearer tokens are refused, unless:
  std::optional<TokenConfiguration> local_tokens;  // The server issues tokens by itself.
  service::SettingsTable account_settings;
  SmbRules smb_rules;
  std::unique_ptr<net::TlsContext> tls;  // Of a certificate that was given, else null.
};

// As the flags say.
net::TlsContext::Loaded load_certificate(const Options& options);

// Accounts that the environment names: that of AZURITE_ACCOUNTS or the variable of our own, and the
// credential kyanite.accounts of systemd.
struct EnvironmentAccounts {
  std::string list = {};              // in the form of AZURITE_ACCOUNTS
  std::string empty_credential = {};  // The file, if there is one and it names no account.
};
Result<EnvironmentAccounts, std::string> read_environment_accounts(const Environment& environment);
Result<AccountList, std::string> parse_environment_accounts(const EnvironmentAccounts& accounts);

// `served` are the listeners of the services that this build has. The error is a sentence for the
// user.
Result<Settings, std::string> make_settings(Options options, std::span<const Listener> served,
                                            const EnvironmentAccounts& environment_accounts);

// All accounts to be served when the file has these.
Result<AccountList, std::string> all_accounts(const Settings& settings, AccountList of_file);

// Whether these accounts may be served with the settings' token rules.
Result<void, std::string> check_token_rules(const Settings& settings, const AccountList& accounts);

// What has to be said at every start where the well-known account can be used from other machines;
// else "".
std::string open_to_all_notice(const Settings& settings);

// What has to be said at every start where anyone who reaches the server can make tokens that pass;
// else "".
std::string_view forgeable_tokens_notice(const Settings& settings);

// Sentences about flags that were accepted and change nothing, and variables that seem misspelt.
std::vector<std::string> notices(const Options& options);

}  // namespace kyanite::server
