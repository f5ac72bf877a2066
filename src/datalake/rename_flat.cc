#include "datalake/rename_flat.h"

#include <algorithm>
#include <utility>

#include "auth/authorize.h"
#include "base/bytes.h"
#include "blob/blocks.h"

namespace kyanite::datalake {

using blob::Blob;
using blob::Change;
using service::Call;
using wire::Code;

namespace {

wire::Error not_here(std::string_view what) {
  return wire::Error(Code::kNotImplemented)
      .saying(std::string(what) + " are renamed in accounts with hierarchical namespace only.");
}

bool is_folder(const Blob& blob) {
  return std::any_of(blob.metadata.begin(), blob.metadata.end(), [](const auto& pair) {
    return equals_ignoring_case(pair.first, blob::kFolderMark);
  });
}

Task<wire::Result<void>> check_movable(Call& from, const Change& leaving) {
  if (from.settings().blob_versioning) co_return not_here("Blobs with versions");
  if (is_folder(*leaving.blob)) co_return not_here("Directories");
  auto snapshots = co_await blob::list_snapshots(from, leaving.place);
  if (!snapshots) co_return snapshots.error();
  if (!snapshots->empty()) co_return wire::Error(Code::kSnapshotsPresent);
  co_return wire::Result<void>();
}

// The content lies in the partition of the name, so it is listed anew; its bytes stay.
Task<store::Result<void>> take_content(Call& call, const Change& leaving, Change& coming) {
  Blob& moved = *coming.blob;
  const Blob& before = *leaving.before;
  const store::Guard head = leaving.head();
  const content::Place from = leaving.place.content();
  const content::Place to = coming.place.content();
  auto copied = co_await content::copy(call.store(), coming.commit, from, before.content, to, head,
                                       call.deadline);
  if (!copied) co_return copied.error();
  moved.content = *copied;
  if (before.committed_blocks == 0) co_return store::Result<void>();
  auto list = co_await call.store().get(blob::block_list_key(from, before.content.id));
  if (!list) co_return list.error();
  if (*list == nullptr) co_return store::Error::kConflict;
  coming.commit.put(blob::block_list_key(to, moved.content.id), *list);
  co_return store::Result<void>();
}

}  // namespace

Task<wire::Result<Blob>> rename_flat(Call& call, const blob::Checks& checks, Call& from,
                                     const blob::Checks& source_checks,
                                     const std::optional<headers::Metadata>& properties,
                                     store::SpaceId space, store::Commit& commit) {
  if (call.target.object == from.target.object)
    co_return wire::Error(Code::kInvalidRenameSourcePath);
  Change leaving(blob::Place(space, from.target.object), commit);
  if (auto begun = co_await blob::begin_change(from, source_checks, leaving); !begun)
    co_return begun.error();
  if (auto movable = co_await check_movable(from, leaving); !movable) co_return movable.error();
  Change coming(blob::Place(space, call.target.object), commit);
  if (auto begun = co_await blob::begin_change(call, checks, coming); !begun)
    co_return begun.error();
  if (coming.blob && !auth::may_overwrite(call.caller))
    co_return wire::Error(Code::kUnauthorizedBlobOverwrite);
  auto dropped = co_await blob::drop_blocks(call, coming.place, commit);
  if (!dropped) co_return dropped.error();
  Blob moved = *leaving.blob;
  if (properties) moved.metadata = *properties;
  moved.lease = coming.blob ? coming.blob->lease : headers::StoredLease();
  moved.content_shared = false;
  moved.draft = 0;
  coming.blob = std::move(moved);
  if (auto taken = co_await take_content(call, leaving, coming); !taken)
    co_return service::storage_error(taken.error());
  leaving.blob.reset();
  blob::Checks replaces = checks;
  replaces.rules.keep = blob::Keep::kState;
  if (auto done = co_await blob::finish_change(call, replaces, coming); !done)
    co_return done.error();
  if (auto done = co_await blob::finish_change(from, source_checks, leaving); !done)
    co_return done.error();
  co_return std::move(*coming.blob);
}

}  // namespace kyanite::datalake
