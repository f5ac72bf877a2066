// Path - Get Properties: HEAD /{filesystem}/{path}, with action=getStatus without user properties;
// with action=getAccessControl who may do what, with action=checkAccess whether the caller may.
#include "auth/posix_access.h"
#include "base/bytes.h"
#include "datalake/access.h"
#include "datalake/access_headers.h"
#include "datalake/flat_tree.h"
#include "datalake/handlers.h"
#include "datalake/path_reply.h"

namespace kyanite::datalake {

using service::Call;
using wire::Code;

namespace {

// The root of a file system that has no directories.
FlatPath flat_root(const blob::Container& container) {
  FlatPath root;
  root.kind = FlatPath::Kind::kImplied;
  root.blob.emplace();
  root.blob->created = container.created;
  root.blob->changed = container.changed;
  root.blob->http.content_type = "application/octet-stream";
  root.blob->metadata = marked({});
  return root;
}

// A directory where there are none, of which there may be no blob.
Task<wire::Result<blob::FoundBlob>> find_flat_directory(Call& call) {
  const blob::Rules rules{.use = concurrency::LeaseUse::kShared,
                          .operation = headers::read_operation(call),
                          .accepts = concurrency::kAcceptsAll};
  auto checks = blob::decode_checks(call, rules);
  if (!checks) co_return checks.error();
  const auto container = co_await blob::find_container(call);
  if (!container) co_return container.error();
  const bool is_former = !call.target.snapshot.empty() || !call.target.version_id.empty();
  if ((*container)->hierarchical || is_former) co_return wire::Error(Code::kBlobNotFound);
  FlatPath path = flat_root(**container);
  if (!call.target.object.empty()) {
    auto found = co_await find_flat_path(call, (*container)->space, call.target.object);
    if (!found) co_return found.error();
    path = std::move(*found);
  }
  if (!path.is_directory()) co_return wire::Error(Code::kBlobNotFound);
  if (auto passed = blob::check_blob(call, *checks, path.blob); !passed) co_return passed.error();
  blob::FoundBlob found;
  found.blob = std::make_shared<const blob::Blob>(std::move(*path.blob));
  co_return std::move(found);
}

Task<wire::Result<blob::FoundBlob>> find_path(Call& call) {
  auto found = co_await blob::read_blob(call, concurrency::kAcceptsAll, blob::KeyUse::kVerifies);
  if (found || found.error().code != Code::kBlobNotFound) co_return std::move(found);
  auto directory = co_await find_flat_directory(call);
  if (!directory && directory.error().code == Code::kBlobNotFound) co_return std::move(found);
  co_return std::move(directory);
}

}  // namespace

Outcome get_path_properties(Call& call) {
  const bool status_only = equals_ignoring_case(call.query.get("action"), "getStatus");
  // Users say nothing of a root: what they have to say is of the file system.
  if (call.target.object.empty() && !status_only) co_return wire::Error(Code::kInvalidUri);
  auto found = co_await find_path(call);
  if (!found) co_return found.error();
  http::Reply reply(200);
  encode_path(reply, call, *found, !status_only);
  if (!found->blob->http.content_md5.empty())
    reply.header("Content-MD5", base64(found->blob->http.content_md5));
  reply.stream_length = found->blob->content.length;
  co_return reply;
}

Outcome get_access_control(Call& call) {
  if (auto has = co_await require_hierarchy(call); !has) co_return has.error();
  auto found = co_await blob::read_blob(call, concurrency::kAcceptsAll);
  if (!found) co_return found.error();
  const auto& control = found->blob->node->access;
  http::Reply reply(200);
  blob::encode_changed(reply, found->blob->changed);
  encode_access(reply, control);
  reply.header("x-ms-acl", auth::posix::print_acl(control));
  co_return reply;
}

Outcome check_access(Call& call) {
  constexpr std::string_view kAction = "fsAction";
  const auto text = call.query.find(kAction);
  if (!text)
    co_return wire::Error(Code::kMissingRequiredQueryParameter).with("QueryParameterName", kAction);
  const auto wanted = auth::posix::parse_bits(*text);
  if (!wanted) co_return wire::invalid_query(kAction, *text);
  if (auto has = co_await require_hierarchy(call); !has) co_return has.error();
  auto found = co_await blob::read_blob(call, concurrency::kAcceptsAll);
  if (!found) co_return found.error();
  if (!has_bits(call, *found->place.way(), *found->blob, *wanted))
    co_return wire::Error(Code::kAuthorizationPermissionMismatch);
  http::Reply reply(200);
  blob::encode_changed(reply, found->blob->changed);
  co_return reply;
}

}  // namespace kyanite::datalake
