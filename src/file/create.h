// Putting a new file or directory into a share, perhaps in the place of a file.
#pragma once

#include <optional>
#include <string>
#include <type_traits>

#include "file/entry.h"
#include "headers/metadata.h"

namespace kyanite::file {

// What requests say of an entry to be created.
struct CreationOrder {
  headers::Metadata metadata;
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
  OpenFiles::Admission admission;  // Until the change is durable.
  auto decide = [&](store::Attempt& attempt) -> Outcome {
    admission = {};
    auto way = co_await follow(call, tree, path);
    if (!way) co_return way.error();
    std::vector<store::Key> keys{entry_key(tree.space(), way->parent(), way->folded)};
    if (auto turn = co_await attempt.wait_for(std::move(keys)); !turn)
      co_return service::storage_error(turn.error());
    auto found = co_await find_entry(call, tree, *way);
    if (!found) co_return found.error();
    const Found* before = *found ? &**found : nullptr;
    // Into a directory that waits to be deleted nothing can be put; over a file that is open only
    // what its openers allow.
    const auto touched = file_key(tree, before != nullptr ? before->entry->id : way->parent());
    auto admitted = co_await open_files(call).admit(
        touched, before != nullptr ? concurrency::FileOperation::kCreateFile
                                   : concurrency::FileOperation::kListFiles);
    if (!admitted) co_return admitted.error();
    admission = std::move(*admitted);
    TreeCommit commit(attempt, tree.space());
    if (auto begun = co_await commit.begin(); !begun)
      co_return service::storage_error(begun.error());
    commit.enter(*way);
    wire::Result<Creation> creation = co_await service::decided(make(*way, before, commit));
    if (!creation) co_return creation.error();
    auto replaced = co_await commit.replace(*way, before, &creation->entry);
    if (!replaced) co_return service::storage_error(replaced.error());
    co_return std::move(creation->reply);
  };
  co_return co_await store::transact(call, decide);
}

}  // namespace kyanite::file
