// Copies a data directory, of a running server or a stopped one, as it is at one instant.
//
// The files of a backup are in one folder of a directory or container, each with the number of the
// backup that copied it; the list of those that make up the last one (BACKUP) is replaced when all
// of them are on the disk. So the former backup is whole until the next one is. Extents that are
// finished and tables are copied once: they never change. docs/decisions/check-and-backup.md.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/result.h"
#include "upkeep/backup_place.h"
#include "upkeep/pinned.h"

namespace kyanite::upkeep {

struct BackupCounts {
  uint64_t files = 0;
  uint64_t bytes = 0;         // in the backup
  uint64_t copied_files = 0;  // by this one
  uint64_t copied_bytes = 0;
};

struct BackupOptions {
  uint64_t bytes_per_second = 0;  // 0: as fast as it goes
  std::function<void(const BackupCounts&)> progress;
};

// The error is a sentence.
Result<BackupCounts, std::string> back_up(const Pinned& pinned, BackupPlace& place,
                                          const BackupOptions& options);

// Makes a data directory of a backup, in a directory that is empty or does not exist.
Result<BackupCounts, std::string> restore(BackupPlace& backup, const std::string& directory,
                                          const BackupOptions& options);

// Holds the files of a backup against their checksums, and says what is wrong.
Result<BackupCounts, std::string> check_backup(BackupPlace& backup,
                                               const std::function<void(std::string)>& damage,
                                               const BackupOptions& options);

}  // namespace kyanite::upkeep
