// Put Range: PUT /{share}/{path}?comp=range with x-ms-write: update or clear
#include "file/handlers.h"
#include "file/ranges.h"

namespace kyanite::file {

using service::Call;
using wire::Code;

Outcome put_range(Call& call) {
  auto range = decode_write_range(call);
  if (!range) co_return range.error();
  if (range->count > kMaxRangeWrite) co_return wire::Error(Code::kRequestBodyTooLarge);
  // The reply always tells the MD5.
  auto uploaded = co_await transfer::receive_body(call, kMaxRangeWrite, transfer::Md5::kAlways);
  if (!uploaded) co_return uploaded.error();
  if (uploaded->length != range->count)
    co_return wire::invalid_header("Content-Length", call.headers().get("Content-Length"));
  co_return co_await write_range(call, *range, &*uploaded);
}

Outcome clear_range(Call& call) {
  auto range = decode_write_range(call);
  if (!range) co_return range.error();
  if (call.request.body->length().value_or(0) != 0)
    co_return wire::invalid_header("Content-Length", call.headers().get("Content-Length"));
  co_return co_await write_range(call, *range, nullptr);
}

}  // namespace kyanite::file
