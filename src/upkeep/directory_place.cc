#include <algorithm>
#include <cerrno>

#include "os/directory.h"
#include "upkeep/backup_list.h"
#include "upkeep/backup_place.h"

namespace kyanite::upkeep {

namespace {

class DirectoryPlace final : public BackupPlace {
 public:
  explicit DirectoryPlace(std::string path) : path_(std::move(path)) {}

  std::string name() const override { return path_; }

  Result<bool, std::string> has_others() override {
    auto names = os::list_directory(path_);
    if (!names && names.error().code == ENOENT) return false;
    if (!names) return Failure{names.error().what};
    const bool others = std::any_of(names->begin(), names->end(), [](const std::string& name) {
      return name != kBackupName && name != "files" && name != "BACKUP.new" &&
             name != "lost+found" && name != "lock";
    });
    if (others) return true;
    // Many things have files.
    auto files = os::list_directory(path_ + "/files");
    if (!files && files.error().code == ENOENT) return false;
    if (!files) return Failure{files.error().what};
    return !std::all_of(files->begin(), files->end(),
                        [](const std::string& name) { return is_stored_name("files/" + name); });
  }

  Outcome lock() override {
    if (auto made = os::make_directories(path_ + "/files"); !made)
      return Failure{made.error().what};
    auto lock = os::File::open(path_ + "/lock", os::File::Mode::kCreateOrOpen);
    auto locked = lock ? (*lock)->try_lock() : Failure{lock.error()};
    if (!locked) return Failure{locked.error().what};
    if (!*locked) return Failure{std::string("another backup to it is under way")};
    lock_ = std::move(*lock);
    return {};
  }

  Result<std::optional<std::string>, std::string> read(const std::string& name) override {
    auto text = os::read_text(path_ + "/" + name);
    if (!text && text.error().code == ENOENT) return std::optional<std::string>();
    if (!text) return Failure{text.error().what};
    return std::optional(std::move(*text));
  }

  Result<std::map<std::string, uint64_t>, std::string> list() override {
    auto names = os::list_directory(path_ + "/files");
    if (!names) return Failure{names.error().what};
    std::map<std::string, uint64_t> found;
    for (const auto& name : *names) {
      if (!is_stored_name("files/" + name)) continue;
      const auto file = os::File::open(path_ + "/files/" + name, os::File::Mode::kRead);
      const auto status = file ? (*file)->status() : Failure{file.error()};
      if (!status) return Failure{status.error().what};
      found["files/" + name] = status->size;
    }
    return found;
  }

  Result<Copied, std::string> put(const std::string& from, const std::string& name,
                                  Pace& pace) override {
    auto to = PartWriter::open(path_ + "/" + name);
    if (!to) return Failure{to.error()};
    auto copied = read_parts(from, pace, [&](std::string_view part, uint64_t offset) {
      return to->write(part, offset);
    });
    if (!copied) return copied;
    if (auto finished = to->finish(copied->bytes); !finished) return Failure{finished.error()};
    return copied;
  }

  Result<Copied, std::string> get(const std::string& name, Pace& pace,
                                  const TakePart& take) override {
    return read_parts(path_ + "/" + name, pace, take);
  }

  Outcome remove(const std::string& name) override {
    if (auto removed = os::remove_file(path_ + "/" + name); !removed)
      return Failure{removed.error().what};
    return {};
  }

  // Under the lock nobody else has replaced it.
  Outcome replace_list(std::string_view text) override {
    auto done = os::sync_directory(path_ + "/files");
    if (done) done = os::write_text(path_, std::string(kBackupName), text);
    if (!done) return Failure{done.error().what};
    return {};
  }

 private:
  const std::string path_;
  std::shared_ptr<const os::File> lock_;
};

}  // namespace

std::unique_ptr<BackupPlace> directory_place(const std::string& path) {
  return std::make_unique<DirectoryPlace>(path);
}

Result<std::unique_ptr<BackupPlace>, std::string> BackupPlace::open(const std::string& where) {
  if (where.find("://") != std::string::npos) return container_place(where);
  return directory_place(where);
}

}  // namespace kyanite::upkeep
