#include "blob/admission.h"

#include "auth/authorize.h"
#include "blob/heads.h"
#include "service/operation.h"
#include "service/storage.h"
#include "store/fields.h"

namespace kyanite::blob {

using service::Call;
namespace posix = auth::posix;
using posix::Act;

bool asks_paths(const Call& call) {
  return call.caller.has_identity() && auth::asks_paths(call.caller, call.operation->need);
}

wire::Error not_admitted() { return wire::Code::kAuthorizationPermissionMismatch; }

wire::Result<void> admit_through(const Call& call, const Blob& directory) {
  if (!asks_paths(call)) return {};
  const auto identity = auth::identity_of(call.caller);
  if (!posix::grants(identity, directory.node->access, posix::kExecute)) return not_admitted();
  return {};
}

std::vector<const posix::AccessControl*> parents_on(const Way& way) {
  std::vector<const posix::AccessControl*> parents;
  if (way.to_root()) return parents;
  parents.reserve(way.directories.size());
  for (const auto& directory : way.directories) parents.push_back(&directory.blob->node->access);
  return parents;
}

bool is_held_to_sticky_bit(const auth::Caller& caller) {
  return caller.names_user && !caller.permissions.has('o');
}

posix::Identity held_identity(const auth::Caller& caller) {
  posix::Identity identity = auth::identity_of(caller);
  if (is_held_to_sticky_bit(caller)) identity.superuser = false;
  return identity;
}

namespace {

bool removes(Act act) {
  return act == Act::kCreate || act == Act::kDelete || act == Act::kDeleteTree;
}

bool may_remove(const auth::Caller& caller, const Way& way, const Blob& object) {
  return !is_held_to_sticky_bit(caller) ||
         posix::may_remove(held_identity(caller), way.parent().node->access, object.node->access);
}

}  // namespace

wire::Result<void> admit(const Call& call, Act act, const Way& way, const Blob* object) {
  if (!call.caller.has_identity()) return {};
  if (object == nullptr && act != Act::kCreate) return {};
  if (object != nullptr && removes(act) && !may_remove(call.caller, way, *object))
    return not_admitted();
  if (!asks_paths(call)) return {};
  const auto parents = parents_on(way);
  const auto* control = object == nullptr ? nullptr : &object->node->access;
  if (!posix::allowed(auth::identity_of(call.caller), act, parents, control)) return not_admitted();
  return {};
}

wire::Result<void> admit(const Call& call, const Way& way, const Blob* object) {
  if (!call.caller.has_identity() || !call.operation->need.act) return {};
  return admit(call, *call.operation->need.act, way, object);
}

wire::Result<void> admit_uncommitted(const Call& call, const Way& way) {
  return admit(call, Act::kCreate, way, nullptr);
}

std::optional<ListingAsker> listing_asker(const Call& call, const Container& container) {
  if (!container.hierarchical || !asks_paths(call)) return std::nullopt;
  return ListingAsker{auth::identity_of(call.caller), bare_root(container)};
}

bool may_list(const ListingAsker& asker, const Blob& directory) {
  return posix::grants(asker.identity, directory.node->access, posix::kRead | posix::kExecute);
}

store::Result<bool> may_list(const store::View& view, store::SpaceId space,
                             const ListingAsker& asker, std::string_view directory) {
  Blob at = asker.bare_root;
  std::string partition = named_partition(at.node_id, {});
  while (true) {
    auto record = view.get(store::Key(space, kHeads, partition));
    if (!record) return record.error();
    const bool is_root = partition.size() == sizeof(uint64_t);
    if (*record == nullptr && !is_root) return true;
    if (*record != nullptr) {
      auto blob = store::decode<Blob>((*record)->value);
      if (!blob || !blob->node) return store::Error::kCorrupt;
      at = std::move(*blob);
    }
    if (!at.is_directory()) return true;
    if (directory.empty()) return may_list(asker, at);
    if (!posix::grants(asker.identity, at.node->access, posix::kExecute)) return false;
    const size_t slash = directory.find('/');
    partition = named_partition(at.node_id, directory.substr(0, slash));
    directory.remove_prefix(slash == std::string_view::npos ? directory.size() : slash + 1);
  }
}

namespace {

// The file or directory at this path.
Task<wire::Result<std::shared_ptr<const Blob>>> find_at(Call& call, const Container& container,
                                                        std::string_view path) {
  auto way = co_await follow(call, container, path, Parents::kNeeded);
  if (!way) co_return way.error();
  if ((*way)->to_root()) co_return (*way)->directories.front().blob;
  const store::Key key(lake_space(call.target.account), kHeads, (*way)->named);
  auto found = co_await service::load_shared<Blob>(call, key);
  if (!found) co_return found.error();
  if (found->value == nullptr) co_return wire::Error(wire::Code::kBlobNotFound);
  co_return std::move(found->value);
}

}  // namespace

Task<wire::Result<void>> admit_listing(Call& call, const Container& container,
                                       std::string_view directory, std::string_view first) {
  const auto asker = listing_asker(call, container);
  if (!asker) co_return wire::Result<void>();
  auto top = co_await find_at(call, container, directory);
  if (!top) co_return top.error();
  // A file is listed as itself, which takes no more than the way to it.
  if (!(*top)->is_directory()) co_return wire::Result<void>();
  if (!may_list(*asker, **top)) co_return not_admitted();
  const size_t inside = directory.empty() ? 0 : directory.size() + 1;
  if (first.substr(0, directory.size()) != directory) co_return wire::Result<void>();
  for (size_t slash = first.find('/', inside); slash != std::string_view::npos;
       slash = first.find('/', slash + 1)) {
    auto below = co_await find_at(call, container, first.substr(0, slash));
    // What is gone meanwhile is listed by nobody.
    if (!below && below.error().status == 404) break;
    if (!below) co_return below.error();
    if (!(*below)->is_directory()) break;
    if (!may_list(*asker, **below)) co_return not_admitted();
  }
  co_return wire::Result<void>();
}

}  // namespace kyanite::blob
