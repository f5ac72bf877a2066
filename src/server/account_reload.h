// Reads the accounts again when their file changes, so that keys rotate and accounts come and go
// while the server serves. Requests in flight end with the keys they began with.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "auth/account.h"
#include "server/file_stamp.h"
#include "server/settings.h"

namespace kyanite::server {

class AccountReload {
 public:
  // All must outlive this. `changed` is called after each change.
  AccountReload(const Settings& settings, auth::Accounts& accounts, std::function<void()> changed);

  // Looks whether the file is another one than the last time, and takes over what it says. A file
  // that cannot be used changes nothing, and the log says so. Reads from the disk.
  void check();

 private:
  Result<AccountList, std::string> read() const;

  const Settings& settings_;
  auth::Accounts& accounts_;
  const std::function<void()> changed_;
  FileStamp seen_;
  bool well_known_;  // All that is served now is the account that everybody has the key of.
};

}  // namespace kyanite::server
