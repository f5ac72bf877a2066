// Incremental Copy Blob: PUT /{container}/{blob}?comp=incrementalcopy with the snapshot of a page
// blob as x-ms-copy-source
//
// The copy takes the state of ever later snapshots of one page blob and keeps each as a snapshot of
// its own. As pieces are shared, only what changed takes space, as in the service.
#include "base/random.h"
#include "blob/copy_pending.h"
#include "blob/copy_source.h"
#include "blob/handlers.h"
#include "blob/new_blob.h"
#include "concurrency/etag.h"
#include "wire/date.h"

namespace kyanite::blob {

using service::Call;
using wire::Code;

namespace {

constexpr Rules kCopiesChanges{.use = concurrency::LeaseUse::kCopyDestination,
                               .operation = concurrency::Operation::kCreate,
                               .accepts = concurrency::kAcceptsAll,
                               .if_match_foreign = Code::kTargetConditionNotMet};

// The source's URL up to its query: the blob whose snapshots are copied.
std::string_view base_of(std::string_view url) { return url.substr(0, url.find('?')); }

// The instant of the snapshot that a copy's source URL names.
Time snapshot_of(std::string_view url) {
  const auto parsed = http::parse_url(url);
  const auto query = parsed ? wire::Query::parse(parsed->query) : std::nullopt;
  return query ? wire::parse_iso_date(query->get("snapshot")).value_or(Time()) : Time();
}

wire::Result<void> check_incremental(const Source& source) {
  if (!source.is_local()) return wire::Error(Code::kInvalidSourceBlobUrl);
  if (source.found.blob->type != BlobType::kPage) return wire::Error(Code::kInvalidSourceBlobType);
  if (!parse_row(source.found.row).snapshot.set())
    return wire::Error(Code::kIncrementalCopySourceMustBeSnapshot);
  return {};
}

// Whether the blob that is there can be brought up to the source.
wire::Result<void> check_former(const Blob& former, const Source& source) {
  if (!former.copy.incremental || base_of(former.copy.source) != base_of(source.url))
    return wire::Error(Code::kIncrementalCopyBlobMismatch);
  if (snapshot_of(source.url) <= snapshot_of(former.copy.source))
    return wire::Error(Code::kIncrementalCopyOfEarlierSnapshotNotAllowed);
  return {};
}

Blob make_copy(const Call& call, const Source& source, const std::optional<Blob>& former,
               Time snapshot) {
  const Blob& from = *source.found.blob;
  NewBlob fresh;
  fresh.http = from.http;
  fresh.metadata = from.metadata;
  Blob blob = make_blob(call, BlobType::kPage, fresh, former);
  if (former) blob.created = former->created;
  blob.sequence_number = from.sequence_number;
  blob.copy.id = random_uuid();
  blob.copy.source = source.url;
  blob.copy.status = CopyStatus::kSuccess;
  blob.copy.copied = blob.copy.total = from.content.length;
  blob.copy.completed = call.now;
  blob.copy.incremental = true;
  blob.copy.destination_snapshot = snapshot;
  blob.snapshot_taken = snapshot;
  return blob;
}

// The content of the source for the blob and once more for the snapshot of it, as pages of the blob
// itself may be written in place.
Task<store::Result<void>> share_twice(Call& call, const Source& source, Change& change,
                                      Blob& snapshot) {
  const store::Guard head = source.head();
  for (Blob* each : {&*change.blob, &snapshot}) {
    auto copied = co_await content::copy(call.store(), change.commit, source.place(),
                                         source.found.blob->content, change.place.content(), head,
                                         call.deadline);
    if (!copied) co_return copied.error();
    each->content = *copied;
  }
  co_return store::Result<void>();
}

// One attempt; `gone` tells that the source went while it was copied.
Outcome copy_snapshot(Call& call, const Checks& checks, const Source& source, bool& gone) {
  auto edit = [&](Change& change) -> Task<wire::Result<void>> {
    std::optional<Blob>& blob = change.blob;
    if (auto allowed = check_overwrite(call, blob, BlobType::kPage); !allowed)
      co_return allowed.error();
    if (blob) {
      if (auto possible = check_former(*blob, source); !possible) co_return possible.error();
    }
    const Time last = blob ? blob->snapshot_taken : Time();
    const auto instant = co_await free_instant(call, change.place, snapshot_row,
                                               concurrency::next_modified(call.now, last));
    if (!instant) co_return instant.error();
    blob = make_copy(call, source, blob, *instant);
    Blob snapshot = *blob;
    snapshot.lease = {};
    // The snapshot that is copied from never changes; it can only be gone.
    if (auto shared = co_await share_twice(call, source, change, snapshot); !shared) {
      gone = shared.error() == store::Error::kConflict;
      if (gone) co_return wire::Error(Code::kServerBusy);  // To be opened again, not here.
      co_return service::storage_error(shared.error());
    }
    put_former(change, snapshot_row(*instant), snapshot);
    co_return wire::Result<void>();
  };
  auto changed = co_await change_blob(call, checks, edit);
  if (!changed) co_return changed.error();
  http::Reply reply(202);
  encode_state(reply, *changed);
  headers::encode_copy_started(reply, changed->copy);
  co_return reply;
}

}  // namespace

Outcome incremental_copy_blob(Call& call) {
  auto checks = decode_checks(call, kCopiesChanges);
  if (!checks) co_return checks.error();
  auto destination = co_await check_destination(call, *checks);
  if (!destination) co_return destination.error();
  auto attempt = [&]() -> Outcome {
    auto source = co_await open_source(call, CopyFamily::kIncremental);
    if (!source) co_return source.error();
    if (auto possible = check_incremental(*source); !possible) co_return possible.error();
    if (destination->postponed) co_return *destination->postponed;
    bool gone = false;
    auto copied = co_await copy_snapshot(call, *checks, *source, gone);
    if (gone) co_return service::decide_again();
    co_return copied;
  };
  co_return co_await service::answer_whole(call, attempt);
}

}  // namespace kyanite::blob
