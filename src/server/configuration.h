// The configuration file: what does not fit on a command line, in JSON.
//
//   {
//     "accounts": [{"name": "acme", "keys": ["<base64>"], "settings": {"blobVersioning": true}}],
//     "settings": {"containerRetentionDays": 7},
//     "oauth": {"jwks": "keys.json", "issuers": ["https://login.example/"], "audiences": ["..."],
//               "roles": {"<object id>": "reader"}, "defaultRole": "none"}
//   }
//
// Every member may be left out; an unknown one is an error, so that a misspelt setting is never
// silently without effect.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "auth/bearer.h"
#include "base/result.h"
#include "server/account_settings.h"
#include "server/accounts.h"

namespace kyanite::server {

// What bearer tokens are held against.
struct TokenConfiguration {
  std::string jwks_file;  // Public keys that sign tokens. Empty: signatures are not verified.
  std::vector<std::string> issuers;    // Besides Azure's own; as prefixes.
  std::vector<std::string> audiences;  // Besides Azure's own.
  // Of users, applications and groups, by object id; and of whoever is not among them.
  std::vector<std::pair<std::string, auth::Role>> roles;
  auth::Role default_role = auth::Role::kOwner;
};

struct Configuration {
  AccountList accounts;
  AccountSwitches settings;  // of all accounts but those named next
  // Settings of particular accounts, as written: applied on top of what holds for all.
  std::vector<std::pair<std::string, std::vector<std::pair<std::string, std::string>>>> by_account;
  std::optional<TokenConfiguration> tokens;
};

// The error says where in the text it is wrong.
Result<Configuration, std::string> parse_configuration(std::string_view json);

// A relative name of the key file is taken from the directory of the configuration file.
Result<Configuration, std::string> load_configuration(const std::string& path);

// Rules for tokens that are signed by these keys.
auth::TokenRules make_token_rules(const TokenConfiguration& tokens,
                                  std::optional<auth::KeySet> keys);
// Reads the key file, if one is named.
Result<auth::TokenRules, std::string> make_token_rules(const TokenConfiguration& tokens);

}  // namespace kyanite::server
