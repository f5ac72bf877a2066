// Reading and changing blobs: what every blob operation shares. An operation decodes its headers,
// then either read_blob()s or change_blob()s; leases and conditional headers are looked at here and
// nowhere else, and so is what becomes of the state that a change replaces (versions, soft delete,
// content that no head names any more).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "account/properties.h"
#include "base/task.h"
#include "blob/container.h"
#include "blob/customer_key.h"
#include "blob/heads.h"
#include "blob/hierarchy.h"
#include "blob/records.h"
#include "blob/tag_index.h"
#include "blob/uncommitted.h"
#include "concurrency/lease.h"
#include "concurrency/preconditions.h"
#include "content/content.h"
#include "headers/changed.h"
#include "headers/conditions.h"
#include "headers/range.h"
#include "service/call.h"
#include "service/storage.h"
#include "transfer/upload.h"
#include "wire/error.h"

namespace kyanite::blob {

using headers::ByteRange;
using headers::encode_changed;
using headers::Span;
using transfer::Md5;
using transfer::Uploaded;

// What is kept of the state that an operation changes.
enum class Keep {
  kNothing,  // Properties, leases, tiers, tags, pages: changed in place.
  kVersion,  // Where versioning is on, the former state becomes a version.
  kState,    // Likewise; else, where soft delete is on, it becomes a soft-deleted snapshot.
};

// How an operation meets leases, conditional headers and what was there before; one constant per
// class of operation.
struct Rules {
  concurrency::LeaseUse use;
  concurrency::Operation operation;
  concurrency::ConditionSet accepts;
  Keep keep = Keep::kNothing;
  bool changes_data = true;  // Refused while the blob is immutable.
  // What unmet conditions are called, and an If-Match of an ETag that no object has: copies have a
  // name of their own for them.
  wire::Code unmet = wire::Code::kConditionNotMet;
  wire::Code if_match_foreign = wire::Code::kConditionNotMet;
  KeyUse key = KeyUse::kIgnores;
  bool needs_online = false;  // Refused while the blob is in the archive.
  // Takes conditions under the names x-ms-blob-if-*: where the standard ones are about tags.
  bool own_conditions = false;
  // Directories are blobs to it: of those most operations know only properties, metadata and
  // leases.
  bool takes_directories = false;
  // Blocks that were never committed are a blob to it (uncommitted.h); to creation they always are,
  // as far as leases and dates go.
  bool sees_uncommitted = false;
};
inline constexpr Rules kCreates{.use = concurrency::LeaseUse::kExclusive,
                                .operation = concurrency::Operation::kCreate,
                                .accepts = concurrency::kAcceptsAll,
                                .keep = Keep::kState,
                                .key = KeyUse::kSets,
                                .needs_online = true};
inline constexpr Rules kChanges{concurrency::LeaseUse::kExclusive, concurrency::Operation::kUpdate,
                                concurrency::kAcceptsAll};
// Adds to the content.
inline constexpr Rules kWrites{.use = concurrency::LeaseUse::kExclusive,
                               .operation = concurrency::Operation::kUpdate,
                               .accepts = concurrency::kAcceptsAll,
                               .key = KeyUse::kNeeds,
                               .needs_online = true};

// The request's lease id, conditions and key, decoded: everything that can be refused without
// looking at the blob.
struct Checks {
  Rules rules;
  std::optional<std::string> lease_id;
  headers::Asked asked;
  std::optional<headers::Asked> own;  // By x-ms-blob-if-*.
  std::string if_tags;                // The expression of x-ms-if-tags.
  MaybeKey key;
};
wire::Result<Checks> decode_checks(const service::Call& call, const Rules& rules);

// Existence, lease, conditions, key, archive, immutability, in this order. kCreate operations pass
// when there is no blob, or only one that was never committed.
wire::Result<void> check_blob(const service::Call& call, const Checks& checks,
                              const std::optional<Blob>& blob);
wire::Result<void> check_uncommitted(const service::Call& call, const Checks& checks,
                                     const Uncommitted& uncommitted);

// Whether requests see the head: neither soft-deleted nor past its expiry.
bool is_visible(const Blob& blob, Time now);

// Where the addressed blob is, or would be; 404 when its container or, where there are directories,
// one on the way to it is missing and not made.
Task<wire::Result<Place>> find_place(service::Call& call, Parents parents = Parents::kNeeded);
// Likewise for one attempt at a change, which waits in line for the blob; `container` has
// directories.
Task<wire::Result<Place>> find_place(service::Call& call, const Container& container,
                                     Parents parents, store::Attempt& attempt);

// The error with which a decision ends that found `head` at this place: a conflict, so that it is
// made again, where that or the way there is no longer what was found. Without directories a
// decision stands on one blob alone.
Task<wire::Error> refused(service::Call& call, const Place& place, store::RecordPtr head,
                          wire::Error error);

struct FoundBlob {
  Place place;
  std::string row;  // of the head: of the blob itself, a snapshot or a version
  store::RecordPtr record;
  std::shared_ptr<const Blob> blob;
  MaybeKey key = {};  // The customer's key to its content, where it was asked for.
};
// The blob, snapshot or version that the request addresses; 404 when it or the container is
// missing.
Task<wire::Result<FoundBlob>> find_blob(service::Call& call);
// The same, with lease id and conditions checked by the rules of reads.
Task<wire::Result<FoundBlob>> read_blob(service::Call& call, concurrency::ConditionSet accepts,
                                        KeyUse key = KeyUse::kIgnores, bool own_conditions = false);

// Refuses operations that only the blob itself takes when the request names a snapshot or version.
wire::Result<void> require_base(const service::Call& call);

// A change happens now: new ETag, and an expired or broken lease forgets its holder. Changes in
// place (properties, pages, appended blocks) stay within the version.
void touch(const service::Call& call, Blob& blob);
// Likewise, for what makes a new version where versioning is on.
void touch_new_version(const service::Call& call, Blob& blob);

// ETag, Last-Modified and, when there is one, x-ms-version-id.
void encode_state(http::Reply& reply, const Blob& blob);

// The first instant from `first` on that no snapshot (or version) of the addressed blob is named
// by: where snapshot_row (or version_row) is free.
Task<wire::Result<Time>> free_instant(service::Call& call, const Place& place,
                                      std::string (*row)(Time), Time first);

// Whether blocks that wait to be committed concern an operation that found this blob.
inline bool looks_for_uncommitted(const Rules& rules, const std::optional<Blob>& blob) {
  return rules.operation == concurrency::Operation::kCreate || (rules.sees_uncommitted && !blob);
}

// Directories on the way are made by what creates a blob.
inline Parents parents_of(const Rules& rules) {
  return rules.operation == concurrency::Operation::kCreate ? Parents::kMade : Parents::kNeeded;
}

// One attempt at a change, between what was found and what is to be.
struct Change {
  Change(Place at, store::Commit& to) : place(std::move(at)), commit(to) {}

  Place place;                             // Where the blob is.
  store::Commit& commit;                   // Content may be added to it.
  store::RecordPtr found;                  // The head as it is stored; null: none.
  std::optional<Blob> before;              // The same decoded, visible or not.
  std::optional<Blob> blob;                // What requests see of it; edited.
  std::optional<Uncommitted> uncommitted;  // Where there is no blob but blocks that wait,
  bool is_uncommitted = false;             // and where they are the blob to this operation.
  Time deleted;  // Where there are directories: under what instant what is deleted is kept.

  // What the commit expects of the head: for reads of what it names.
  store::Guard head() const { return {head_key(place), found}; }
};
// What was found, which is a directory.
inline SeenDirectory seen_directory(const Change& change) {
  return {head_key(change.place), change.found, std::make_shared<const Blob>(*change.before)};
}
// Reads and checks what the request addresses.
Task<wire::Result<void>> begin_change(service::Call& call, const Checks& checks, Change& change);
// Adds to the commit what follows from the edit: what becomes of the former state, leases, the
// index of tags.
Task<wire::Result<void>> finish_change(service::Call& call, const Checks& checks, Change& change);

// The blob's snapshots that are not deleted yet.
Task<wire::Result<std::vector<Head>>> list_snapshots(service::Call& call, const Place& place);

// Adds a former state to the commit, which must not be in the place of another one.
void put_former(Change& change, std::string_view row, const Blob& blob);

// Adds to the commit what becomes of the blob as it was before, now that it is another or deleted.
// Writes the head itself.
Task<wire::Result<void>> settle(service::Call& call, Keep keep, Change& change);

// Read, decide, commit for one blob. What it gains of tags is indexed. After the checks
// `edit(Change&)` changes, creates or clears the blob, may add content to the commit, and returns a
// wire::Result<void> or a Task of one. It may be called again after a conflict. The result is the
// blob as it is stored now, for the reply; an empty one where it was cleared, with the instant of
// its deletion where there are directories and it is kept.
template <class Edit>
Task<wire::Result<Blob>> change_blob(service::Call& call, const Checks& checks, Edit edit) {
  if (auto base = require_base(call); !base) co_return base.error();
  const auto container = co_await find_container(call);
  if (!container) co_return container.error();
  const Place flat((*container)->space, call.target.object);
  std::optional<Change> change;
  auto decide = [&](store::Attempt& attempt) -> Task<wire::Result<void>> {
    if ((*container)->hierarchical) {
      auto place = co_await find_place(call, **container, parents_of(checks.rules), attempt);
      if (!place) co_return place.error();
      change.emplace(std::move(*place), attempt.commit);
    } else {
      change.emplace(flat, attempt.commit);
    }
    auto begun = co_await begin_change(call, checks, *change);
    if (!begun) co_return co_await refused(call, change->place, change->found, begun.error());
    auto edited = co_await service::decided(edit(*change));
    if (!edited) co_return co_await refused(call, change->place, change->found, edited.error());
    co_return co_await finish_change(call, checks, *change);
  };
  const store::Key key = head_key(flat);
  auto changing = (*container)->hierarchical ? store::transact(call, decide)
                                             : store::transact(call, key, decide);
  auto changed = co_await std::move(changing);
  if (!changed) co_return changed.error();
  if (change->blob) co_return std::move(*change->blob);
  Blob gone;
  gone.deleted = change->deleted;
  co_return std::move(gone);
}

// The headers that Get Blob and Get Blob Properties share.
void encode_properties(http::Reply& reply, const service::Call& call, const FoundBlob& found,
                       bool tells_lease = true);

}  // namespace kyanite::blob
