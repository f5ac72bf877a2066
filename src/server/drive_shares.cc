#include "server/drive_shares.h"

#include <algorithm>
#include <utility>

#include "base/bytes.h"
#include "file/records.h"
#include "lifetime/directory.h"
#include "store/stored.h"

namespace kyanite::server {

namespace {
constexpr uint64_t kGiB = uint64_t{1} << 30;

constexpr size_t kMaxNameBytes = 63;

// Whether there can be a share of that name: what a peer sends may be long, and anything.
bool may_be_name(std::string_view name) {
  return name.size() <= kMaxNameBytes &&
         name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") == std::string_view::npos;
}

Time instant_of(const store::View::Cursor& cursor) {
  const auto key = store::Key::from_bytes(std::string(cursor.key()));
  return {static_cast<int64_t>(read_be64(key.row().data()))};
}
}  // namespace

DriveShares::DriveShares(const auth::Accounts& accounts, SmbRules rules,
                         tree::OpenFiles& open_files, tree::Usage& usage)
    : accounts_(accounts), rules_(std::move(rules)), open_files_(open_files), usage_(usage) {}

std::vector<auth::ntlm::Password> DriveShares::passwords(std::string_view account) const {
  return auth::ntlm::account_passwords(accounts_, account);
}

bool DriveShares::has_key(std::string_view account, uint64_t serial) const {
  const auto found = accounts_.find(account);
  return found != nullptr && found->has_key(serial);
}

drive::AccountRules DriveShares::rules(std::string_view account) const {
  return rules_.of(account);
}

Task<Result<std::optional<drive::Share>, store::Error>> DriveShares::find(store::Occasion& occasion,
                                                                          std::string_view account,
                                                                          std::string_view name) {
  const std::string stored_name = ascii_lower(name);
  if (!may_be_name(stored_name)) co_return std::optional<drive::Share>();
  const store::Key key(lifetime::directory_space(account), lifetime::kSharesFamily, stored_name);
  auto record = co_await occasion.store().get(key);
  if (!record) co_return record.error();
  auto found = store::decode_shared<file::Share>(std::move(*record));
  if (!found) co_return found.error();
  if (found->value == nullptr || found->value->properties.nfs)
    co_return std::optional<drive::Share>();
  drive::Share share;
  share.name = stored_name;
  share.tree = {found->value->space, found->value->created, &open_files_};
  share.quota_bytes = found->value->properties.quota_gib * kGiB;
  share.tree.usage = &usage_;
  usage_.set_quota(found->value->space, found->value->quota_bytes(), found->value->changed);
  co_return std::optional<drive::Share>(std::move(share));
}

Task<Result<std::vector<Time>, store::Error>> DriveShares::snapshots(store::Occasion& occasion,
                                                                     const drive::Share& share,
                                                                     size_t most) {
  std::vector<Time> instants;
  const auto range = store::Range::rows(share.tree.space, file::kSnapshots, file::kSharePartition);
  store::See see = [&](const store::View::Cursor& cursor) -> store::Result<bool> {
    instants.push_back(instant_of(cursor));
    return true;
  };
  // Their number has a limit of its own: the newest of all are wanted.
  auto done = co_await store::scan(occasion.store(), range, std::move(see), occasion.deadline);
  if (!done) co_return done.error();
  std::reverse(instants.begin(), instants.end());
  if (instants.size() > most) instants.resize(most);
  co_return instants;
}

Task<Result<std::optional<tree::Tree>, store::Error>> DriveShares::find_snapshot(
    store::Occasion& occasion, const drive::Share& share, Time second) {
  std::optional<tree::Tree> shown;
  const auto range = store::Range::rows(share.tree.space, file::kSnapshots, file::kSharePartition);
  store::See see = [&](const store::View::Cursor& cursor) -> store::Result<bool> {
    if (instant_of(cursor).seconds() != second.seconds()) return true;
    auto record = cursor.record();
    if (!record) return record.error();
    const auto snapshot = store::decode<file::Snapshot>((*record)->value);
    if (!snapshot) return store::Error::kCorrupt;
    shown = share.tree;
    shown->shown = snapshot->generation;
    return false;
  };
  auto done = co_await store::scan(occasion.store(), range, std::move(see), occasion.deadline);
  if (!done) co_return done.error();
  co_return shown;
}

}  // namespace kyanite::server
