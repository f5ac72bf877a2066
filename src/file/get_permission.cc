// Get Permission: GET /{share}?restype=share&comp=filepermission
#include "file/handlers.h"
#include "file/permissions.h"
#include "file/share.h"
#include "wire/json.h"

namespace kyanite::file {

Outcome get_permission(service::Call& call) {
  constexpr std::string_view kKey = "x-ms-file-permission-key";
  const auto key = call.headers().find(kKey);
  if (!key) co_return wire::missing_header(kKey);
  auto format = decode_permission_format(call);
  if (!format) co_return format.error();
  auto share = co_await load_share(call);
  if (!share) co_return share.error();
  auto sddl = co_await find_permission(call, (*share)->space, *key);
  if (!sddl) co_return sddl.error();
  auto shown = from_sddl(*sddl, *format);
  if (!shown) co_return shown.error();
  std::string body;
  wire::JsonWriter json(body);
  json.begin_object().member("permission", *shown);
  if (call.headers().find("x-ms-file-permission-format"))
    json.member("format", *format == PermissionFormat::kSddl ? "sddl" : "binary");
  json.end_object();
  http::Reply reply(200);  // The service names no type.
  reply.body = std::move(body);
  co_return reply;
}

}  // namespace kyanite::file
