#include <algorithm>

#include "os/directory.h"
#include "upkeep/backup.h"
#include "upkeep/backup_list.h"
#include "upkeep/copy_file.h"

namespace kyanite::upkeep {

namespace {

using Outcome = Result<void, std::string>;

// In a directory that is being filled; it is not used before it is gone.
constexpr const char* kUnfinished = "RESTORING";

Result<BackupList, std::string> list_of(const std::string& backup) {
  auto list = read_backup_list(backup);
  if (!list) return Failure{"The backup in " + backup + " cannot be used: " + list.error() + "."};
  if (!*list) return Failure{"There is no backup in " + backup + ": it has no file BACKUP."};
  return std::move(**list);
}

// What is wrong with a copy.
std::optional<std::string> difference(const std::string& name, const BackupFile& file,
                                      const os::Result<Copied>& copied) {
  if (!copied) return copied.error().what;
  if (copied->bytes != file.bytes || copied->crc32c != file.crc32c)
    return "its copy of " + name + " is damaged";
  return std::nullopt;
}

class Restore {
 public:
  Restore(std::string backup, std::string directory, const BackupOptions& options)
      : backup_(std::move(backup)),
        directory_(std::move(directory)),
        options_(options),
        pace_(options.bytes_per_second) {}

  Result<BackupCounts, std::string> run() {
    auto list = list_of(backup_);
    if (!list) return Failure{list.error()};
    for (auto step : {&Restore::prepare, &Restore::copy_all, &Restore::finish}) {
      if (auto done = (this->*step)(*list); !done)
        return Failure{"The backup in " + backup_ + " was not restored to " + directory_ + ": " +
                       done.error() + "."};
    }
    return counts_;
  }

 private:
  Outcome prepare(const BackupList&) {
    if (auto made = os::make_directories(directory_); !made) return Failure{made.error().what};
    auto names = os::list_directory(directory_);
    if (!names) return Failure{names.error().what};
    std::erase(*names, "lost+found");
    const bool unfinished = std::find(names->begin(), names->end(), kUnfinished) != names->end();
    if (!names->empty() && !unfinished) return Failure{std::string("the directory is not empty")};
    if (!unfinished) {
      auto begun = os::write_text(directory_, kUnfinished, "");
      if (!begun) return Failure{begun.error().what};
    }
    for (const auto& name : *names) {
      if (name == kUnfinished) continue;
      auto removed = os::remove_tree(directory_ + "/" + name);
      if (!removed) return Failure{removed.error().what};
    }
    for (const std::string folder : {"/records", "/extents"}) {
      auto made = os::make_directories(directory_ + folder);
      if (!made) return Failure{made.error().what};
    }
    return {};
  }

  Outcome copy_all(const BackupList& list) {
    for (const auto& [name, file] : list.files) {
      // That it is a data directory is said last.
      if (name == "FORMAT") continue;
      if (auto copied = copy(name, file); !copied) return copied;
    }
    return {};
  }

  Outcome copy(const std::string& name, const BackupFile& file) {
    const auto copied =
        copy_file(backup_ + "/" + stored_name(name, file), directory_ + "/" + name, pace_);
    if (auto wrong = difference(name, file, copied)) return Failure{*wrong};
    ++counts_.files;
    ++counts_.copied_files;
    counts_.bytes += file.bytes;
    counts_.copied_bytes += file.bytes;
    options_.progress(counts_);
    return {};
  }

  Outcome finish(const BackupList& list) {
    const auto format = list.files.find("FORMAT");
    if (format == list.files.end()) return Failure{std::string("it has no file FORMAT")};
    for (const std::string folder : {"/records", "/extents", ""}) {
      auto synced = os::sync_directory(directory_ + folder);
      if (!synced) return Failure{synced.error().what};
    }
    if (auto copied = copy("FORMAT", format->second); !copied) return copied;
    auto lock = os::File::open(directory_ + "/lock", os::File::Mode::kCreateOrOpen);
    if (!lock) return Failure{lock.error().what};
    auto removed = os::remove_file(directory_ + "/" + kUnfinished);
    if (removed) removed = os::sync_directory(directory_);
    if (!removed) return Failure{removed.error().what};
    return {};
  }

  const std::string backup_;
  const std::string directory_;
  const BackupOptions& options_;
  Pace pace_;
  BackupCounts counts_;
};

}  // namespace

Result<BackupCounts, std::string> restore(const std::string& backup, const std::string& directory,
                                          const BackupOptions& options) {
  return Restore(backup, directory, options).run();
}

Result<BackupCounts, std::string> check_backup(const std::string& backup,
                                               const std::function<void(std::string)>& damage,
                                               const BackupOptions& options) {
  auto list = list_of(backup);
  if (!list) return Failure{list.error()};
  Pace pace(options.bytes_per_second);
  BackupCounts counts;
  for (const auto& [name, file] : list->files) {
    const auto summed = sum_file(backup + "/" + stored_name(name, file), pace);
    if (auto wrong = difference(name, file, summed)) damage(*wrong);
    ++counts.files;
    counts.bytes += file.bytes;
    options.progress(counts);
  }
  return counts;
}

}  // namespace kyanite::upkeep
