// The switches of accounts by name, as the command line and the configuration file spell them.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "service/settings.h"

namespace kyanite::server {

// Sets one of: blobVersioning, blobImmutability (true or false), containerRetentionDays,
// shareRetentionDays, deletionWindowSeconds, rehydrationSeconds (numbers). The error is a sentence.
Result<void, std::string> set_account_setting(service::AccountSettings& settings,
                                              std::string_view name, std::string_view value);

}  // namespace kyanite::server
