#include "server/settings.h"

#include <algorithm>
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

// Without a key set any token passes that looks right, so only those who are on this machine may
// bring one.
Result<void, std::string> check_token_rules(const auth::TokenRules& rules,
                                            const std::vector<std::string>& hosts) {
  if (rules.verifies()) return {};
  const auto open = std::find_if_not(hosts.begin(), hosts.end(),
                                     [](const std::string& host) { return is_loopback(host); });
  if (open == hosts.end()) return {};
  return Failure{
      "refusing to listen on " + *open +
      " with --oauth basic and no key set: anyone who reaches this address could make "
      "tokens that pass. Name the key set of your token issuer as oauth.jwks in the file "
      "given by --config, or listen on loopback only"};
}

// The server gives tokens to whoever asks, so only those who are on this machine may ask.
Result<void, std::string> check_local_tokens(const Options& options, std::vector<std::string> hosts,
                                             const TokenConfiguration& tokens) {
  if (!tokens.jwks_file.empty() || !tokens.issuers.empty()) {
    return Failure{
        std::string("oauth.jwks and oauth.issuers are of another issuer: they go with --oauth "
                    "basic, not with --oauth local")};
  }
  for (const Listener listener : {Listener::kToken, Listener::kAdmin})
    hosts.push_back(options[listener].host);
  const auto open = std::find_if_not(hosts.begin(), hosts.end(),
                                     [](const std::string& host) { return is_loopback(host); });
  if (open == hosts.end()) return {};
  return Failure{"refusing to listen on " + *open +
                 " with --oauth local: this server gives tokens to whoever asks, so it listens on "
                 "loopback only. For other addresses there is --oauth basic with a key set"};
}

}  // namespace

Result<Settings, std::string> make_settings(Options options, std::span<const Listener> served,
                                            std::string_view environment_accounts) {
  auto given = parse_account_list(environment_accounts);
  if (!given) return Failure{"AZURITE_ACCOUNTS: " + given.error()};
  TokenConfiguration tokens;
  Settings settings;
  make_account_settings(options, {}, settings);
  if (!options.config_file.empty()) {
    auto configuration = load_configuration(options.config_file);
    if (!configuration) return Failure{configuration.error()};
    make_account_settings(options, *configuration, settings);
    std::move(configuration->accounts.begin(), configuration->accounts.end(),
              std::back_inserter(*given));
    if (configuration->tokens && !options.oauth) {
      return Failure{options.config_file +
                     ": oauth settings are of no use without --oauth basic or --oauth local"};
    }
    if (configuration->tokens) tokens = std::move(*configuration->tokens);
  }

  std::vector<std::string> hosts;
  for (Listener listener : served) hosts.push_back(options[listener].host);
  auto accounts = choose_accounts(std::move(*given), hosts);
  if (!accounts) return Failure{accounts.error()};

  settings.accounts = std::move(*accounts);
  if (options.local_tokens) {
    if (auto safe = check_local_tokens(options, hosts, tokens); !safe) return Failure{safe.error()};
    settings.local_tokens = std::move(tokens);
  } else if (options.oauth) {
    auto rules = make_token_rules(tokens);
    if (!rules) return Failure{rules.error()};
    if (auto safe = check_token_rules(*rules, hosts); !safe) return Failure{safe.error()};
    settings.token_rules = std::move(*rules);
  }
  if (!options.cert_file.empty()) {
    auto tls = load_certificate(options);
    if (!tls) return Failure{tls.error()};
    settings.tls = std::move(*tls);
  }
  settings.options = std::move(options);
  return settings;
}

std::string_view forgeable_tokens_notice(const Settings& settings) {
  if (!settings.token_rules || settings.token_rules->verifies()) return {};
  return "Signatures of bearer tokens are not verified, so anyone on this machine can make tokens "
         "that pass: name a key set (oauth.jwks in the file given by --config) to verify them";
}

std::vector<std::string> notices(const Options& options) {
  std::vector<std::string> sentences;
  for (const std::string& flag : options.without_effect) {
    sentences.push_back("Accepted without effect: " + flag);
  }
  return sentences;
}

}  // namespace kyanite::server
