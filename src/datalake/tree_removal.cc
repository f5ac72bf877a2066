#include "datalake/tree_removal.h"

#include "auth/authorize.h"
#include "base/bytes.h"
#include "base/check.h"
#include "blob/admission.h"
#include "datalake/access.h"
#include "datalake/drafts.h"
#include "datalake/portion.h"
#include "datalake/tree_token.h"
#include "wire/version.h"

namespace kyanite::datalake {

using blob::Blob;
using service::Call;
using wire::Code;
namespace posix = auth::posix;

namespace {

constexpr size_t kLookedAtOnce = 1000;
// Of one request with paginated=true.
constexpr size_t kMostChecked = 20'000;
// How long what was seen counts.
constexpr int64_t kTokenSeconds = 3600;

// A token holds for this caller and this directory.
std::string bound_of(const Call& call, uint64_t directory) {
  std::string bound = "kyanite tree removal 1\n";
  append_bound(bound, call.caller.object_id);
  append_be64(bound, directory);
  return bound;
}

std::string write_place(const Call& call, uint64_t directory, std::string_view next) {
  std::string said;
  append_be64(said, static_cast<uint64_t>(call.now.unix_seconds()));
  said += next;
  return write_token(call, bound_of(call, directory), said);
}

// The path to go on from; "" at the beginning.
wire::Result<std::string> read_place(const Call& call, uint64_t directory) {
  auto said = read_token(call, bound_of(call, directory));
  if (!said) return said.error();
  if (!*said) return std::string();
  if ((*said)->size() < sizeof(uint64_t)) return invalid_token(call);
  const auto given = static_cast<int64_t>(read_be64((*said)->data()));
  if (call.now.unix_seconds() - given > kTokenSeconds) return invalid_token(call);
  return (*said)->substr(sizeof(uint64_t));
}

// Who is held to the sticky bit, and whether to access control besides.
struct Asker {
  posix::Identity identity;
  bool asks_paths = false;
};

bool may_take(const Asker& asker, const Portion& portion, const Blob& top) {
  Trail<const Blob*> trail;
  for (const TreeHead& head : portion.above) trail.enter(head.path, &head.blob);
  for (const TreeHead& head : portion.heads) {
    trail.come_to(head.path);
    const Blob& directory = trail.empty() ? top : *trail.last();
    const auto& access = head.blob.node->access;
    if (!posix::may_remove(asker.identity, directory.node->access, access)) return false;
    if (!head.blob.is_directory()) continue;
    if (asker.asks_paths && !posix::may_empty(asker.identity, access)) return false;
    trail.enter(head.path, &head.blob);
  }
  return true;
}

// Whom what lies in a tree can keep from deleting it.
bool needs_look(const Call& call) {
  return blob::asks_paths(call) || blob::is_held_to_sticky_bit(call.caller);
}

}  // namespace

wire::Result<void> check_taken(const Call& call, const TreeCheck& check, const Blob& directory) {
  // What lies in the directory is beyond a SAS for one path.
  if (is_of_one_path(call.caller)) return wire::Error(Code::kAuthorizationFailure);
  // Another one came to its place meanwhile.
  if (needs_look(call) && directory.node_id != check.directory) return blob::not_admitted();
  return {};
}

Task<wire::Result<TreeCheck>> check_tree(Call& call) {
  TreeCheck check;
  auto recursive = decode_flag(call, "recursive");
  if (!recursive) co_return recursive.error();
  auto paginated = decode_flag(call, "paginated");
  if (!paginated) co_return paginated.error();
  if (!*recursive || !needs_look(call)) co_return std::move(check);
  auto found = co_await blob::find_blob(call);
  if (!found) co_return found.error();
  const Blob& top = *found->blob;
  if (!top.is_directory()) co_return std::move(check);
  auto admitted = blob::admit(call, posix::Act::kDeleteTree, *found->place.way(), &top);
  if (!admitted) co_return admitted.error();
  check.directory = top.node_id;
  auto start = read_place(call, top.node_id);
  if (!start) co_return start.error();
  const Asker asker{blob::held_identity(call.caller), blob::asks_paths(call)};
  const bool in_pages = *paginated && call.version >= wire::kPaginatedDeletes;
  for (size_t seen = 0;;) {
    auto portion =
        co_await load_portion(call, found->place.space(), top.node_id, *start, kLookedAtOnce);
    if (!portion) co_return portion.error();
    if (!may_take(asker, *portion, top)) co_return blob::not_admitted();
    if (portion->next.empty()) co_return std::move(check);
    *start = std::move(portion->next);
    seen += portion->heads.size();
    const bool late = call.deadline.over();
    if (in_pages && (late || seen >= kMostChecked)) {
      check.next = write_place(call, top.node_id, *start);
      co_return std::move(check);
    }
    if (late) co_return wire::Error(Code::kOperationTimedOut);
  }
}

}  // namespace kyanite::datalake
