#include "blob/admission.h"

#include "auth/authorize.h"
#include "blob/heads.h"
#include "service/operation.h"
#include "service/storage.h"

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

namespace {

bool removes(Act act) {
  return act == Act::kCreate || act == Act::kDelete || act == Act::kDeleteTree;
}

// Who is vouched for (saoid) is not asked, but in a directory with the sticky bit it removes only
// what is its own, unless its SAS makes it an owner (o).
bool may_remove(const auth::Caller& caller, const Way& way, const Blob& object) {
  if (!caller.names_user || caller.permissions.has('o')) return true;
  posix::Identity identity = auth::identity_of(caller);
  identity.superuser = false;
  return posix::may_remove(identity, way.parent().node->access, object.node->access);
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

bool may_list(const posix::Identity& identity, const Blob& directory) {
  return posix::grants(identity, directory.node->access, posix::kRead | posix::kExecute);
}

wire::Result<void> admit_listing(const Call& call, const Blob& directory) {
  if (asks_paths(call) && !may_list(auth::identity_of(call.caller), directory))
    return not_admitted();
  return {};
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
  if (!container.hierarchical || !asks_paths(call)) co_return wire::Result<void>();
  auto top = co_await find_at(call, container, directory);
  if (!top) co_return top.error();
  // A file is listed as itself, which takes no more than the way to it.
  if (!(*top)->is_directory()) co_return wire::Result<void>();
  if (auto admitted = admit_listing(call, **top); !admitted) co_return admitted.error();
  const size_t inside = directory.empty() ? 0 : directory.size() + 1;
  if (first.substr(0, directory.size()) != directory) co_return wire::Result<void>();
  for (size_t slash = first.find('/', inside); slash != std::string_view::npos;
       slash = first.find('/', slash + 1)) {
    auto below = co_await find_at(call, container, first.substr(0, slash));
    // What is gone meanwhile is listed by nobody.
    if (!below && below.error().status == 404) break;
    if (!below) co_return below.error();
    if (!(*below)->is_directory()) break;
    if (auto admitted = admit_listing(call, **below); !admitted) co_return admitted.error();
  }
  co_return wire::Result<void>();
}

}  // namespace kyanite::blob
