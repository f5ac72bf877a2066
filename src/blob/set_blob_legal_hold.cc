// Set Blob Legal Hold: PUT /{container}/{blob}?comp=legalhold
#include "base/bytes.h"
#include "blob/change_head.h"
#include "blob/handlers.h"
#include "blob/immutability.h"

namespace kyanite::blob {

Outcome set_blob_legal_hold(service::Call& call) {
  constexpr std::string_view kHeader = "x-ms-legal-hold";
  const auto text = call.headers().find(kHeader);
  if (!text) co_return wire::missing_header(kHeader);
  const bool hold = equals_ignoring_case(*text, "true");
  if (!hold && !equals_ignoring_case(*text, "false"))
    co_return wire::invalid_header(kHeader, *text);
  if (auto offered = check_immutability_offered(call); !offered) co_return offered.error();
  auto checks = decode_checks(call, kPolicies);
  if (!checks) co_return checks.error();
  auto edit = [&](Blob& blob) -> wire::Result<void> {
    if (auto can = check_can_be_held(blob); hold && !can) return can.error();
    blob.legal_hold = hold;
    blob.legal_hold_ended = !hold;
    return {};
  };
  auto changed = co_await change_head(call, *checks, edit);
  if (!changed) co_return changed.error();
  http::Reply reply(200);
  reply.header(kHeader, changed->legal_hold ? "true" : "false");
  co_return reply;
}

}  // namespace kyanite::blob
