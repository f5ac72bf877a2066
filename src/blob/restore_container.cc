// Restore Container: PUT /{container}?restype=container&comp=undelete
#include "blob/container.h"
#include "blob/handlers.h"
#include "concurrency/etag.h"
#include "lifetime/deleted.h"

namespace kyanite::blob {

using service::Call;
using wire::Code;

Outcome restore_container(Call& call) {
  if (auto none = headers::refuse_conditions(call); !none) co_return none.error();
  constexpr std::string_view kName = "x-ms-deleted-container-name";
  constexpr std::string_view kVersion = "x-ms-deleted-container-version";
  const auto name = call.headers().find(kName);
  if (!name || name->empty()) co_return wire::missing_header(kName);
  const auto version = call.headers().find(kVersion);
  if (!version || version->empty()) co_return wire::missing_header(kVersion);
  // A container comes back under the name it had.
  if (*name != call.target.container) co_return wire::invalid_header(kName, *name);
  auto edit = [&](Container& container) {
    return container.changed = concurrency::next_modified(call.now, container.changed);
  };
  auto restored = co_await lifetime::restore<Container>(
      call, lifetime::kContainerGraves, container_key(call), *version, Code::kContainerNotFound,
      Code::kContainerAlreadyExists, edit);
  if (!restored) co_return restored.error();
  co_return http::Reply(201);
}

}  // namespace kyanite::blob
