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
#include "headers/changed.h"
#include "service/call.h"
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
// const Located&)` changes it, may add content to the commit, and returns what came of it, a
// wire::Result or a Task of one. It may be called again after a conflict.
template <class Edit>
auto change_entry(service::Call& call, const Rules& rules, Edit edit)
    -> Task<service::Decided<decltype(edit(std::declval<Entry&>(), std::declval<store::Commit&>(),
                                           std::declval<const Located&>()))>> {
  using Decided = service::Decided<decltype(edit(
      std::declval<Entry&>(), std::declval<store::Commit&>(), std::declval<const Located&>()))>;
  auto path = decode_path(call);
  if (!path) co_return path.error();
  auto lease_id = headers::decode_lease_id(call);
  if (!lease_id) co_return lease_id.error();
  auto tree = co_await find_live_tree(call);
  if (!tree) co_return tree.error();
  OpenFiles::Admission admission;  // Until the change is durable.
  auto decide = [&](store::Attempt& attempt) -> Task<Decided> {
    admission = {};
    auto located = co_await locate_for_change(call, *tree, *path, rules.kind, attempt);
    if (!located) co_return located.error();
    auto admitted = co_await open_files(call).admit(located->key(), rules.operation);
    if (!admitted) co_return admitted.error();
    admission = std::move(*admitted);
    if (auto passed = check_entry(call, rules, *lease_id, located->found.entry.get()); !passed)
      co_return passed.error();
    TreeCommit commit(attempt, tree->space());
    if (auto begun = co_await commit.begin(); !begun)
      co_return service::storage_error(begun.error());
    Entry entry = *located->found.entry;
    Decided decided = co_await service::decided(edit(entry, attempt.commit, *located));
    if (!decided) co_return std::move(decided);
    auto replaced = co_await commit.replace(located->way, &located->found, &entry);
    if (!replaced) co_return service::storage_error(replaced.error());
    co_return std::move(decided);
  };
  co_return co_await store::transact(call, decide);
}

// The reply to operations that create or change an entry: its new state.
http::Reply changed_reply(const service::Call& call, int status, const Entry& entry,
                          EntryId parent);

// What Get File and Get File Properties tell of a file.
void encode_file(http::Reply& reply, const service::Call& call, const Located& located);

}  // namespace kyanite::file
