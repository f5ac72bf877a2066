// Reading and changing files and directories: what the operations on them share. Leases, the
// read-only attribute and what SMB clients have open are looked at here.
#pragma once

#include <optional>
#include <string>
#include <type_traits>

#include "base/task.h"
#include "concurrency/lease.h"
#include "concurrency/share_mode.h"
#include "file/handlers.h"
#include "file/service.h"
#include "file/smb_properties.h"
#include "file/tree.h"
#include "service/call.h"
#include "service/changed.h"
#include "wire/error.h"

namespace kyanite::file {

// How an operation meets what is there.
struct Rules {
  Kind kind = Kind::kFile;
  concurrency::FileOperation operation = concurrency::FileOperation::kSetFileProperties;
  // Nothing: the operation does not use the lease.
  std::optional<concurrency::LeaseUse> use = concurrency::LeaseUse::kExclusive;
  bool writes = true;  // Refused while a copy into the file is pending, and for read-only files,
  bool ignores_read_only = false;  // unless this is set.
};

// The lease and, for writes, the read-only attribute and a pending copy. `entry` is null where
// there is nothing.
wire::Result<void> check_entry(const service::Call& call, const Rules& rules,
                               const std::optional<std::string>& lease_id, const Entry* entry);

// For reads of a file: the lease id that was sent must be right, and no SMB client may have denied
// reading.
Task<wire::Result<Located>> read_file(service::Call& call, concurrency::FileOperation operation);
// A directory is never leased.
Task<wire::Result<Located>> read_directory(service::Call& call);

// A change happens now: new ETag, and an expired or broken lease forgets its holder.
void touch(const service::Call& call, Entry& entry);

// Read, decide, commit for one entry that exists. After the checks `edit(Entry&, store::Commit&,
// const Located&)` changes it, may add content to the commit, and returns the reply to give once
// all is durable: a wire::Result<http::Reply> or a Task of it. It may be called again after a
// conflict.
template <class Edit>
Outcome change_entry(service::Call& call, const Rules& rules, Edit edit) {
  auto path = decode_path(call);
  if (!path) co_return path.error();
  auto lease_id = service::decode_lease_id(call);
  if (!lease_id) co_return lease_id.error();
  auto tree = co_await find_live_tree(call);
  if (!tree) co_return tree.error();
  service::Tries tries(call);
  while (tries.another()) {
    auto way = co_await follow(call, *tree, *path);
    if (!way) co_return way.error();
    const auto key = entry_key(tree->space(), way->parent(), way->folded);
    auto turn = co_await call.context.locks.lock(key.bytes());
    auto found = co_await find_entry(call, *tree, *way);
    if (!found) co_return found.error();
    if (!*found || (*found)->entry->directory != (rules.kind == Kind::kDirectory))
      co_return wire::Error(wire::Code::kResourceNotFound);
    const Located located{*tree, std::move(*way), std::move(**found)};
    auto admission = co_await open_files(call).admit(located.key(), rules.operation);
    if (!admission) co_return admission.error();
    if (auto passed = check_entry(call, rules, *lease_id, located.found.entry.get()); !passed)
      co_return passed.error();
    TreeCommit commit(call.store(), tree->space(), call.deadline);
    if (auto begun = co_await commit.begin(); !begun)
      co_return service::storage_error(begun.error());
    Entry entry = *located.found.entry;
    std::optional<wire::Result<http::Reply>> reply;
    if constexpr (std::is_same_v<decltype(edit(entry, commit.commit(), located)), Outcome>) {
      reply.emplace(co_await edit(entry, commit.commit(), located));
    } else {
      reply.emplace(edit(entry, commit.commit(), located));
    }
    if (!*reply && reply->error().conflict) continue;
    if (!*reply) co_return std::move(*reply);
    auto done = co_await commit.replace(located.way, &located.found, &entry);
    if (done) done = co_await commit.finish();
    if (done) co_return std::move(*reply);
    if (done.error() != store::Error::kConflict) co_return service::storage_error(done.error());
  }
  co_return tries.error();
}

// The reply to operations that create or change an entry: its new state.
http::Reply changed_reply(const service::Call& call, int status, const Entry& entry,
                          EntryId parent);

// What Get File and Get File Properties tell of a file.
void encode_file(http::Reply& reply, const service::Call& call, const Located& located);

}  // namespace kyanite::file
