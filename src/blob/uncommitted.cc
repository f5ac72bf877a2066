#include "blob/uncommitted.h"

#include <algorithm>
#include <utility>

#include "blob/blocks.h"
#include "service/storage.h"

namespace kyanite::blob {

using service::Call;

namespace {
// 1601-01-01: when Windows begins to count time.
constexpr Time kLastModified{504'911'232'000'000'000};
}  // namespace

Blob Uncommitted::as_blob() const {
  Blob blob;
  blob.created = blob.changed = kLastModified;
  blob.lease = lease;
  return blob;
}

Task<wire::Result<bool>> has_blocks(Call& call, const Place& place) {
  bool any = false;
  const store::Look look = [&](const store::View& view) -> store::Result<void> {
    auto cursor = view.scan(block_rows(place));
    if (cursor->valid() && is_blocks_mark(cursor->key())) cursor->next();
    any = cursor->valid();
    return cursor->status();
  };
  auto looked = co_await call.store().look(look);
  if (!looked) co_return service::storage_error(looked.error());
  co_return any;
}

Task<wire::Result<std::optional<Uncommitted>>> find_uncommitted(Call& call, const Place& place,
                                                                store::Commit& commit) {
  auto key = block_key(place, kBlocksMark);
  auto mark = co_await service::load<BlocksMark>(call, key);
  if (!mark) co_return mark.error();
  commit.expect(std::move(key), mark->record);
  if (!mark->value) co_return std::optional<Uncommitted>();
  auto any = co_await has_blocks(call, place);
  if (!any) co_return any.error();
  if (!*any) co_return std::optional<Uncommitted>();
  co_return std::optional<Uncommitted>(
      Uncommitted{mark->value->id_bytes, std::move(mark->value->lease)});
}

Task<wire::Result<void>> settle_uncommitted(Call& call, const Place& place,
                                            const Uncommitted& before,
                                            const std::optional<Blob>& after,
                                            store::Commit& commit) {
  if (!after) co_return co_await drop_blocks(call, place, commit);
  const BlocksMark mark{before.id_bytes, after->lease};
  commit.writes.push_back({block_key(place, kBlocksMark), service::to_record(mark)});
  co_return wire::Result<void>();
}

Task<wire::Result<void>> drop_blocks(Call& call, const Place& place, store::Commit& commit) {
  // Most blobs never had blocks: then no scan is needed, nor a look at the mark again.
  const auto mark = block_key(place, kBlocksMark);
  const auto guard =
      std::find_if(commit.guards.begin(), commit.guards.end(),
                   [&](const auto& each) { return each.key.bytes() == mark.bytes(); });
  if (guard == commit.guards.end() || guard->expected == nullptr) co_return wire::Result<void>();
  const auto before = store::decode<BlocksMark>(guard->expected->value);
  if (!before) co_return service::storage_error(store::Error::kCorrupt);
  commit.put(mark, spent_mark(before->id_bytes));
  const store::See see = [&](const store::View::Cursor& cursor) -> store::Result<bool> {
    auto key = store::Key::from_bytes(std::string(cursor.key()));
    if (key.row() != kBlocksMark) commit.remove(std::move(key));
    return true;
  };
  auto listed = co_await store::scan(call.store(), block_rows(place), see, call.deadline);
  if (!listed) co_return service::storage_error(listed.error());
  co_return wire::Result<void>();
}

}  // namespace kyanite::blob
