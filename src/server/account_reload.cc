#include "server/account_reload.h"

#include "base/log.h"
#include "server/configuration.h"

namespace kyanite::server {

AccountReload::AccountReload(const Settings& settings, auth::Accounts& accounts,
                             std::function<void(const std::string&)> added)
    : settings_(settings),
      accounts_(accounts),
      added_(std::move(added)),
      seen_(settings.config_stamp) {}

Result<AccountList, std::string> AccountReload::read() const {
  const auto configuration = load_configuration(settings_.options.config_file);
  if (!configuration) return Failure{configuration.error()};
  auto accounts = all_accounts(settings_, configuration->accounts);
  if (!accounts) return Failure{settings_.options.config_file + ": " + accounts.error()};
  // Whoever takes the last account away does not mean to let everybody in.
  if (is_well_known(*accounts) && !is_well_known(settings_.accounts)) {
    return Failure{settings_.options.config_file + ": there is no account left"};
  }
  return accounts;
}

void AccountReload::check() {
  const FileStamp now = FileStamp::of(settings_.options.config_file);
  if (now == seen_) return;
  seen_ = now;
  auto accounts = read();
  if (!accounts) {
    log_error("the changed accounts are not used, those from before stay: " + accounts.error());
    return;
  }
  const std::string count = std::to_string(accounts->size());
  accounts_.replace(std::move(*accounts));
  for (const std::string& account : accounts_.names()) added_(account);
  log_info("accounts read again from " + settings_.options.config_file + ", now " + count +
           "; what else it says holds from the next start");
}

}  // namespace kyanite::server
