// The switches of accounts by name, as the command line and the configuration file spell them.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "drive/shares.h"
#include "service/settings.h"

namespace kyanite::server {

// All switches of an account: those of its services, and whom it lets in by SMB.
struct AccountSwitches : service::AccountSettings {
  drive::AccountRules smb;
};

// Whom all accounts and particular ones let in by SMB.
class SmbRules {
 public:
  SmbRules() = default;
  explicit SmbRules(drive::AccountRules common) : common_(common), may_encrypt_(encrypts(common)) {}

  void set(std::string account, drive::AccountRules rules) {
    by_account_[std::move(account)] = rules;
    may_encrypt_ = may_encrypt_ || encrypts(rules);
  }
  drive::AccountRules of(std::string_view account) const {
    const auto found = by_account_.find(account);
    return found == by_account_.end() ? common_ : found->second;
  }

  // Whether there may be an account that does not refuse to encrypt.
  bool may_encrypt() const { return may_encrypt_; }

 private:
  static bool encrypts(const drive::AccountRules& rules) {
    return rules.encryption != drive::Encryption::kOff;
  }

  drive::AccountRules common_;
  bool may_encrypt_ = true;
  std::map<std::string, drive::AccountRules, std::less<>> by_account_;
};

// Sets one of: blobVersioning, blobImmutability, blobExpiry (true or false),
// containerRetentionDays, shareRetentionDays, deletionWindowSeconds, rehydrationSeconds (numbers),
// smbEncryption (offLoopback, required, allowed, off), smbLeastDialect (2.1, 3.0, 3.0.2, 3.1.1);
// texts may be in quotes. The error is a sentence.
Result<void, std::string> set_account_setting(AccountSwitches& settings, std::string_view name,
                                              std::string_view value);

}  // namespace kyanite::server
