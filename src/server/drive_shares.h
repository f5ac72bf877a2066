// The accounts of this server and the shares of its File service, for clients of SMB.
#pragma once

#include <map>
#include <string>

#include "auth/account.h"
#include "auth/ntlm.h"
#include "drive/shares.h"
#include "server/account_settings.h"
#include "tree/open_files.h"

namespace kyanite::server {

class DriveShares final : public drive::Shares {
 public:
  // `accounts` and the File service's `open_files` outlive this.
  DriveShares(const auth::Accounts& accounts, SmbRules rules, tree::OpenFiles& open_files,
              tree::Usage& usage);

  std::vector<auth::ntlm::Password> passwords(std::string_view account) const override;
  uint64_t generation() const override { return accounts_.generation(); }
  bool has_key(std::string_view account, uint64_t serial) const override;
  drive::AccountRules rules(std::string_view account) const override;
  bool may_encrypt() const override { return rules_.may_encrypt(); }
  Task<Result<std::optional<drive::Share>, store::Error>> find(store::Occasion& occasion,
                                                               std::string_view account,
                                                               std::string_view name) override;
  Task<Result<std::vector<Time>, store::Error>> snapshots(store::Occasion& occasion,
                                                          const drive::Share& share,
                                                          size_t most) override;
  Task<Result<std::optional<tree::Tree>, store::Error>> find_snapshot(store::Occasion& occasion,
                                                                      const drive::Share& share,
                                                                      Time second) override;

 private:
  const auth::Accounts& accounts_;
  const SmbRules rules_;
  tree::OpenFiles& open_files_;
  tree::Usage& usage_;
};

}  // namespace kyanite::server
