// Copy File from another server: the file is there at once, as long as the source says it is, and
// is filled while the copy is pending.
#include "file/copy_pending.h"

#include "base/bytes.h"
#include "concurrency/etag.h"
#include "file/copy.h"
#include "file/permissions.h"
#include "file/ranges.h"
#include "file/service.h"
#include "headers/copy_state.h"
#include "headers/http_properties.h"
#include "store/fields.h"
#include "tree/admission.h"
#include "tree/tree_commit.h"

namespace kyanite::file {

using headers::CopyStatus;
using service::Call;
using service::Context;
using transfer::PendingCopy;
using wire::Code;

namespace {

// No request waits for the end of a pending copy; what comes of it is tried again later.
constexpr int64_t kMaxSecondsPerChange = 600;

// Who has the file open for reading gives up what it caches of it, and nobody gets to cache it
// until the change is made. kBusy: not now. kConflict: after a wait, so that all is to be read
// again.
Task<store::Result<tree::OpenFiles::Admission>> admit(store::Attempt& attempt, const Tree& tree,
                                                      tree::EntryId id, tree::Awaited& awaited) {
  const tree::FileKey file = tree.key(id);
  auto admitted =
      tree.open_files->admit(file, concurrency::FileOperation::kSetFileProperties, awaited);
  if (admitted) co_return std::move(*admitted);
  const auto why = co_await tree::not_admitted(attempt, tree, file, admitted.error());
  const bool again = why == tree::Error(store::Error::kConflict);
  co_return again ? store::Error::kConflict : store::Error::kBusy;
}

// Changes the file while it still waits for this copy; false when it no longer does.
// `edit(Entry&, store::Commit&) -> Task<store::Result<void>>` may be called again after a conflict.
// Without an open-file table nothing changes that others can see.
template <class Edit>
Task<store::Result<bool>> change_pending(Context& context, tree::OpenFiles* open_files,
                                         tree::Usage& usage, const PendingCopy& copy, Edit edit) {
  // The note has the row of the entry, which keeps its place while the copy is pending.
  tree::SeenEntry found;
  found.parent = read_be64(copy.object.data());
  found.folded = copy.object.substr(8);
  found.key = tree::entry_key(copy.space, found.parent, found.folded);
  store::Occasion occasion(context.store, context.locks, context.clock);
  occasion.deadline = Deadline(context.clock, kMaxSecondsPerChange);
  tree::OpenFiles::Admission admission;  // Until the change is durable.
  tree::Awaited awaited;
  auto decide = [&](store::Attempt& attempt) -> Task<store::Result<bool>> {
    admission = {};
    std::vector<store::Key> keys{found.key};
    if (auto turn = co_await attempt.wait_for(std::move(keys)); !turn) co_return turn.error();
    auto record = co_await context.store.get(found.key);
    if (!record) co_return record.error();
    if (*record == nullptr) co_return false;
    auto entry = store::decode<Entry>((*record)->value);
    if (!entry) co_return store::Error::kCorrupt;
    if (entry->copy.id != copy.id || entry->copy.status != CopyStatus::kPending) co_return false;
    if (open_files != nullptr) {
      const Tree tree{copy.space, {}, open_files};
      auto admitted = co_await admit(attempt, tree, entry->id, awaited);
      if (!admitted) co_return admitted.error();
      admission = std::move(*admitted);
    }
    found.record = *record;
    found.entry = std::make_shared<const Entry>(*entry);
    tree::TreeCommit commit(attempt, copy.space, &usage);
    auto done = co_await commit.begin();
    if (done) done = co_await edit(*entry, attempt.commit);
    if (done) {
      done = co_await commit.replace(found.parent, found.folded, &found, &*entry, &*entry);
    }
    if (!done) co_return done.error();
    co_return true;
  };
  co_return co_await store::transact(occasion, decide);
}

void end_copy(const Context& context, CopyStatus status, Entry& file) {
  const Time now = context.clock.now();
  // Clients that have read zeros see by it that the content is another. A time that was asked for
  // stays.
  if (file.smb.written == file.changed) file.smb.written = now;
  file.smb.changed = now;
  file.copy.status = status;
  file.copy.completed = now;
  file.changed = concurrency::next_modified(now, file.changed);
  concurrency::on_write(file.lease, now);
}

void end_failed(const Context& context, const std::string& why, Entry& file) {
  end_copy(context, CopyStatus::kFailed, file);
  // As long as its source only while something may still come.
  file.content = {};
  file.content.sparse = true;
  file.copy.status_description = why;
}

}  // namespace

Task<store::Result<bool>> PendingFiles::progress(Context& context, const PendingCopy& copy,
                                                 uint64_t copied) const {
  auto edit = [&](Entry& file, store::Commit&) -> Task<store::Result<void>> {
    file.copy.copied = copied;
    co_return store::Result<void>();
  };
  co_return co_await change_pending(context, nullptr, usage_, copy, edit);
}

Task<store::Result<bool>> PendingFiles::complete(Context& context, const PendingCopy& copy,
                                                 const content::Pieces& pieces,
                                                 uint64_t length) const {
  tree::Usage::Promise room;  // Until the change is durable.
  auto edit = [&](Entry& file, store::Commit& commit) -> Task<store::Result<void>> {
    // A source need not say before how long it is.
    const uint64_t before = file.content.length;
    room = {};
    room = tree::Usage::Promise(usage_, copy.space, length > before ? length - before : 0);
    if (length > kMaxFileBytes || !room.kept()) {
      end_failed(context, "The file does not fit into the share.", file);
      co_return store::Result<void>();
    }
    file.content = {};
    file.content.sparse = true;
    file.content.length = length;
    file.copy.copied = file.copy.total = length;
    end_copy(context, CopyStatus::kSuccess, file);
    if (length == 0) co_return store::Result<void>();
    const content::Place place{copy.space, kSharePartition};
    const Deadline deadline(context.clock, kMaxSecondsPerChange);
    co_return co_await content::overwrite(context.store, commit, place, file.content, 0, length,
                                          pieces, deadline);
  };
  co_return co_await change_pending(context, &open_files_, usage_, copy, edit);
}

Task<store::Result<bool>> PendingFiles::fail(Context& context, const PendingCopy& copy,
                                             const std::string& why) const {
  auto edit = [&](Entry& file, store::Commit&) -> Task<store::Result<void>> {
    end_failed(context, why, file);
    co_return store::Result<void>();
  };
  co_return co_await change_pending(context, &open_files_, usage_, copy, edit);
}

Outcome copy_foreign(Call& call, const CopyOrder& order, const Tree& tree, const Path& path,
                     const Source& source) {
  const uint64_t length = source.fetched->length().value_or(0);
  if (length > kMaxFileBytes) co_return wire::Error(Code::kOutOfRangeInput);
  auto permission = co_await settle_permission(call, tree.space, PermissionUse::kCreate);
  if (!permission) co_return permission.error();
  const http::Headers& told = source.fetched->headers();
  PendingCopy note = transfer::make_note(call, told);
  note.space = tree.space;
  auto& runner = file_service(call).copy_runner();
  tree::Creation replacement = order.replacement;
  replacement.pending = true;
  const Fill fill = [&](Entry& copy, const Way& way, store::Commit&) -> Task<wire::Result<void>> {
    begin_copy(call, order, copy);
    mark_for_archive(order, copy);
    note.object = tree::entry_row(way.parent(), way.folded);
    auto noted = co_await runner.note(call.store(), call.target.account, note);
    if (!noted) co_return service::storage_error(noted.error());
    copy.http = headers::foreign_properties(told);
    if (copy.metadata.empty()) {
      if (auto metadata = headers::decode_metadata(told)) copy.metadata = std::move(*metadata);
    }
    copy.smb.permission_key = *permission;
    copy.content.sparse = true;
    copy.content.length = length;
    copy.copy.id = note.id;
    copy.copy.source = source.url;
    copy.copy.status = CopyStatus::kPending;
    copy.copy.total = length;
    co_return wire::Result<void>();
  };
  auto created = co_await create_entry(call, tree, path, replacement, fill);
  if (!created) co_return created.error();
  runner.submit(call.context, call.target.account, std::move(note));
  co_return copy_reply(*created->entry);
}

}  // namespace kyanite::file
