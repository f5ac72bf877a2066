#include "server/account_settings.h"

#include <cstdint>

#include "base/bytes.h"

namespace kyanite::server {

namespace {

struct Switch {
  std::string_view name;
  bool service::AccountSettings::*member;
};
constexpr Switch kSwitches[] = {
    {"blobVersioning", &service::AccountSettings::blob_versioning},
    {"blobImmutability", &service::AccountSettings::blob_immutability},
    {"blobExpiry", &service::AccountSettings::blob_expiry},
    {"hierarchicalNamespace", &service::AccountSettings::hierarchical_namespace},
};

struct Number {
  std::string_view name;
  uint32_t service::AccountSettings::*member;
  uint32_t most;
};
constexpr Number kNumbers[] = {
    {"containerRetentionDays", &service::AccountSettings::container_retention_days, 365},
    {"shareRetentionDays", &service::AccountSettings::share_retention_days, 365},
    {"deletionWindowSeconds", &service::AccountSettings::deletion_window_s, 3600},
    {"rehydrationSeconds", &service::AccountSettings::rehydration_s, 15 * 3600},
};

struct EncryptionName {
  std::string_view name;
  drive::Encryption value;
};
constexpr EncryptionName kEncryptions[] = {
    {"offLoopback", drive::Encryption::kOffLoopback},
    {"required", drive::Encryption::kRequired},
    {"allowed", drive::Encryption::kAllowed},
    {"off", drive::Encryption::kOff},
};

constexpr smb::Dialect kDialects[] = {smb::Dialect::kSmb210, smb::Dialect::kSmb300,
                                      smb::Dialect::kSmb302, smb::Dialect::kSmb311};

// The configuration file has texts in quotes, the command line has none.
std::string_view without_quotes(std::string_view value) {
  if (value.size() >= 2 && value.front() == '"' && value.back() == '"')
    return value.substr(1, value.size() - 2);
  return value;
}

Result<void, std::string> set_encryption(drive::AccountRules& rules, std::string_view value) {
  for (const auto& known : kEncryptions) {
    if (value != known.name) continue;
    rules.encryption = known.value;
    return {};
  }
  return std::string("smbEncryption must be offLoopback, required, allowed or off");
}

Result<void, std::string> set_least_dialect(drive::AccountRules& rules, std::string_view value) {
  for (const smb::Dialect dialect : kDialects) {
    if (value != smb::name(dialect)) continue;
    rules.least_dialect = dialect;
    return {};
  }
  return std::string("smbLeastDialect must be 2.1, 3.0, 3.0.2 or 3.1.1");
}

}  // namespace

Result<void, std::string> set_account_setting(AccountSwitches& settings, std::string_view name,
                                              std::string_view value) {
  const std::string shown(name);
  for (const auto& known : kSwitches) {
    if (name != known.name) continue;
    if (value != "true" && value != "false") return shown + " must be true or false";
    settings.*known.member = value == "true";
    return {};
  }
  for (const auto& known : kNumbers) {
    if (name != known.name) continue;
    const auto number = parse_uint(value);
    if (!number || *number > known.most) {
      return shown + " must be a number from 0 to " + std::to_string(known.most);
    }
    settings.*known.member = static_cast<uint32_t>(*number);
    return {};
  }
  if (name == "smbEncryption") return set_encryption(settings.smb, without_quotes(value));
  if (name == "smbLeastDialect") return set_least_dialect(settings.smb, without_quotes(value));
  return "there is no account setting '" + shown +
         "' (blobVersioning, blobImmutability, blobExpiry, containerRetentionDays, "
         "shareRetentionDays, deletionWindowSeconds, rehydrationSeconds, smbEncryption, "
         "smbLeastDialect)";
}

}  // namespace kyanite::server
