#include "transfer/abort_copy.h"

#include "base/bytes.h"
#include "concurrency/guid.h"

namespace kyanite::transfer {

using wire::Code;

wire::Result<std::string> decode_abort(const service::Call& call) {
  constexpr std::string_view kAction = "x-ms-copy-action";
  const auto action = call.headers().find(kAction);
  if (!action) return wire::missing_header(kAction);
  if (!equals_ignoring_case(*action, "abort")) return wire::invalid_header(kAction, *action);
  const auto text = call.query.find("copyid");
  if (!text) {
    return wire::Error(Code::kMissingRequiredQueryParameter).with("QueryParameterName", "copyid");
  }
  auto id = concurrency::parse_guid(*text);
  if (!id) return wire::invalid_query("copyid", *text, "copyid needs to be valid Guid.");
  return std::move(*id);
}

wire::Result<void> abort(const service::Call& call, const std::string& id, headers::Copy& copy) {
  if (copy.status != headers::CopyStatus::kPending)
    return wire::Error(Code::kNoPendingCopyOperation);
  if (copy.id != id) return wire::Error(Code::kCopyIdMismatch);
  copy.status = headers::CopyStatus::kAborted;
  copy.completed = call.now;
  return {};
}

}  // namespace kyanite::transfer
