#include <optional>

#include "engine/new_location.h"
#include "os/directory.h"
#include "upkeep/backup.h"
#include "upkeep/backup_list.h"

namespace kyanite::upkeep {

namespace {

using Outcome = Result<void, std::string>;

Result<BackupList, std::string> list_of(BackupPlace& backup) {
  auto list = read_backup_list(backup);
  if (!list)
    return Failure{"The backup in " + backup.name() + " cannot be used: " + list.error() + "."};
  if (!*list) return Failure{"There is no backup in " + backup.name() + ": it has no file BACKUP."};
  return std::move(**list);
}

// What is wrong with a copy.
std::optional<std::string> difference(const std::string& name, const BackupFile& file,
                                      const Result<Copied, std::string>& copied) {
  if (!copied) return copied.error();
  if (copied->bytes != file.bytes || copied->crc32c != file.crc32c)
    return "its copy of " + name + " is damaged";
  return std::nullopt;
}

class Restore {
 public:
  Restore(BackupPlace& backup, std::string directory, const BackupOptions& options)
      : backup_(backup),
        directory_(std::move(directory)),
        options_(options),
        pace_(options.bytes_per_second) {}

  Result<BackupCounts, std::string> run() {
    auto list = list_of(backup_);
    if (!list) return Failure{list.error()};
    for (auto step : {&Restore::prepare, &Restore::copy_all, &Restore::finish}) {
      if (auto done = (this->*step)(*list); !done)
        return Failure{"The backup in " + backup_.name() + " was not restored to " + directory_ +
                       ": " + done.error() + "."};
    }
    return counts_;
  }

 private:
  Outcome prepare(const BackupList&) {
    auto begun = engine::NewLocation::begin(directory_, engine::kRestoring);
    if (!begun) return Failure{begun.error()};
    new_ = std::move(*begun);
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
    auto to = PartWriter::open(directory_ + "/" + name);
    if (!to) return Failure{to.error()};
    const auto copied = backup_.get(
        stored_name(name, file), pace_,
        [&](std::string_view part, uint64_t offset) { return to->write(part, offset); });
    if (auto wrong = difference(name, file, copied)) return Failure{*wrong};
    if (auto finished = to->finish(file.bytes); !finished) return finished;
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
    for (const std::string folder : {"/records", "/extents"}) {
      auto synced = os::sync_directory(directory_ + folder);
      if (!synced) return Failure{synced.error().what};
    }
    if (auto copied = copy("FORMAT", format->second); !copied) return copied;
    return new_->finish();
  }

  BackupPlace& backup_;
  const std::string directory_;
  const BackupOptions& options_;
  Pace pace_;
  std::optional<engine::NewLocation> new_;
  BackupCounts counts_;
};

}  // namespace

Result<BackupCounts, std::string> restore(BackupPlace& backup, const std::string& directory,
                                          const BackupOptions& options) {
  return Restore(backup, directory, options).run();
}

Result<BackupCounts, std::string> check_backup(BackupPlace& backup,
                                               const std::function<void(std::string)>& damage,
                                               const BackupOptions& options) {
  auto list = list_of(backup);
  if (!list) return Failure{list.error()};
  Pace pace(options.bytes_per_second);
  BackupCounts counts;
  for (const auto& [name, file] : list->files) {
    const auto summed = backup.get(stored_name(name, file), pace,
                                   [](std::string_view, uint64_t) { return Outcome(); });
    if (auto wrong = difference(name, file, summed)) damage(*wrong);
    ++counts.files;
    counts.bytes += file.bytes;
    options.progress(counts);
  }
  return counts;
}

}  // namespace kyanite::upkeep
