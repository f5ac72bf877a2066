// Undelete Blob: PUT /{container}/{blob}?comp=undelete
//
// Brings back the soft-deleted blob and all its soft-deleted snapshots. Doing so when nothing is
// deleted succeeds as well.
#include "blob/blob.h"
#include "blob/deleted_paths.h"
#include "blob/handlers.h"

namespace kyanite::blob {

using service::Call;
using wire::Code;

Outcome undelete_blob(Call& call) {
  if (auto base = require_base(call); !base) co_return base.error();
  if (auto none = headers::refuse_conditions(call); !none) co_return none.error();
  const auto container = co_await find_container(call);
  if (!container) co_return container.error();
  if ((*container)->hierarchical) co_return co_await undelete_path(call, **container);
  const Place place((*container)->space, call.target.object);
  auto decide = [&](store::Attempt& attempt) -> Task<wire::Result<void>> {
    bool any = false;
    const store::See see = [&](const store::View::Cursor& cursor) -> store::Result<bool> {
      auto record = cursor.record();
      if (!record) return record.error();
      auto blob = store::decode<Blob>((*record)->value);
      if (!blob) return store::Error::kCorrupt;
      // What was kept long enough is gone, even where it was not cleared away yet.
      if (blob->deleted.set() && blob->removal <= call.now) return true;
      any = true;
      if (!blob->deleted.set()) return true;
      const auto key = store::Key::from_bytes(std::string(cursor.key()));
      blob->deleted = {};
      blob->removal = {};
      attempt.commit.expect(key, *record);
      attempt.commit.put(key, service::to_record(*blob));
      return true;
    };
    auto looked = co_await store::scan(call.store(), former_rows(place), see, call.deadline);
    if (!looked) co_return service::storage_error(looked.error());
    if (!any) co_return wire::Error(Code::kBlobNotFound);
    co_return wire::Result<void>();
  };
  auto restored = co_await store::transact(call, head_key(place), decide);
  if (!restored) co_return restored.error();
  co_return http::Reply(200);
}

}  // namespace kyanite::blob
