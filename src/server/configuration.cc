#include "server/configuration.h"

#include <simdjson.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "server/account_settings.h"

namespace kyanite::server {

namespace {

namespace json = simdjson::dom;
using Outcome = Result<void, std::string>;

constexpr size_t kLargestFileBytes = 1024 * 1024;

Failure<std::string> expected(std::string_view where, std::string_view what) {
  return Failure{std::string(where).append(" must be ").append(what)};
}

Failure<std::string> unknown_member(std::string_view where, std::string_view member) {
  std::string message(where);
  return Failure{message.append(" has no setting '").append(member).append("'")};
}

Outcome read_text(json::element value, std::string_view where, std::string& out) {
  std::string_view text;
  if (value.get(text) != simdjson::SUCCESS || text.empty()) return expected(where, "a text");
  out = text;
  return {};
}

Outcome read_texts(json::element value, std::string_view where, std::vector<std::string>& out) {
  json::array items;
  if (value.get(items) != simdjson::SUCCESS) return expected(where, "a list of texts");
  for (json::element item : items) {
    if (auto read = read_text(item, "each of " + std::string(where), out.emplace_back()); !read) {
      return read;
    }
  }
  return {};
}

using SettingTexts = std::vector<std::pair<std::string, std::string>>;

// Settings as names and texts; each is tried, so that a mistake shows here.
Outcome read_settings(json::element value, SettingTexts& out) {
  json::object members;
  if (value.get(members) != simdjson::SUCCESS) return expected("settings", "an object");
  AccountSwitches scratch;
  for (auto [member, content] : members) {
    const std::string text = simdjson::minify(content);
    if (auto set = set_account_setting(scratch, member, text); !set) return Failure{set.error()};
    out.emplace_back(member, text);
  }
  return {};
}

Outcome read_account(json::element value, Configuration& out) {
  json::object members;
  if (value.get(members) != simdjson::SUCCESS) return expected("each of accounts", "an object");
  std::string account_name;
  std::vector<std::string> keys;
  SettingTexts settings;
  for (auto [member, content] : members) {
    Outcome read;
    if (member == "name") {
      read = read_text(content, "accounts.name", account_name);
    } else if (member == "keys") {
      read = read_texts(content, "accounts.keys", keys);
    } else if (member == "settings") {
      read = read_settings(content, settings);
    } else {
      return unknown_member("an account", member);
    }
    if (!read) return read;
  }
  auto account = make_account(account_name, {keys.begin(), keys.end()});
  if (!account) return Failure{account.error()};
  if (!settings.empty()) out.by_account.emplace_back(account->name, std::move(settings));
  out.accounts.push_back(std::move(*account));
  return {};
}

Outcome read_accounts(json::element value, Configuration& out) {
  json::array accounts;
  if (value.get(accounts) != simdjson::SUCCESS) return expected("accounts", "a list");
  for (json::element account : accounts) {
    if (auto read = read_account(account, out); !read) return read;
  }
  return {};
}

Outcome read_role(json::element value, std::string_view where, auth::Role& out) {
  std::string_view text;
  const bool is_text = value.get(text) == simdjson::SUCCESS;
  const auto role = is_text ? auth::parse_role(text) : std::nullopt;
  if (!role) return expected(where, "owner, contributor, reader or none");
  out = *role;
  return {};
}

Outcome read_roles(json::element value, TokenConfiguration& out) {
  json::object members;
  if (value.get(members) != simdjson::SUCCESS) return expected("oauth.roles", "an object");
  for (auto [member, content] : members) {
    auto& [id, role] = out.roles.emplace_back();
    id = member;
    if (auto read = read_role(content, "each of oauth.roles", role); !read) return read;
  }
  return {};
}

Outcome read_tokens(json::element value, TokenConfiguration& out) {
  json::object members;
  if (value.get(members) != simdjson::SUCCESS) return expected("oauth", "an object");
  for (auto [member, content] : members) {
    Outcome read;
    if (member == "jwks") {
      read = read_text(content, "oauth.jwks", out.jwks_file);
    } else if (member == "issuers") {
      read = read_texts(content, "oauth.issuers", out.issuers);
    } else if (member == "audiences") {
      read = read_texts(content, "oauth.audiences", out.audiences);
    } else if (member == "roles") {
      read = read_roles(content, out);
    } else if (member == "defaultRole") {
      read = read_role(content, "oauth.defaultRole", out.default_role);
    } else {
      return unknown_member("oauth", member);
    }
    if (!read) return read;
  }
  return {};
}

constexpr const char* kUnreadable = ": cannot be read, or is larger than 1 MiB";

std::optional<std::string> read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text(kLargestFileBytes + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(file.gcount()));
  if (file.bad() || !file.eof() || text.size() > kLargestFileBytes) return std::nullopt;
  return text;
}

}  // namespace

Result<Configuration, std::string> parse_configuration(std::string_view text) {
  json::parser parser;
  json::element root;
  // Copies the text behind the padding simdjson needs.
  if (auto error = parser.parse(text.data(), text.size()).get(root); error != simdjson::SUCCESS) {
    return Failure{std::string("not JSON: ") + simdjson::error_message(error)};
  }
  json::object members;
  if (root.get(members) != simdjson::SUCCESS) return expected("the whole", "an object");
  Configuration configuration;
  for (auto [member, content] : members) {
    Outcome read;
    if (member == "accounts") {
      read = read_accounts(content, configuration);
    } else if (member == "settings") {
      SettingTexts texts;
      read = read_settings(content, texts);
      for (const auto& [name, setting] : texts) {
        CHECK(set_account_setting(configuration.settings, name, setting));  // Tried above.
      }
    } else if (member == "oauth") {
      read = read_tokens(content, configuration.tokens.emplace());
    } else {
      return unknown_member("the configuration", member);
    }
    if (!read) return Failure{read.error()};
  }
  return configuration;
}

Result<Configuration, std::string> load_configuration(const std::string& path) {
  const auto text = read_file(path);
  if (!text) return Failure{path + kUnreadable};
  auto configuration = parse_configuration(*text);
  if (!configuration) return Failure{path + ": " + configuration.error()};
  if (configuration->tokens && !configuration->tokens->jwks_file.empty()) {
    std::string& jwks = configuration->tokens->jwks_file;
    jwks = (std::filesystem::path(path).parent_path() / jwks).string();
  }
  return configuration;
}

auth::TokenRules make_token_rules(const TokenConfiguration& tokens,
                                  std::optional<auth::KeySet> keys) {
  auth::Roles roles(tokens.default_role);
  for (const auto& [id, role] : tokens.roles) roles.give(id, role);
  return auth::TokenRules(tokens.issuers, tokens.audiences, std::move(keys), std::move(roles));
}

Result<auth::TokenRules, std::string> make_token_rules(const TokenConfiguration& tokens) {
  if (tokens.jwks_file.empty()) return make_token_rules(tokens, std::nullopt);
  const auto text = read_file(tokens.jwks_file);
  if (!text) return Failure{tokens.jwks_file + kUnreadable};
  auto keys = auth::KeySet::parse(*text);
  if (!keys) return Failure{tokens.jwks_file + ": " + keys.error()};
  return make_token_rules(tokens, std::move(*keys));
}

}  // namespace kyanite::server
