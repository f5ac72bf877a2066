#include "drive/session.h"

#include <utility>

#include "base/check.h"
#include "drive/clients.h"
#include "drive/limits.h"

namespace kyanite::drive {

Bond Session::establish(const auth::ntlm::Session& who, const Terms& terms, const smb::Guid& client,
                        Places::Place place) {
  CHECK(!established());
  auto keys =
      smb::derive_session_keys(terms.dialect, terms.cipher, auth::ntlm::view(who.key), preauth);
  auto made = std::make_shared<Channel>(id_, terms.signing, keys.signing);
  if (terms.encrypts) made->encrypt(terms.cipher, keys, 0);
  Bond bond{who.user, name_within(who.user, client), terms, std::move(keys)};
  std::string account = who.user;
  // From here on nothing fails for want of memory.
  channel = std::move(made);
  renew(who.key_serial);
  client_ = bond.client;
  must_encrypt_ = terms.must_encrypt;
  place_ = std::move(place);
  account_ = std::move(account);
  return bond;
}

void Session::renew(uint64_t key_serial) {
  key_serial_ = key_serial;
  generation_ = 0;
}

bool Session::has_its_key(const Shares& shares) {
  const uint64_t generation = shares.generation();
  if (generation == generation_) return true;
  if (!shares.has_key(account_, key_serial_)) return false;
  generation_ = generation;
  return true;
}

std::shared_ptr<TreeConnect> Session::add_tree(TreeConnect tree) {
  if (ended_ || trees_.size() >= kMaxTrees || last_tree_ == UINT32_MAX - 1) return nullptr;
  tree.id = ++last_tree_;
  auto added = std::make_shared<TreeConnect>(std::move(tree));
  trees_.emplace(added->id, added);
  return added;
}

std::shared_ptr<TreeConnect> Session::find_tree(uint32_t id) const {
  const auto found = trees_.find(id);
  return found == trees_.end() ? nullptr : found->second;
}

bool Session::end_tree(TreeConnect& tree) {
  if (trees_.erase(tree.id) == 0) return false;
  tree.place = {};
  return true;
}

size_t Session::end_trees() {
  const size_t count = trees_.size();
  for (auto& [id, tree] : std::exchange(trees_, {})) tree->place = {};
  return count;
}

bool Session::add_open(const std::shared_ptr<Open>& open) {
  if (ended_ || opens_.size() >= kMaxOpens) return false;
  open->id.volatile_id = ++last_open_;
  opens_.emplace(open->id.volatile_id, open);
  if (open->file.handle != 0) volatile_ids_[open->file.handle] = open->id.volatile_id;
  ++open->tree->opens;
  return true;
}

std::shared_ptr<Open> Session::find_open(const smb::FileId& id) const {
  const auto found = opens_.find(id.volatile_id);
  if (found == opens_.end() || found->second->id != id) return nullptr;
  return found->second;
}

std::shared_ptr<Open> Session::find_by_handle(tree::HandleId handle) const {
  const auto known = volatile_ids_.find(handle);
  return known == volatile_ids_.end() ? nullptr : opens_.at(known->second);
}

void Session::remove_open(const Open& open) {
  if (opens_.erase(open.id.volatile_id) == 0) return;
  volatile_ids_.erase(open.file.handle);
  --open.tree->opens;
}

std::vector<std::shared_ptr<Open>> Session::take_opens(const TreeConnect* of) {
  std::vector<std::shared_ptr<Open>> taken;
  if (of != nullptr && of->opens == 0) return taken;
  for (const auto& [id, open] : opens_) {
    if (of == nullptr || open->tree.get() == of) taken.push_back(open);
  }
  for (const auto& open : taken) remove_open(*open);
  return taken;
}

}  // namespace kyanite::drive
