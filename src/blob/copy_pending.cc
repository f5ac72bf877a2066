#include "blob/copy_pending.h"

#include "blob/service.h"
#include "concurrency/etag.h"

namespace kyanite::blob {

using service::Call;
using service::Context;
using transfer::PendingCopy;
using wire::Code;

namespace {

// Changes the blob while it still waits for this copy; false when it no longer does.
// `edit(Blob&, store::Commit&)` may be called again after a conflict.
template <class Edit>
Task<store::Result<bool>> change_pending(Context& context, const PendingCopy& copy, Edit edit) {
  const store::Key key(copy.space, kHeads, copy.object);
  store::Occasion occasion(context.store, context.locks, context.clock);
  auto decide = [&](store::Attempt& attempt) -> Task<store::Result<bool>> {
    auto record = co_await context.store.get(key);
    if (!record) co_return record.error();
    if (*record == nullptr) co_return false;
    auto blob = store::decode<Blob>((*record)->value);
    if (!blob) co_return store::Error::kCorrupt;
    if (blob->copy.id != copy.id || blob->copy.status != CopyStatus::kPending) co_return false;
    attempt.commit.expect(key, *record);
    edit(*blob, attempt.commit);
    attempt.commit.put(key, service::to_record(*blob));
    co_return true;
  };
  co_return co_await store::transact(occasion, key, decide);
}

void end_copy(const Context& context, CopyStatus status, Blob& blob) {
  const Time now = context.clock.now();
  blob.copy.status = status;
  blob.copy.completed = now;
  blob.changed = concurrency::next_modified(now, blob.changed);
  concurrency::on_write(blob.lease, now);
}

}  // namespace

Task<store::Result<bool>> PendingBlobs::progress(Context& context, const PendingCopy& copy,
                                                 uint64_t copied) const {
  return change_pending(context, copy,
                        [copied](Blob& blob, store::Commit&) { blob.copy.copied = copied; });
}

Task<store::Result<bool>> PendingBlobs::complete(Context& context, const PendingCopy& copy,
                                                 const content::Pieces& pieces,
                                                 uint64_t length) const {
  co_return co_await change_pending(context, copy, [&](Blob& blob, store::Commit& commit) {
    const Place place(copy.space, copy.object, blob);
    blob.content = content::put(commit, place.content(), pieces);
    blob.copy.copied = blob.copy.total = length;
    end_copy(context, CopyStatus::kSuccess, blob);
  });
}

Task<store::Result<bool>> PendingBlobs::fail(Context& context, const PendingCopy& copy,
                                             const std::string& why) const {
  co_return co_await change_pending(context, copy, [&](Blob& blob, store::Commit&) {
    end_copy(context, CopyStatus::kFailed, blob);
    blob.copy.status_description = why;
  });
}

Outcome start_pending_copy(Call& call, const Checks& checks, NewBlob fresh, const Source& source) {
  const http::Headers& told = source.fetched->headers();
  const auto type = told.get("x-ms-blob-type");
  if (!type.empty() && type != name(BlobType::kBlock)) {
    co_return wire::Error(Code::kInvalidSourceBlobType)
        .saying("From other servers only block blobs can be copied.");
  }
  fresh.http = headers::foreign_properties(told);
  if (fresh.metadata.empty()) {
    if (auto metadata = headers::decode_metadata(told)) fresh.metadata = std::move(*metadata);
  }
  PendingCopy note = transfer::make_note(call, told);
  auto& runner = static_cast<const BlobService&>(*call.service).copy_runner();

  auto edit = [&](Change& change) -> Task<wire::Result<void>> {
    auto replaced = co_await replace_blob(call, change, BlobType::kBlock, fresh);
    if (!replaced) co_return replaced.error();
    note.space = change.place.space();
    note.object = change.place.named();
    auto noted = co_await runner.note(call.store(), call.target.account, note);
    if (!noted) co_return service::storage_error(noted.error());
    Copy& copy = change.blob->copy;
    copy.id = note.id;
    copy.source = source.url;
    copy.status = CopyStatus::kPending;
    copy.total = source.fetched->length().value_or(0);
    co_return wire::Result<void>();
  };
  auto changed = co_await change_blob(call, checks, edit);
  if (!changed) co_return changed.error();
  runner.submit(call.context, call.target.account, std::move(note));
  http::Reply reply(202);
  encode_state(reply, *changed);
  headers::encode_copy_started(reply, changed->copy);
  co_return reply;
}

}  // namespace kyanite::blob
