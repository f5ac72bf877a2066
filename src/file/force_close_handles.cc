// Force Close Handles: PUT /{share}[/{path}]?comp=forceclosehandles
#include "base/bytes.h"
#include "file/handlers.h"
#include "file/handles.h"
#include "file/service.h"

namespace kyanite::file {

using service::Call;

Outcome force_close_handles(Call& call) {
  constexpr std::string_view kHandleId = "x-ms-handle-id";
  const auto text = call.headers().find(kHandleId);
  if (!text) co_return wire::missing_header(kHandleId);
  const bool all = *text == "*";
  const auto id = parse_uint(*text);
  if (!all && !id) co_return wire::invalid_header(kHandleId, *text);
  auto target = co_await find_handles_target(call);
  if (!target) co_return target.error();
  uint64_t closed = 0;
  if (!target->has_none()) {
    OpenFiles& table = open_files(call);
    closed = all ? table.force_close_all(target->key(), target->recursive)
                 : table.force_close(target->key(), target->recursive, *id);
  }
  http::Reply reply(200);
  reply.header("x-ms-number-of-handles-closed", closed);
  reply.header("x-ms-number-of-handles-failed", uint64_t{0});
  co_return reply;
}

}  // namespace kyanite::file
