// The last backups that were made of a data directory, known to the directory itself (its file
// BACKUPS): so that a backup goes on only from one that the directory has gone on from, and not
// from one of a future that was given up by restoring an earlier state.
#pragma once

#include <optional>
#include <string>

#include "os/file.h"

namespace kyanite::upkeep {

// The id of the last backup to this target.
std::optional<std::string> last_backup(const std::string& location, const std::string& target);
// Durable. Forgets targets that were not used for long.
os::Result<void> note_backup(const std::string& location, const std::string& target,
                             const std::string& id);

}  // namespace kyanite::upkeep
