#include "server/account_reload.h"

#include "base/log.h"
#include "server/configuration.h"

namespace kyanite::server {

AccountReload::AccountReload(const Settings& settings, auth::Accounts& accounts,
                             std::function<void()> changed)
    : settings_(settings),
      accounts_(accounts),
      changed_(std::move(changed)),
      seen_(settings.config_stamp),
      well_known_(is_well_known(settings.accounts)) {}

Result<AccountList, std::string> AccountReload::read() const {
  const auto configuration = load_configuration(settings_.options.config_file);
  if (!configuration) return Failure{configuration.error()};
  auto accounts = all_accounts(settings_, configuration->accounts);
  if (!accounts) return Failure{settings_.options.config_file + ": " + accounts.error()};
  // Whoever takes the last account away does not mean to let everybody in.
  if (is_well_known(*accounts) && !well_known_) {
    return Failure{settings_.options.config_file + ": there is no account left"};
  }
  if (auto safe = check_token_rules(settings_, *accounts); !safe) return Failure{safe.error()};
  // It would be served as if it had none, and make things that cannot be changed later.
  for (const auto& [account, own] : configuration->by_account) {
    if (accounts_.find(account) != nullptr) continue;
    return Failure{settings_.options.config_file + ": the new account " + account +
                   " has settings of its own, which takes a restart"};
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
  well_known_ = is_well_known(*accounts);
  const std::string count = std::to_string(accounts->size());
  accounts_.replace(std::move(*accounts));
  changed_();
  log_info("accounts read again from " + settings_.options.config_file + ", now " + count +
           "; what else it says holds from the next start");
}

}  // namespace kyanite::server
