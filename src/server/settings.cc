#include "server/settings.h"

#include <filesystem>
#include <fstream>
#include <iterator>

#include "server/account_settings.h"
#include "server/configuration.h"

namespace kyanite::server {

net::TlsContext::Loaded load_certificate(const Options& options) {
  if (options.key_file.empty()) {
    return net::TlsContext::from_pfx_file(options.cert_file, options.cert_password);
  }
  return net::TlsContext::from_pem_files(options.cert_file, options.key_file);
}

namespace {

constexpr int kMostCredentialLines = 1000;

// What holds for all accounts, the command line having the last word, and what particular accounts
// add to it.
void make_account_settings(const Options& options, const Configuration& file, Settings& settings) {
  AccountSwitches common = file.settings;
  for (const auto& [name, text] : options.account_settings)
    CHECK(set_account_setting(common, name, text));
  settings.account_settings = service::SettingsTable(common);
  settings.smb_rules = SmbRules(common.smb);
  for (const auto& [account, texts] : file.by_account) {
    AccountSwitches own = common;
    for (const auto& [name, text] : texts) CHECK(set_account_setting(own, name, text));
    settings.account_settings.set(account, own);
    settings.smb_rules.set(account, own.smb);
  }
}

// The server gives tokens to whoever asks, so only those who are on this machine may ask.
Result<void, std::string> check_local_tokens(const Settings& settings,
                                             const TokenConfiguration& tokens) {
  if (!tokens.jwks_file.empty() || !tokens.issuers.empty()) {
    return Failure{
        std::string("oauth.jwks and oauth.issuers are of another issuer: they go with --oauth "
                    "basic, not with --oauth local")};
  }
  std::vector<std::string> hosts = settings.hosts;
  for (const Listener listener : {Listener::kToken, Listener::kAdmin})
    hosts.push_back(settings.options[listener].host);
  const auto open = open_host(hosts);
  if (!open) return {};
  return Failure{"refusing to listen on " + *open +
                 " with --oauth local: this server gives tokens to whoever asks, so it listens on "
                 "loopback only. For other addresses there is --oauth basic with a key set"};
}

}  // namespace

Result<AccountList, std::string> all_accounts(const Settings& settings, AccountList of_file) {
  AccountList given = settings.environment_accounts;
  std::move(of_file.begin(), of_file.end(), std::back_inserter(given));
  return choose_accounts(std::move(given), settings.hosts, settings.options.insecure_off_loopback);
}

// Without a key set any token passes that looks right, so only those who are on this machine may
// bring one. Where everybody has the key anyhow, a token gives nothing more.
Result<void, std::string> check_token_rules(const Settings& settings, const AccountList& accounts) {
  if (!settings.token_rules || settings.token_rules->verifies()) return {};
  if (settings.options.insecure_off_loopback && is_well_known(accounts)) return {};
  const auto open = open_host(settings.hosts);
  if (!open) return {};
  return Failure{
      "refusing to listen on " + *open +
      " with --oauth basic and no key set: anyone who reaches this address could make "
      "tokens that pass. Name the key set of your token issuer as oauth.jwks in the file "
      "given by --config, or listen on loopback only"};
}

// Whoever hands over a file of accounts does not mean to let everybody in.
Result<void, std::string> check_credential(const std::string& empty, const AccountList& accounts) {
  if (empty.empty() || !is_well_known(accounts)) return {};
  return Failure{"refusing to serve the well-known account, whose key everybody knows: " + empty +
                 " is there for accounts and names none. Write a line name:key into the file it is "
                 "made of (LoadCredential= of the unit; /etc/kyanite/accounts on Debian), or name "
                 "accounts in the file given by --config"};
}

Result<Settings, std::string> make_settings(Options options, std::span<const Listener> served,
                                            const EnvironmentAccounts& environment_accounts) {
  Settings settings;
  auto given = parse_environment_accounts(environment_accounts);
  if (!given) return Failure{given.error()};
  settings.environment_accounts = std::move(*given);
  TokenConfiguration tokens;
  AccountList of_file;
  make_account_settings(options, {}, settings);
  if (!options.config_file.empty()) {
    settings.config_stamp = FileStamp::of(options.config_file);
    auto configuration = load_configuration(options.config_file);
    if (!configuration) return Failure{configuration.error()};
    make_account_settings(options, *configuration, settings);
    of_file = std::move(configuration->accounts);
    if (configuration->tokens && !options.oauth) {
      return Failure{options.config_file +
                     ": oauth settings are of no use without --oauth basic or --oauth local"};
    }
    if (configuration->tokens) tokens = std::move(*configuration->tokens);
  }

  for (Listener listener : served) {
    if (serves(options, listener)) settings.hosts.push_back(options[listener].host);
  }
  settings.options = std::move(options);
  auto accounts = all_accounts(settings, std::move(of_file));
  if (!accounts) return Failure{accounts.error()};
  settings.accounts = std::move(*accounts);
  if (auto meant = check_credential(environment_accounts.empty_credential, settings.accounts);
      !meant) {
    return Failure{meant.error()};
  }
  if (settings.options.local_tokens) {
    if (auto safe = check_local_tokens(settings, tokens); !safe) return Failure{safe.error()};
    settings.local_tokens = std::move(tokens);
  } else if (settings.options.oauth) {
    auto rules = make_token_rules(tokens);
    if (!rules) return Failure{rules.error()};
    settings.token_rules = std::move(*rules);
    if (auto safe = check_token_rules(settings, settings.accounts); !safe)
      return Failure{safe.error()};
  }
  if (!settings.options.cert_file.empty()) {
    auto tls = load_certificate(settings.options);
    if (!tls) return Failure{tls.error()};
    settings.tls = std::move(*tls);
  }
  return settings;
}

Result<EnvironmentAccounts, std::string> read_environment_accounts(const Environment& environment) {
  const auto value = [&](std::string_view variable) {
    const auto found = environment.find(variable);
    return found == environment.end() ? std::string() : found->second;
  };
  EnvironmentAccounts accounts;
  accounts.list = value(kAccountsVariable);
  if (accounts.list.empty()) accounts.list = value("AZURITE_ACCOUNTS");
  const std::string credentials = value(kCredentialsVariable);
  const std::string path = credentials + "/kyanite.accounts";
  if (credentials.empty() || !std::filesystem::exists(path)) return accounts;
  std::ifstream file(path);
  std::string line;
  bool named = false;
  for (int lines = 0; std::getline(file, line); ++lines) {
    if (lines == kMostCredentialLines) return Failure{path + " has too many lines"};
    accounts.list.append(";").append(line);
    named = named || line.find(':') != std::string::npos;
  }
  if (!file.eof()) return Failure{path + " cannot be read"};
  if (!named) accounts.empty_credential = path;
  return accounts;
}

Result<AccountList, std::string> parse_environment_accounts(const EnvironmentAccounts& accounts) {
  auto parsed = parse_account_list(accounts.list);
  if (!parsed) return Failure{"AZURITE_ACCOUNTS: " + parsed.error()};
  return parsed;
}

std::string open_to_all_notice(const Settings& settings) {
  const auto open = open_host(settings.hosts);
  const bool for_all = settings.options.insecure_off_loopback && is_well_known(settings.accounts);
  if (!open || !for_all) return {};
  return "Serving on " + *open +
         " with the well-known account, as --insecureOffLoopback says: whoever reaches this "
         "address can read and change everything";
}

std::string_view forgeable_tokens_notice(const Settings& settings) {
  if (!settings.token_rules || settings.token_rules->verifies()) return {};
  return "Signatures of bearer tokens are not verified, so anyone who reaches this server can make "
         "tokens that pass: name a key set (oauth.jwks in the file given by --config) to verify "
         "them";
}

std::vector<std::string> notices(const Options& options) {
  std::vector<std::string> sentences;
  for (const std::string& flag : options.without_effect) {
    sentences.push_back("Accepted without effect: " + flag);
  }
  sentences.insert(sentences.end(), options.doubtful.begin(), options.doubtful.end());
  return sentences;
}

}  // namespace kyanite::server
