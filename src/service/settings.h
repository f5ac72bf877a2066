// What Azure keeps in its management plane: switches of an account that no data-plane request can
// set. They come from the configuration file and the command line.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace kyanite::service {

struct AccountSettings {
  bool blob_versioning = false;    // Writes keep the former state as a version.
  bool blob_immutability = false;  // Retention policies and legal holds can be set on blobs.
  bool blob_expiry = false;        // Blobs can be given a time at which they vanish.
  // New containers have directories: Data Lake Storage.
  bool hierarchical_namespace = false;
  // Deleted containers can be restored this long; 0: not at all.
  uint32_t container_retention_days = 0;
  // The same for shares.
  uint32_t share_retention_days = 0;
  // How long the name of a deleted container or share stays taken; in Azure at least 30 s.
  uint32_t deletion_window_s = 0;
  // How long bringing a blob back from the archive takes.
  uint32_t rehydration_s = 60;
};

// Settings for all accounts and for particular ones. Immutable while serving.
class SettingsTable {
 public:
  SettingsTable() = default;
  explicit SettingsTable(AccountSettings common) : common_(common) {}

  void set(std::string account, AccountSettings settings) {
    by_account_[std::move(account)] = settings;
  }
  const AccountSettings& of(std::string_view account) const {
    const auto found = by_account_.find(account);
    return found == by_account_.end() ? common_ : found->second;
  }

 private:
  AccountSettings common_;
  std::map<std::string, AccountSettings, std::less<>> by_account_;
};

}  // namespace kyanite::service
