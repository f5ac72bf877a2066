// Names in directories. A created, renamed or removed name is durable once sync_directory on its
// directory has returned.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "os/file.h"

namespace kyanite::os {

// From now on what this process makes is for its user alone.
void keep_private();

// Makes the directory and its missing parents; fine when it exists. Durable on return.
Result<void> make_directories(const std::string& path);
// Names in the directory without "." and "..", in no order.
Result<std::vector<std::string>> list_directory(const std::string& path);
Result<void> sync_directory(const std::string& path);
Result<void> rename_file(const std::string& from, const std::string& to);
Result<void> remove_file(const std::string& path);  // Fine when it does not exist.
// Another name for the file, on the same file system.
Result<void> link_file(const std::string& from, const std::string& to);
// The directory and all that is in it. Fine when it does not exist.
Result<void> remove_tree(const std::string& path);
// Bytes that an unprivileged process may still allocate on the file system of `path`.
Result<uint64_t> free_bytes(const std::string& path);

// The whole file, for small ones.
Result<std::string> read_text(const std::string& path);
// Replaces the file so that after a crash either the old or the new text is there, whole.
Result<void> write_text(const std::string& directory, const std::string& name,
                        std::string_view text);

// The same for what nobody but the owner may read: mode 0600 from the first byte on.
Result<void> write_secret(const std::string& directory, const std::string& name,
                          std::string_view text);

// Root's file in another user's directory becomes that user's; others leave it as it is.
Result<void> give_to_owner_of(const std::string& directory, const std::string& name);

}  // namespace kyanite::os
