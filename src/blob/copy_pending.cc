#include "blob/copy_pending.h"

#include "base/bytes.h"
#include "base/log.h"
#include "base/random.h"
#include "blob/copy_runner.h"
#include "blob/service.h"
#include "concurrency/etag.h"
#include "service/directory.h"

namespace kyanite::blob {

using service::Call;
using service::Context;
using wire::Code;

namespace {

// How often the progress of a copy is written down.
constexpr uint64_t kProgressBytes = 32 * 1024 * 1024;

store::Key note_key(std::string_view account, std::string_view copy_id) {
  return store::Key(service::directory_space(account), service::kPendingCopiesFamily, copy_id);
}

Task<store::Result<void>> write_note(store::Store& store, const std::string& account,
                                     const std::string& id, store::RecordPtr note) {
  store::Commit commit;
  commit.writes.push_back({note_key(account, id), std::move(note)});
  co_return co_await store.commit(std::move(commit));
}

// Changes the blob while it still waits for this copy; false when it no longer does.
// `edit(Blob&, store::Commit&)` may be called again after a conflict.
template <class Edit>
Task<store::Result<bool>> change_pending(Context& context, const PendingCopy& copy, Edit edit) {
  const store::Key key(copy.space, kHeads, copy.blob);
  auto turn = co_await context.locks.lock(key.bytes());
  for (int tries = 0; tries < service::kMaxTries; ++tries) {
    auto record = co_await context.store.get(key);
    if (!record) co_return record.error();
    if (*record == nullptr) co_return false;
    auto blob = store::decode<Blob>((*record)->value);
    if (!blob) co_return store::Error::kCorrupt;
    if (blob->copy.id != copy.id || blob->copy.status != CopyStatus::kPending) co_return false;
    store::Commit commit;
    commit.guards.push_back({key, *record});
    edit(*blob, commit);
    commit.writes.push_back({key, service::to_record(*blob)});
    auto done = co_await context.store.commit(std::move(commit));
    if (done) co_return true;
    if (done.error() != store::Error::kConflict) co_return done.error();
  }
  co_return store::Error::kConflict;
}

void end_copy(const Context& context, CopyStatus status, Blob& blob) {
  const Time now = context.clock.now();
  blob.copy.status = status;
  blob.copy.completed = now;
  blob.changed = concurrency::next_modified(now, blob.changed);
  concurrency::on_write(blob.lease, now);
}

Task<store::Result<bool>> fail_copy(Context& context, const PendingCopy& copy, std::string why) {
  co_return co_await change_pending(context, copy, [&](Blob& blob, store::Commit&) {
    end_copy(context, CopyStatus::kFailed, blob);
    blob.copy.status_description = why;
  });
}

// In the form in which the service describes failures: status, code, and a sentence.
std::string describe_failure(int status, std::string_view what) {
  std::string text;
  append_uint(text, static_cast<uint64_t>(status));
  return text.append(" CannotVerifyCopySource \"").append(what).append("\"");
}

Task<store::Result<bool>> complete_copy(Context& context, const PendingCopy& copy,
                                        const content::Pieces& pieces, uint64_t length) {
  co_return co_await change_pending(context, copy, [&](Blob& blob, store::Commit& commit) {
    blob.content = content::put(commit, {copy.space, copy.blob}, pieces);
    blob.copy.copied = blob.copy.total = length;
    end_copy(context, CopyStatus::kSuccess, blob);
  });
}

// Receives the source. The result tells whether the copy has come to an end, whichever.
Task<store::Result<bool>> fetch(Context& context, const PendingCopy& copy,
                                const std::atomic<bool>& stopping) {
  const auto url = http::parse_url(copy.url);
  if (!url || context.fetcher == nullptr) {
    auto failed = co_await fail_copy(
        context, copy, describe_failure(403, "This server does not copy from other servers."));
    if (!failed) co_return failed.error();
    co_return true;
  }
  http::Fetcher::Lines headers;
  if (!copy.etag.empty()) headers.emplace_back("If-Match", copy.etag);
  auto fetched = co_await context.fetcher->get(*url, std::move(headers), {});
  std::optional<std::string> failure;
  if (!fetched && fetched.error().kind == http::FetchError::kBusy) co_return false;
  if (!fetched) {
    failure = describe_failure(500, fetched.error().what);
  } else if ((*fetched)->status() != 200) {
    failure = describe_failure((*fetched)->status(), "The copy source cannot be read.");
  }
  content::Writer writer(context.store);
  uint64_t length = 0;
  uint64_t told = 0;
  while (!failure) {
    if (stopping) co_return false;
    auto chunk = co_await (*fetched)->next();
    if (!chunk && chunk.error().kind == http::FetchError::kBusy) co_return false;
    if (!chunk) failure = describe_failure(500, chunk.error().what);
    if (failure || chunk->empty()) break;
    length += chunk->size();
    auto added = co_await writer.add(std::move(*chunk));
    if (!added) co_return added.error();
    if (length - told < kProgressBytes) continue;
    told = length;
    auto waits = co_await change_pending(
        context, copy, [&](Blob& blob, store::Commit&) { blob.copy.copied = length; });
    if (!waits) co_return waits.error();
    if (!*waits) co_return true;
  }
  if (failure) {
    auto failed = co_await fail_copy(context, copy, std::move(*failure));
    if (!failed) co_return failed.error();
    co_return true;
  }
  auto pieces = co_await writer.finish();
  if (!pieces) co_return pieces.error();
  auto completed = co_await complete_copy(context, copy, *pieces, length);
  if (!completed) co_return completed.error();
  co_return true;
}

}  // namespace

Outcome start_pending_copy(Call& call, const Checks& checks, NewBlob fresh, const Source& source) {
  const http::Headers& told = source.fetched->headers();
  const auto type = told.get("x-ms-blob-type");
  if (!type.empty() && type != name(BlobType::kBlock)) {
    co_return wire::Error(Code::kInvalidSourceBlobType)
        .saying("From other servers only block blobs can be copied.");
  }
  fresh.http = service::foreign_properties(told);
  if (fresh.metadata.empty()) {
    if (auto metadata = service::decode_metadata(told)) fresh.metadata = std::move(*metadata);
  }
  PendingCopy note;
  note.id = random_uuid();
  note.url = call.headers().get("x-ms-copy-source");
  if (const auto etag = told.get("ETag"); etag.substr(0, 2) != "W/") note.etag = etag;
  note.blob = call.target.object;
  note.started = call.now;
  CopyRunner& runner = static_cast<const BlobService&>(*call.service).copy_runner();
  note.runner = runner.id();

  auto edit = [&](std::optional<Blob>& blob, store::SpaceId space,
                  store::Commit& commit) -> Outcome {
    if (auto allowed = check_overwrite(call, blob); !allowed) co_return allowed.error();
    if (blob && blob->type != BlobType::kBlock) co_return wire::Error(Code::kInvalidBlobType);
    if (auto dropped = co_await drop_blocks(call, space, commit); !dropped)
      co_return dropped.error();
    note.space = space;
    auto noted =
        co_await write_note(call.store(), call.target.account, note.id, service::to_record(note));
    if (!noted) co_return service::storage_error(noted.error());
    blob = make_blob(call, BlobType::kBlock, fresh, blob);
    blob->copy.id = note.id;
    blob->copy.source = source.url;
    blob->copy.status = CopyStatus::kPending;
    blob->copy.total = source.fetched->length().value_or(0);
    http::Reply reply(202);
    encode_state(reply, *blob);
    encode_copy_started(reply, blob->copy);
    co_return reply;
  };
  auto reply = co_await change_blob(call, checks, edit);
  if (reply) runner.submit(call.context, call.target.account, std::move(note));
  co_return reply;
}

Task<void> run_pending_copy(Context& context, const std::string& account, const PendingCopy& copy,
                            const std::atomic<bool>& stopping) {
  const store::Hold hold = context.store.hold();
  auto ended = co_await fetch(context, copy, stopping);
  if (ended && *ended) {
    auto removed = co_await write_note(context.store, account, copy.id, nullptr);
    if (removed) co_return;
    ended = removed.error();
  }
  if (!ended) log_warning(std::string("blob: a pending copy: ") + store::describe(ended.error()));
}

Task<store::Result<std::vector<PendingCopy>>> list_pending_copies(store::Store& store,
                                                                  const std::string& account) {
  std::vector<PendingCopy> copies;
  const auto directory = service::directory_space(account);
  auto listed = co_await store.read([&](const store::View& view) -> store::Result<void> {
    auto cursor = view.scan(store::Range::family(directory, service::kPendingCopiesFamily));
    for (; cursor->valid(); cursor->next()) {
      auto record = cursor->record();
      if (!record) return record.error();
      auto copy = store::decode<PendingCopy>((*record)->value);
      if (!copy) return store::Error::kCorrupt;
      copies.push_back(std::move(*copy));
    }
    return cursor->status();
  });
  if (!listed) co_return listed.error();
  co_return std::move(copies);
}

}  // namespace kyanite::blob
