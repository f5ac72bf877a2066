// What a backup consists of: the file BACKUP in its directory, which is replaced as a whole when
// all that it names is on the disk. docs/formats/backup.md.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "upkeep/backup_place.h"

namespace kyanite::upkeep {

struct BackupFile {
  uint64_t number = 0;  // of the backup that copied it: part of its name in the backup
  uint64_t bytes = 0;
  uint32_t crc32c = 0;  // as upkeep/copy_file.h counts it
  bool final = false;   // It never changes in the data directory, and need not be copied again.
};

struct BackupList {
  std::string target;                       // random: this directory of backups
  std::string id;                           // random: this backup
  uint64_t number = 0;                      // of this backup
  std::map<std::string, BackupFile> files;  // by name in the data directory: "records/CURRENT"
};

inline constexpr std::string_view kBackupName = "BACKUP";
// How long its text may be, which is some 15 million files.
inline constexpr size_t kMaxBackupListBytes = size_t{1} << 30;
// Where a file lies in the backup's directory.
std::string stored_name(const std::string& name, const BackupFile& file);
// Whether it can be such a name. What has another is not a backup's, and stays.
bool is_stored_name(std::string_view stored);

std::string text_of(const BackupList& list);
std::optional<BackupList> parse_backup_list(std::string_view text);

// Nothing when there is none. The error is a clause.
Result<std::optional<BackupList>, std::string> read_backup_list(BackupPlace& place);

}  // namespace kyanite::upkeep
