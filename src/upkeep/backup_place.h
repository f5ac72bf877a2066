// Where a backup lies: in a directory, or in a container of a server that speaks the Blob protocol.
// Files have the names that upkeep/backup_list.h gives them. Errors are clauses.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "upkeep/copy_file.h"

namespace kyanite::upkeep {

class BackupPlace {
 public:
  using Outcome = Result<void, std::string>;

  // By a path, or by the URL of a container that has a SAS. The error is a clause.
  static Result<std::unique_ptr<BackupPlace>, std::string> open(const std::string& where);
  virtual ~BackupPlace() = default;

  // For people, without credentials.
  virtual std::string name() const = 0;

  // Whether there is anything that is not part of a backup, finished or not.
  virtual Result<bool, std::string> has_others() = 0;
  // Keeps other backups out as long as this lasts. Makes the place where it can be made.
  virtual Outcome lock() = 0;

  // A file as it is at one instant, no longer than a list may be; nothing where there is none.
  virtual Result<std::optional<std::string>, std::string> read(const std::string& name) = 0;
  // All files of backups, and how long they are.
  virtual Result<std::map<std::string, uint64_t>, std::string> list() = 0;
  // A copy of a file. Durable when the list is replaced.
  virtual Result<Copied, std::string> put(const std::string& from, const std::string& name,
                                          Pace& pace) = 0;
  // Shows a file part by part, as upkeep/copy_file.h does.
  virtual Result<Copied, std::string> get(const std::string& name, Pace& pace,
                                          const TakePart& take) = 0;
  virtual Outcome remove(const std::string& name) = 0;
  // Replaces the list (BACKUP) that read() has found, or not; an error where it is another by now.
  virtual Outcome replace_list(std::string_view text) = 0;
};

// The two kinds.
std::unique_ptr<BackupPlace> directory_place(const std::string& path);
Result<std::unique_ptr<BackupPlace>, std::string> container_place(const std::string& url);

}  // namespace kyanite::upkeep
