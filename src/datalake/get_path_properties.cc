// Path - Get Properties: HEAD /{filesystem}/{path}, with action=getStatus without user properties;
// with action=getAccessControl who may do what, with action=checkAccess whether the caller may.
#include "auth/posix_access.h"
#include "base/bytes.h"
#include "datalake/access.h"
#include "datalake/access_headers.h"
#include "datalake/handlers.h"
#include "datalake/path_reply.h"

namespace kyanite::datalake {

using service::Call;
using wire::Code;

Outcome get_path_properties(Call& call) {
  auto found = co_await blob::read_blob(call, concurrency::kAcceptsAll, blob::KeyUse::kVerifies);
  if (!found) co_return found.error();
  const bool status_only = equals_ignoring_case(call.query.get("action"), "getStatus");
  http::Reply reply(200);
  encode_path(reply, call, *found, !status_only);
  if (!found->blob->http.content_md5.empty())
    reply.header("Content-MD5", base64(found->blob->http.content_md5));
  reply.stream_length = found->blob->content.length;
  co_return reply;
}

Outcome get_access_control(Call& call) {
  auto found = co_await blob::read_blob(call, concurrency::kAcceptsAll);
  if (!found) co_return found.error();
  if (!found->blob->node) co_return no_access_control();
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
  auto found = co_await blob::read_blob(call, concurrency::kAcceptsAll);
  if (!found) co_return found.error();
  if (!found->blob->node) co_return no_access_control();
  if (!has_bits(call, *found->place.way(), *found->blob, *wanted))
    co_return wire::Error(Code::kAuthorizationPermissionMismatch);
  http::Reply reply(200);
  blob::encode_changed(reply, found->blob->changed);
  co_return reply;
}

}  // namespace kyanite::datalake
