// Put Page: PUT /{container}/{blob}?comp=page with x-ms-page-write: update or clear
#include "blob/handlers.h"
#include "blob/new_blob.h"
#include "blob/pages.h"

namespace kyanite::blob {

using service::Call;

Outcome put_page(Call& call) {
  auto range = decode_page_range(call);
  if (!range) co_return range.error();
  if (range->count > kMaxPageWrite) co_return wire::Error(wire::Code::kRequestBodyTooLarge);
  auto checks = decode_checks(call, kWrites);
  if (!checks) co_return checks.error();
  auto uploaded = co_await receive_upload(call, *checks, kMaxPageWrite);
  if (!uploaded) co_return uploaded.error();
  if (uploaded->length != range->count) {
    co_return wire::invalid_header("Content-Length", call.headers().get("Content-Length"));
  }
  co_return co_await write_pages(call, *checks, *range, &*uploaded);
}

Outcome clear_pages(Call& call) {
  auto range = decode_page_range(call);
  if (!range) co_return range.error();
  if (call.request.body->length().value_or(0) != 0) {
    co_return wire::invalid_header("Content-Length", call.headers().get("Content-Length"));
  }
  auto checks = decode_checks(call, kWrites);
  if (!checks) co_return checks.error();
  co_return co_await write_pages(call, *checks, *range, nullptr);
}

}  // namespace kyanite::blob
