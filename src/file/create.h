// Putting a new file or directory into a share, perhaps in the place of a file.
#pragma once

#include <optional>
#include <string>
#include <type_traits>

#include "file/entry.h"
#include "service/metadata.h"

namespace kyanite::file {

// What requests say of an entry to be created.
struct CreationOrder {
  service::Metadata metadata;
  SmbOrder smb;
};
wire::Result<CreationOrder> decode_creation(const service::Call& call);

// An entry that did not exist before.
Entry new_entry(const service::Call& call, const CreationOrder& order, std::string name,
                bool directory);

// The new entry in the place of a file: that file with other content and properties. Its id and its
// lease go on.
void take_place_of(const service::Call& call, const Entry& before, Entry& entry);

struct Creation {
  Entry entry;
  http::Reply reply;
};

// Refuses to replace `before`, if it must not be: a directory, a leased or read-only file, or one
// that the caller's SAS only lets create.
wire::Result<void> check_replaced(const service::Call& call,
                                  const std::optional<std::string>& lease_id, const Found* before,
                                  bool ignore_read_only = false);

// Read, decide, commit. `make(const Way&, const Found* before, TreeCommit&)` decides whether what
// is there can be replaced, and gives the new entry with the reply: a wire::Result<Creation> or a
// Task of it. It may be called again after a conflict.
template <class Make>
Outcome create_entry(service::Call& call, const Tree& tree, const Path& path, Make make) {
  service::Tries tries(call);
  while (tries.another()) {
    auto way = co_await follow(call, tree, path);
    if (!way) co_return way.error();
    const auto key = entry_key(tree.space(), way->parent(), way->folded);
    auto turn = co_await call.context.locks.lock(key.bytes());
    auto found = co_await find_entry(call, tree, *way);
    if (!found) co_return found.error();
    const Found* before = *found ? &**found : nullptr;
    // Into a directory that waits to be deleted nothing can be put; over a file that is open only
    // what its openers allow.
    const auto touched = file_key(tree, before != nullptr ? before->entry->id : way->parent());
    auto admission = co_await open_files(call).admit(
        touched, before != nullptr ? concurrency::FileOperation::kCreateFile
                                   : concurrency::FileOperation::kListFiles);
    if (!admission) co_return admission.error();
    TreeCommit commit(call.store(), tree.space(), call.deadline);
    if (auto begun = co_await commit.begin(); !begun)
      co_return service::storage_error(begun.error());
    commit.enter(*way);
    std::optional<wire::Result<Creation>> creation;
    if constexpr (std::is_same_v<decltype(make(*way, before, commit)),
                                 Task<wire::Result<Creation>>>) {
      creation.emplace(co_await make(*way, before, commit));
    } else {
      creation.emplace(make(*way, before, commit));
    }
    if (!*creation && creation->error().conflict) continue;
    if (!*creation) co_return creation->error();
    auto done = co_await commit.replace(*way, before, &(*creation)->entry);
    if (done) done = co_await commit.finish();
    if (done) co_return std::move((*creation)->reply);
    if (done.error() != store::Error::kConflict) co_return service::storage_error(done.error());
  }
  co_return tries.error();
}

}  // namespace kyanite::file
