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

}  // namespace

Result<void, std::string> set_account_setting(service::AccountSettings& settings,
                                              std::string_view name, std::string_view value) {
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
  return "there is no account setting '" + shown +
         "' (blobVersioning, blobImmutability, blobExpiry, containerRetentionDays, "
         "shareRetentionDays, "
         "deletionWindowSeconds, rehydrationSeconds)";
}

}  // namespace kyanite::server
