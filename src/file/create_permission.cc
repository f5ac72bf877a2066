// Create Permission: PUT /{share}?restype=share&comp=filepermission, {"permission": ..., "format":
// ...}
#include <simdjson.h>

#include "base/bytes.h"
#include "file/handlers.h"
#include "file/permissions.h"
#include "file/share.h"
#include "transfer/body.h"

namespace kyanite::file {

using service::Call;
using wire::Code;

namespace {

constexpr size_t kMaxBody = 64 * 1024;

// The SDDL text that the document asks to keep.
wire::Result<std::string> parse(const std::string& body) {
  const simdjson::padded_string document(body);
  simdjson::dom::parser parser;
  simdjson::dom::object object;
  std::string_view permission;
  if (parser.parse(document).get(object) != simdjson::SUCCESS ||
      object["permission"].get(permission) != simdjson::SUCCESS) {
    return wire::Error(Code::kInvalidInput);
  }
  if (permission.size() > kMaxPermission) return wire::Error(Code::kFileInvalidPermission);
  std::string_view format;
  if (object["format"].get(format) != simdjson::SUCCESS || equals_ignoring_case(format, "sddl"))
    return to_sddl(permission, PermissionFormat::kSddl);
  if (equals_ignoring_case(format, "binary")) return to_sddl(permission, PermissionFormat::kBinary);
  return wire::Error(Code::kInvalidInput);
}

}  // namespace

Outcome create_permission(Call& call) {
  if (auto meant = require_share(call); !meant) co_return meant.error();
  auto body = co_await transfer::read_body(call, kMaxBody);
  if (!body) co_return body.error();
  auto sddl = parse(*body);
  if (!sddl) co_return sddl.error();
  auto share = co_await load_share(call);
  if (!share) co_return share.error();
  auto key = co_await add_permission(call, (*share)->space, *sddl);
  if (!key) co_return key.error();
  http::Reply reply(201);
  reply.header("x-ms-file-permission-key", *key);
  co_return reply;
}

}  // namespace kyanite::file
