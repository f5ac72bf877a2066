// Abort Copy File: PUT /{share}/{path}?comp=copy&copyid={id} with x-ms-copy-action: abort
#include "base/bytes.h"
#include "concurrency/guid.h"
#include "file/entry.h"
#include "file/handlers.h"

namespace kyanite::file {

using service::Call;
using wire::Code;

Outcome abort_copy_file(Call& call) {
  constexpr std::string_view kAction = "x-ms-copy-action";
  const auto action = call.headers().find(kAction);
  if (!action) co_return wire::missing_header(kAction);
  if (!equals_ignoring_case(*action, "abort")) co_return wire::invalid_header(kAction, *action);
  const auto text = call.query.find("copyid");
  if (!text) {
    co_return wire::Error(Code::kMissingRequiredQueryParameter)
        .with("QueryParameterName", "copyid");
  }
  const auto id = concurrency::parse_guid(*text);
  if (!id) co_return wire::invalid_query("copyid", *text);
  auto edit = [&](Entry& file, store::Commit&, const Located&) -> wire::Result<http::Reply> {
    if (file.copy.status != service::CopyStatus::kPending)
      return wire::Error(Code::kNoPendingCopyOperation);
    if (file.copy.id != *id) return wire::Error(Code::kCopyIdMismatch);
    // Whoever fetches the bytes finds the copy no longer pending and stops.
    file.copy.status = service::CopyStatus::kAborted;
    file.copy.completed = call.now;
    file.content.length = 0;
    touch(call, file);
    return http::Reply(204);
  };
  const Rules rules{Kind::kFile, concurrency::FileOperation::kSetFileProperties,
                    concurrency::LeaseUse::kCopyAbort, false};
  co_return co_await change_entry(call, rules, edit);
}

}  // namespace kyanite::file
