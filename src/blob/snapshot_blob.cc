// Snapshot Blob: PUT /{container}/{blob}?comp=snapshot
//
// The snapshot is one more head that names the same content. Pages are written in place, so the
// snapshot of a page blob gets a copy of the list of its pieces; bytes are never copied.
#include "blob/blob.h"
#include "blob/handlers.h"
#include "concurrency/etag.h"
#include "wire/date.h"

namespace kyanite::blob {

namespace {
constexpr Rules kSnapshots{.use = concurrency::LeaseUse::kShared,
                           .operation = concurrency::Operation::kUpdate,
                           .accepts = concurrency::kAcceptsAll,
                           .keep = Keep::kVersion,
                           .changes_data = false,
                           .key = KeyUse::kNeeds,
                           .needs_online = true};
}

Outcome snapshot_blob(service::Call& call) {
  // Where other operations refuse snapshots, this one does not know the parameter.
  if (!call.target.snapshot.empty())
    co_return wire::invalid_query("snapshot", call.target.snapshot);
  auto metadata = headers::decode_metadata(call.headers());
  if (!metadata) co_return metadata.error();
  auto checks = decode_checks(call, kSnapshots);
  if (!checks) co_return checks.error();
  Time snapshot_changed;
  auto edit = [&](Change& change) -> Task<wire::Result<void>> {
    Blob& blob = *change.blob;
    if (blob.copy.status == CopyStatus::kPending)
      co_return wire::Error(wire::Code::kPendingCopyOperation);
    // Two snapshots of one blob never share an instant, and later ones have later instants.
    const auto instant =
        co_await free_instant(call, change.place, snapshot_row,
                              concurrency::next_modified(call.now, blob.snapshot_taken));
    if (!instant) co_return instant.error();
    blob.snapshot_taken = *instant;
    Blob snapshot = blob;
    snapshot.lease = {};
    if (!metadata->empty()) {
      snapshot.metadata = *metadata;
      snapshot.changed = concurrency::next_modified(call.now, blob.changed);
    }
    snapshot_changed = snapshot.changed;
    if (blob.type == BlobType::kPage) {
      const store::Guard head = change.head();
      const content::Place place = change.place.content();
      auto copied = co_await content::copy(call.store(), change.commit, place, blob.content, place,
                                           head, call.deadline);
      if (!copied) co_return service::storage_error(copied.error());
      snapshot.content = *copied;
    } else {
      snapshot.content_shared = true;
      blob.content_shared = true;
    }
    put_former(change, snapshot_row(*instant), snapshot);
    // Where versioning is on, what was current until now becomes a version as well.
    if (call.settings().blob_versioning) {
      const Time version = blob.version.set() ? blob.version : blob.changed;
      blob.version = concurrency::next_modified(call.now, version);
    }
    co_return wire::Result<void>();
  };
  auto changed = co_await change_blob(call, *checks, edit);
  if (!changed) co_return changed.error();
  http::Reply reply(201);
  encode_changed(reply, snapshot_changed);
  if (changed->version.set()) reply.header("x-ms-version-id", wire::iso_date(changed->version));
  reply.header("x-ms-snapshot", wire::iso_date(changed->snapshot_taken));
  // Where there are directories the service was recorded to say so of every snapshot.
  const bool encrypted = !metadata->empty() || changed->node;
  reply.header("x-ms-request-server-encrypted", encrypted ? "true" : "false");
  co_return reply;
}

}  // namespace kyanite::blob
